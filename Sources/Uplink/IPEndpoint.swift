import Glibc

/// A numeric IP address and port.
public struct IPEndpoint: Equatable, Sendable, CustomStringConvertible {
    private enum Address: Equatable, Sendable {
        /// In network order.
        case v4([UInt8])
        case v6([UInt8])
    }

    private let address: Address
    public let port: UInt16
    public let description: String

    /// `nil` unless `literal` is an IPv4 or IPv6 address; nothing is looked up.
    public init?(literal: String, port: UInt16) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, literal, &v4) == 1 {
            address = .v4(withUnsafeBytes(of: v4) { [UInt8]($0) })
            description = "\(literal):\(port)"
        } else if inet_pton(AF_INET6, literal, &v6) == 1 {
            address = .v6(withUnsafeBytes(of: v6) { [UInt8]($0) })
            description = "[\(literal)]:\(port)"
        } else {
            return nil
        }
        self.port = port
    }

    /// 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        switch address {
        case .v4(let bytes): bytes.first == 127
        case .v6(let bytes): bytes == [UInt8](repeating: 0, count: 15) + [1]
        }
    }

    var family: Int32 {
        switch address {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    func withSocketAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        switch address {
        case .v4(let bytes):
            var socket = sockaddr_in()
            socket.sin_family = sa_family_t(AF_INET)
            socket.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &socket.sin_addr) { $0.copyBytes(from: bytes) }
            return call(socket, body)
        case .v6(let bytes):
            var socket = sockaddr_in6()
            socket.sin6_family = sa_family_t(AF_INET6)
            socket.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &socket.sin6_addr) { $0.copyBytes(from: bytes) }
            return call(socket, body)
        }
    }

    private func call<Socket>(_ socket: Socket, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: socket) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Socket>.size)) }
        }
    }
}

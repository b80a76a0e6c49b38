import EventLoop
import Glibc

/// A numeric IP address and port.
public struct IPEndpoint: Equatable {
    private enum Address: Equatable {
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

/// A TCP connection to a numeric address.
public final class TCPStream: ByteStream {
    public weak var delegate: (any ByteStreamDelegate)?

    private let loop: any EventLoop
    private let endpoint: IPEndpoint
    private var socket: FileDescriptor?
    private var watch: (any Cancellable)?
    private var isConnected = false

    public init(loop: any EventLoop, endpoint: IPEndpoint) {
        self.loop = loop
        self.endpoint = endpoint
    }

    deinit { close() }

    public var interest: IOInterest = [] {
        didSet { if interest != oldValue, isConnected { watchInterest() } }
    }

    public func open() {
        guard socket == nil else { return }
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let socket = FileDescriptor(owning: Glibc.socket(endpoint.family, Int32(type), 0))
        self.socket = socket
        guard socket.isOpen else { return failLater(.last("socket")) }
        var on: Int32 = 1
        setsockopt(socket.raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if endpoint.withSocketAddress({ connect(socket.raw, $0, $1) }) != 0, errno != EINPROGRESS {
            return failLater(.last("connect", subject: endpoint.description))
        }
        watch = loop.watch(socket.raw, .write) { [weak self] _ in self?.connected() }
    }

    private func connected() {
        watch?.cancel()
        watch = nil
        if let error = socket?.takeSocketError() {
            return fail(SystemError("connect", code: error.code, subject: endpoint.description))
        }
        isConnected = true
        watchInterest()
        delegate?.streamOpened()
    }

    private func failLater(_ error: SystemError) {
        loop.enqueue { [weak self] in self?.fail(error) }
    }

    private func fail(_ error: SystemError) {
        guard socket != nil else { return }
        close()
        delegate?.streamFailed(.failed(error.description))
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        guard let socket, isConnected else { return .wouldBlock }
        return StreamTransfer(socket.read(into: buffer))
    }

    public func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        guard let socket, isConnected else { return .wouldBlock }
        return StreamTransfer(socket.send(bytes))
    }

    public func finishWriting() {
        if let socket, isConnected { shutdown(socket.raw, Int32(SHUT_WR)) }
    }

    public func close() {
        watch?.cancel()
        watch = nil
        isConnected = false
        socket?.close()
        socket = nil
    }

    private func watchInterest() {
        watch?.cancel()
        watch = nil
        guard let socket, !interest.isEmpty else { return }
        watch = loop.watch(socket.raw, interest) { [weak self] in self?.delegate?.streamReady($0) }
    }
}

extension StreamTransfer {
    init(_ transfer: FileDescriptor.Transfer) {
        switch transfer {
        case .bytes(let count): self = .bytes(count)
        case .wouldBlock: self = .wouldBlock
        case .end: self = .end
        case .failed(let error): self = .failed(.failed(error.description))
        }
    }
}

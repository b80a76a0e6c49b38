import Basics
import EventLoop
import Glibc

/// Where a service of this machine listens: a TCP port of the loopback interface or a Unix socket. Nothing else can be
/// named, so nothing that goes there leaves the machine.
public struct LocalEndpoint: Equatable, Sendable, CustomStringConvertible {
    private enum Place: Equatable, Sendable {
        case tcp(IPEndpoint)
        case unix(path: String)
    }

    private let place: Place

    private init(_ place: Place) { self.place = place }

    /// Where Debian's tor takes connections.
    public static let torSOCKS = LocalEndpoint(.unix(path: "/run/tor/socks"))
    /// Where Debian's tor lets its state be read.
    public static let torControl = LocalEndpoint(.unix(path: "/run/tor/control"))

    /// - Parameter text: `127.0.0.1:9050`, `[::1]:9050`, `/run/tor/socks`, or this as tor writes it,
    ///   `unix:/run/tor/socks`.
    public init?(_ text: String) {
        let path = text.hasPrefix("unix:/") ? String(text.dropFirst("unix:".count)) : text
        if path.hasPrefix("/") {
            guard path.utf8.count <= UnixSocket.longestPath, !path.utf8.contains(0) else { return nil }
            place = .unix(path: path)
            return
        }
        guard let endpoint = IPEndpoint(loopback: text) else { return nil }
        place = .tcp(endpoint)
    }

    public var description: String {
        switch place {
        case .tcp(let endpoint): endpoint.description
        case .unix(let path): path
        }
    }

    /// Connects and hangs up, to see whether somebody listens there.
    public func tryConnecting() throws(SystemError) {
        switch place {
        case .unix(let path):
            do throws(SystemError) {
                try UnixSocket.connect(.stream, to: path).close()
            } catch {
                // Somebody listens, and is busy.
                if error.code != EAGAIN { throw error }
            }
        case .tcp(let endpoint):
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let socket = FileDescriptor(owning: Glibc.socket(endpoint.family, type, 0))
            guard socket.isOpen else { throw .last("socket") }
            // On this machine a connection is taken or refused at once.
            guard endpoint.withSocketAddress({ connect(socket.raw, $0, $1) }) == 0 else {
                throw .last("connect", subject: endpoint.description)
            }
        }
    }

    /// A stream to it that is not opened yet.
    /// - Parameter timeout: for connecting, where that takes time.
    func makeStream(on loop: any EventLoop, timeout: Interval = .seconds(15)) -> any ByteStream {
        switch place {
        case .tcp(let endpoint): TCPStream(loop: loop, endpoint: endpoint, timeout: timeout)
        case .unix(let path): UnixStream(loop: loop, path: path)
        }
    }
}

extension IPEndpoint {
    /// - Parameter text: `127.0.0.1:9050` or `[::1]:9050`; `nil` for what is not on this machine.
    public init?(loopback text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        var host = text[..<colon]
        if host.hasPrefix("[") {
            guard host.hasSuffix("]") else { return nil }
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), port > 0 else {
            return nil
        }
        self.init(literal: String(host), port: port)
        guard isLoopback else { return nil }
    }
}

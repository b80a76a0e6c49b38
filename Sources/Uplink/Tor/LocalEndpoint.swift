import EventLoop

/// Where a service of this machine listens: a TCP port of the loopback interface or a Unix socket. Nothing else can be
/// named, so nothing that goes there leaves the machine.
public struct LocalEndpoint: Equatable, Sendable, CustomStringConvertible {
    private enum Place: Equatable, Sendable {
        case tcp(IPEndpoint)
        case unix(path: String)
    }

    private let place: Place
    public let description: String

    private init(_ place: Place, _ description: String) {
        self.place = place
        self.description = description
    }

    /// Where Debian's tor lets its state be read.
    public static let torControl = LocalEndpoint(.unix(path: "/run/tor/control"), "/run/tor/control")

    /// - Parameter text: `127.0.0.1:9050`, `[::1]:9050` or `/run/tor/socks`.
    public init?(_ text: String) {
        description = text
        if text.hasPrefix("/") {
            guard text.utf8.count <= UnixSocket.longestPath, !text.utf8.contains(0) else { return nil }
            place = .unix(path: text)
            return
        }
        guard let endpoint = IPEndpoint(loopback: text) else { return nil }
        place = .tcp(endpoint)
    }

    /// A stream to it that is not opened yet.
    func makeStream(on loop: any EventLoop) -> any ByteStream {
        switch place {
        case .tcp(let endpoint): TCPStream(loop: loop, endpoint: endpoint)
        case .unix(let path): UnixStream(loop: loop, path: path)
        }
    }
}

extension IPEndpoint {
    /// Where Debian's tor takes connections.
    public static let torSOCKS = IPEndpoint(loopbackPort: 9_050)

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

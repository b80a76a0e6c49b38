import EventLoop

/// Clear-text TCP to this machine, and nothing else: no name is ever resolved.
public final class LoopbackDialer: StreamDialer {
    private let loop: any EventLoop

    public init(loop: any EventLoop) { self.loop = loop }

    public func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream {
        guard !address.isSecure else {
            throw .unsupported("\(address.host): wss:// needs TLS, which is not built in")
        }
        guard !address.host.hasSuffix(".onion") else {
            throw .unsupported("\(address.host): onion services need a SOCKS5 proxy (Tor), which is not built in")
        }
        let literal = address.host == "localhost" ? "127.0.0.1" : address.host
        guard let endpoint = IPEndpoint(literal: literal, port: address.port) else {
            throw .unsupported("\(address.host): host names need a SOCKS5 proxy (Tor) to resolve them")
        }
        guard endpoint.isLoopback else {
            throw .unsupported("\(address.host): ws:// reaches this machine only; other hosts need wss:// and so TLS")
        }
        return TCPStream(loop: loop, endpoint: endpoint)
    }
}

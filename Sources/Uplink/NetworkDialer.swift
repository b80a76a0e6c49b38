import Basics
import EventLoop

/// How servers are reached: what the operator configured as `tor`. Fixed while the program runs.
public enum NetworkPolicy {
    /// `required`: through this SOCKS5 proxy, or not at all. Nothing else is dialled and no name is looked up.
    case proxied(LocalEndpoint)
    /// `off`: directly, with names looked up by this resolver. Every server sees this machine's address.
    case direct(any NameResolver)
}

/// Whether anything may be dialled now.
public enum NetworkReadiness: Equatable, Sendable {
    case open
    /// With the reason in words.
    case closed(String)
}

/// The one place that decides how bytes reach a server, at the moment of dialling (chapter 05 §15, §18.9).
///
/// The rules, in the order they are asked:
///
/// 1. While `readiness` says closed, nothing is dialled.
/// 2. `ws://` is for onion services, whose circuit encrypts, and for this machine; everything else has TLS.
/// 3. With a proxy, every stream goes through it. An address of this machine means nothing there and is refused, not
///    dialled directly: there are no exceptions. A policy with a proxy holds no resolver, and what connects directly is
///    made in the other branch.
/// 4. Without a proxy, onion services are refused before anybody could look their names up (RFC 7686).
public final class NetworkDialer: StreamDialer {
    public let policy: NetworkPolicy
    /// Asked at every dial. Says closed until it is set.
    public var readiness: () -> NetworkReadiness = { .closed("the network is not set up yet") }
    /// What became of each stream that went to the proxy.
    public var onProxyOutcome: (ProxyOutcome) -> Void = { _ in }

    private let loop: any EventLoop
    private let trust: TLSTrust
    private let time: () -> WallTime

    /// - Parameters:
    ///   - trust: whose certificates count.
    ///   - time: when they must be valid: the best time known, not necessarily the system's.
    public init(
        loop: any EventLoop, policy: NetworkPolicy, trust: TLSTrust, time: @escaping () -> WallTime
    ) {
        self.loop = loop
        self.policy = policy
        self.trust = trust
        self.time = time
    }

    public func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream {
        if case .closed(let reason) = readiness() { throw .routeUnavailable(reason) }
        let transport: any ByteStream
        switch policy {
        case .proxied(let proxy): transport = try proxied(address, proxy, isolation)
        case .direct(let resolver): transport = try direct(address, resolver)
        }
        guard address.isSecure else { return transport }
        return TLSStream(loop: loop, transport: transport, host: address.host, trust: trust, time: time)
    }

    // MARK: Through the proxy

    private func proxied(
        _ address: WebSocketAddress, _ proxy: LocalEndpoint, _ isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream {
        let isHere = address.host == "localhost" || IPEndpoint(literal: address.host, port: 0)?.isLoopback ?? false
        guard !isHere else {
            throw .unsupported("an address of this machine itself, which is not reached while Tor is required")
        }
        guard address.isSecure || HostName.isOnion(address.host) else {
            throw .unsupported("ws:// would go through Tor unencrypted to its end; only wss:// and .onion are dialled")
        }
        let stream = SOCKSStream(
            loop: loop, proxy: proxy.makeStream(on: loop, timeout: UplinkLimits.proxyTimeout), host: address.host,
            port: address.port, isolation: isolation)
        stream.onOutcome = { [weak self] in self?.onProxyOutcome($0) }
        return stream
    }

    // MARK: Directly

    private func direct(
        _ address: WebSocketAddress, _ resolver: any NameResolver
    ) throws(StreamFailure) -> any ByteStream {
        guard !HostName.isOnion(address.host) else {
            throw .unsupported("onion services are reached through Tor only, and Tor is off")
        }
        let literal = address.host == "localhost" ? "127.0.0.1" : address.host
        let endpoint = IPEndpoint(literal: literal, port: address.port)
        guard address.isSecure || endpoint?.isLoopback ?? false else {
            throw .unsupported("ws:// reaches this machine only; other hosts need wss://")
        }
        guard let endpoint else {
            return NamedStream(loop: loop, resolver: resolver, host: address.host, port: address.port)
        }
        return TCPStream(loop: loop, endpoint: endpoint, timeout: UplinkLimits.directTimeout)
    }
}

import Basics
import EventLoop
import Nostr
import Uplink

/// `bitgate relay check`: whether a relay can be used from here, over the route that is configured.
public enum RelayInquiry {
    /// Runs the loop until the question is answered, at most some three minutes.
    /// - Parameters:
    ///   - text: the relay's address; `wss://` may be left out.
    ///   - report: gets each step in words, for the terminal.
    /// - Returns: whether the relay can be used.
    /// - Throws: `.usage` for what is no relay's address, `.system` when the certificate store cannot be used.
    public static func run(
        _ text: String, _ configuration: Configuration, loop: LibeventLoop, report: @escaping (String) -> Void
    ) throws(StationFault) -> Bool {
        guard let relay = NostrRelayURL(text, defaultScheme: "wss"),
            let address = try? WebSocketAddress(parsing: relay.text)
        else { throw .usage("\(TerminalText.escape(text)) is not the address of a relay, such as wss://nos.lol") }
        let dialer = try dialer(configuration.network, loop: loop)
        switch dialer.policy {
        case .proxied(let proxy): report("\(relay.text) through Tor at \(proxy)")
        case .direct: report("\(relay.text) directly: it sees the address of this machine")
        }
        var isUsable = false
        let check = RelayCheck(
            loop: loop, address: address, dialer: dialer,
            isolation: IsolationKeys().isolation(.check, relay.text), report: report
        ) {
            isUsable = $0
            loop.stop()
        }
        withExtendedLifetime(check) { loop.run() }
        return isUsable
    }

    /// The operator asked, so nothing but the route itself says whether it is ready.
    private static func dialer(
        _ network: Configuration.Network, loop: LibeventLoop
    ) throws(StationFault) -> NetworkDialer {
        let trust: TLSTrust
        do {
            trust = try TLSTrust()
        } catch {
            throw .system("TLS: \(error)")
        }
        let policy: NetworkPolicy
        switch network.tor {
        case .required: policy = .proxied(network.socks)
        case .off: policy = .direct(SystemResolver(loop: loop))
        }
        let dialer = NetworkDialer(loop: loop, policy: policy, trust: trust, time: { loop.now.wall })
        dialer.readiness = { .open }
        return dialer
    }
}

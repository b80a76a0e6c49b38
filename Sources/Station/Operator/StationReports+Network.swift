import Basics
import Glibc
import Nostr
import Uplink

/// What the station tells of the way to the internet.
extension Station {
    var networkReport: StatusReport.Network {
        let now = now
        return StatusReport.Network(
            tor: configuration.network.tor == .off ? "off: relays see this box's address" : "required",
            relays: uplink.client.relays(at: now).map { relayReport($0, now) } + skippedRelays,
            directory: directoryReport(now), route: torRoute.map { StatusReport.Route($0.report) })
    }

    /// What the way through Tor needs of the operator.
    var networkAttention: [StatusReport.Attention] {
        guard !isStopping else { return [] }
        let confinement = TorAttention.confinement(configuration.network, hasInternet: TorAttention.hasInternetSockets)
        guard let report = torRoute?.report else { return [confinement].compactMap { $0 } }
        let socks = configuration.network.socks.description
        return [confinement, TorAttention.route(report, socks: socks), TorAttention.control(report)].compactMap { $0 }
    }

    /// Relays the operator named and the relay client leaves out, so that none goes missing without a word.
    private var skippedRelays: [StatusReport.Relay] {
        uplink.skippedRelays.map { relay, reason in
            StatusReport.Relay(
                url: relay.text, state: "skipped", lastEventSeconds: nil, lastAcceptedSeconds: nil, accepted: 0,
                refused: 0, pending: 0, subscriptions: 0, refusals: [], problem: reason)
        }
    }
}

/// What stands between the box and its relays, with the remedy.
enum TorAttention {
    /// Whether this process may make sockets of the internet at all, which the packaged service may not.
    static let hasInternetSockets: Bool = {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { return errno != EAFNOSUPPORT }
        close(raw)
        return true
    }()

    static func confinement(_ network: Configuration.Network, hasInternet: Bool) -> StatusReport.Attention? {
        let places = [network.socks.description] + (network.control.map { [$0.description] } ?? [])
        guard !hasInternet, network.tor == .off || places.contains(where: { !$0.hasPrefix("/") }) else { return nil }
        return StatusReport.Attention(
            code: "network_confined",
            message: "The service may not use the network, which "
                + (network.tor == .off ? "network.tor = \"off\"" : "tor on a port") + " needs.",
            remedy: "Copy /usr/share/doc/bitgate/examples/bitgated-network.conf to"
                + " /etc/systemd/system/bitgated.service.d/, then systemctl daemon-reload and restart bitgated; or"
                + " reach tor through its socket.")
    }

    static func route(_ report: TorReport, socks: String) -> StatusReport.Attention? {
        func item(_ code: String, _ message: String, _ remedy: String) -> StatusReport.Attention {
            StatusReport.Attention(code: code, message: message, remedy: remedy)
        }
        let waits = "what is to be sent waits, and nothing goes another way"
        let why = report.problem.map { ": " + $0 } ?? ""
        switch report.stage {
        case .waitingForTime, .starting, .ready: return nil
        case .unreachable:
            return item(
                "tor_unreachable", "Tor does not take connections at \(socks)\(why); \(waits).",
                "Start tor (systemctl start tor), or set network.socks to its SocksPort.")
        case .bootstrapping:
            let progress = report.bootstrap.map { "\($0.progress) %, \($0.summary)" } ?? "0 %"
            guard let bootstrap = report.bootstrap, bootstrap.isSerious else {
                return item(
                    "tor_bootstrapping", "Tor is connecting (\(progress))\(why); \(waits).",
                    "Wait: it takes seconds, on a slow line minutes.")
            }
            return item(
                "tor_bootstrap_trouble", "Tor cannot connect (\(progress))\(why); \(waits).",
                "See that this box has internet. Where Tor is blocked, give it bridges: docs/tor.md.")
        case .clockSkew:
            let skew = report.clockSkew ?? 0
            return item(
                "clock_skew",
                "Tor finds this box's clock \(OperatorText.span(Int(clamping: skew.magnitude))) "
                    + "\(skew < 0 ? "slow" : "fast") and cannot connect; \(waits).",
                "Set the clock (timedatectl); tor goes on by itself.")
        case .stalled:
            return item(
                "tor_stalled", "Nothing has moved on the way through Tor for long\(why); \(waits).",
                "See tor's log (journalctl -u tor@default) and this box's internet. Where Tor is blocked, give it "
                    + "bridges: docs/tor.md.")
        case .proving:
            return item(
                "tor_unproven", "No connection has come through Tor yet\(why); \(waits).",
                "Wait: it is tried again and again.")
        case .degraded:
            return item(
                "tor_degraded", "Connections through Tor do not come through any more\(why); \(waits).",
                "Wait: it is tried again and again. If it lasts, see this box's internet and tor's log.")
        }
    }

    static func control(_ report: TorReport) -> StatusReport.Attention? {
        guard case .lost(let fault) = report.control else { return nil }
        // Where tor itself is away, this says nothing new.
        if report.stage == .unreachable, case .absent = fault { return nil }
        return StatusReport.Attention(
            code: "tor_control",
            message:
                "Tor's state cannot be read: \(fault.message). Whether the way is open shows in connections alone.",
            remedy: fault.remedy)
    }
}

extension StatusReport.Route {
    init(_ report: TorReport) {
        self.init(
            state: report.stage.rawValue, access: report.access.rawValue, problem: report.problem,
            lastProofSeconds: report.sinceProof.map { Int($0.seconds) },
            retrySeconds: report.nextProbe.map { Int($0.seconds.rounded(.up)) },
            bootstrap: report.bootstrap.map {
                StatusReport.Bootstrap(
                    progress: $0.progress, tag: $0.tag, summary: $0.summary, warning: $0.warning, reason: $0.reason,
                    serious: $0.isSerious)
            },
            steps: report.steps.map {
                StatusReport.Step(
                    progress: $0.progress, tag: $0.tag, summary: $0.summary, milliseconds: Int($0.after.milliseconds))
            }, clockSkewSeconds: report.clockSkew, control: "none", controlProblem: nil, torVersion: report.version)
        switch report.control {
        case .none: break
        case .pending: control = "pending"
        case .connected: control = "connected"
        case .lost(let fault): (control, controlProblem) = (fault.code, fault.message)
        }
    }
}

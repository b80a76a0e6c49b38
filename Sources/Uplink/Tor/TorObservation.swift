/// How far tor has come since it was started (control-spec §4.1.10). Tor never takes 100 back.
public struct TorBootstrap: Equatable, Sendable {
    /// 0…100.
    public let progress: Int
    /// Tor's name of the step: `conn_done`.
    public let tag: String
    /// The step in words: "Connected to a relay".
    public let summary: String
    /// What is in the way, by tor's own account: "Connection refused".
    public let warning: String?
    /// Its kind: `CONNECTREFUSED`.
    public let reason: String?
    /// Whether tor itself thinks that somebody should know.
    public let isSerious: Bool

    public var isComplete: Bool { progress == 100 }

    public init(
        progress: Int, tag: String, summary: String, warning: String? = nil, reason: String? = nil,
        isSerious: Bool = false
    ) {
        self.progress = min(max(progress, 0), 100)
        self.tag = TorBootstrap.cut(tag)
        self.summary = TorBootstrap.cut(summary)
        self.warning = warning.map(TorBootstrap.cut)
        self.reason = reason.map(TorBootstrap.cut)
        self.isSerious = isSerious
    }

    /// From the words after `BOOTSTRAP`. The address of the host in trouble is left out: it may be a bridge.
    init?(_ keywords: TorKeywords) {
        guard keywords.words.contains("BOOTSTRAP"), let progress = keywords.integer("PROGRESS") else { return nil }
        self.init(
            progress: progress, tag: keywords["TAG"] ?? "", summary: keywords["SUMMARY"] ?? "",
            warning: keywords["WARNING"], reason: keywords["REASON"],
            isSerious: keywords["RECOMMENDATION"] == "warn" || keywords.words.contains("ERR"))
    }

    private static func cut(_ text: String) -> String {
        String(decoding: text.utf8.prefix(TorLimits.textBytes), as: UTF8.self)
    }
}

/// What the control port tells.
public enum TorObservation: Equatable, Sendable {
    /// It answers, and lets us read. Its version as it calls itself.
    case connected(version: String?)
    /// It does not, or not any more.
    case lost(TorControlFault)
    case bootstrap(TorBootstrap)
    /// Whether tor believes that it can build circuits. It goes on believing so when all relays are gone.
    case circuits(isEstablished: Bool)
    case network(isUp: Bool)
    /// The clock is off by this, negative when it is slow, by the account of somebody on the network.
    case clockSkew(seconds: Int)
    /// The clock was set; open circuits have no future.
    case clockJumped

    /// What an event or one line of an answer says; `nil` when it is nothing of these.
    init?(status text: String) {
        let keywords = TorKeywords(text)
        if let bootstrap = TorBootstrap(keywords) {
            self = .bootstrap(bootstrap)
            return
        }
        for word in keywords.words {
            switch word {
            case "CIRCUIT_ESTABLISHED": self = .circuits(isEstablished: true)
            case "CIRCUIT_NOT_ESTABLISHED": self = .circuits(isEstablished: false)
            case "CLOCK_JUMPED": self = .clockJumped
            case "CLOCK_SKEW":
                guard let seconds = keywords.integer("SKEW") else { return nil }
                self = .clockSkew(seconds: seconds)
            case "UP" where keywords.words.first == "NETWORK_LIVENESS": self = .network(isUp: true)
            case "DOWN" where keywords.words.first == "NETWORK_LIVENESS": self = .network(isUp: false)
            default: continue
            }
            return
        }
        return nil
    }
}

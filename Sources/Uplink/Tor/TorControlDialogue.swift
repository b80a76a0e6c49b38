import Basics

/// What is said on a control port: it authenticates, subscribes to status events and asks where tor stands. There is no
/// way to say anything else, so tor is never restarted or changed from here (docs/tor.md).
struct TorControlDialogue {
    private enum Command {
        case protocolInfo
        case challenge(nonce: [UInt8])
        case authenticate([UInt8])
        case subscribe
        case getStatus

        var text: String {
            switch self {
            case .protocolInfo: "PROTOCOLINFO 1"
            case .challenge(let nonce): "AUTHCHALLENGE SAFECOOKIE \(Hex.encode(nonce))"
            case .authenticate(let proof): proof.isEmpty ? "AUTHENTICATE" : "AUTHENTICATE \(Hex.encode(proof))"
            case .subscribe: "SETEVENTS STATUS_CLIENT STATUS_GENERAL NETWORK_LIVENESS"
            case .getStatus: "GETINFO status/bootstrap-phase status/circuit-established network-liveness"
            }
        }
    }

    /// The cookie's path by configuration; otherwise tor tells it.
    private let cookiePath: String?
    private let readCookie: (String) throws(TorControlFault) -> [UInt8]
    /// 32 fresh random bytes.
    private let nonce: [UInt8]
    private var parser = TorControlParser()
    /// The command whose answer is outstanding; one at a time.
    private var asked: Command?
    private var askedAt: Instant
    private var cookie: [UInt8] = []
    private var version: String?
    private var isReading = false

    /// Bytes to send.
    private(set) var output: [UInt8] = []
    /// What was learned, in order.
    private(set) var observations = Queue<TorObservation>()

    init(
        cookiePath: String?, nonce: [UInt8], at now: Instant,
        readCookie: @escaping (String) throws(TorControlFault) -> [UInt8]
    ) {
        self.cookiePath = cookiePath
        self.nonce = nonce
        self.readCookie = readCookie
        askedAt = now
        ask(.protocolInfo, at: now)
    }

    mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    mutating func takeObservation() -> TorObservation? { observations.popFirst() }

    /// Takes what was received.
    /// - Returns: false while there may be more replies in `bytes`, which then wait for another turn.
    mutating func receive(_ bytes: inout ArraySlice<UInt8>, at now: Instant) throws(TorControlFault) -> Bool {
        for _ in 0..<TorLimits.repliesPerTurn {
            let reply: TorReply?
            do throws(TorControlSyntax) {
                reply = try parser.next(&bytes)
            } catch {
                throw .malformed(error.rawValue)
            }
            guard let reply else { return true }
            if reply.isEvent {
                if let line = reply.lines.first { learn(line) }
            } else {
                try answered(reply, at: now)
            }
        }
        return bytes.isEmpty
    }

    /// When `timeout` is due.
    var nextDeadline: Instant {
        askedAt + (asked == nil ? TorLimits.heartbeat : TorLimits.answerTimeout)
    }

    mutating func timeout(at now: Instant) throws(TorControlFault) {
        guard now >= nextDeadline else { return }
        guard asked == nil else { throw .silent }
        ask(.getStatus, at: now)
    }

    private mutating func ask(_ command: Command, at now: Instant) {
        output += Array(command.text.utf8) + [0x0d, 0x0a]
        asked = command
        askedAt = now
    }

    private mutating func answered(_ reply: TorReply, at now: Instant) throws(TorControlFault) {
        guard let command = asked else { throw .malformed("an answer without a question") }
        asked = nil
        askedAt = now
        guard reply.isSuccess else { throw .refused(TorControlDialogue.text(of: reply)) }
        switch command {
        case .protocolInfo: try authenticate(reply, at: now)
        case .challenge: try respond(to: reply, at: now)
        case .authenticate: ask(.subscribe, at: now)
        case .subscribe: ask(.getStatus, at: now)
        case .getStatus:
            if !isReading { observations.append(.connected(version: version)) }
            isReading = true
            for line in reply.content { learnValue(line) }
        }
    }

    // MARK: Authentication (control-spec §3.21, §3.24)

    private mutating func authenticate(_ reply: TorReply, at now: Instant) throws(TorControlFault) {
        var methods: [String] = []
        var toldPath: String?
        for line in reply.content {
            let keywords = TorKeywords(line)
            switch keywords.words.first {
            case "AUTH":
                methods = (keywords["METHODS"] ?? "").split(separator: ",").map(String.init)
                toldPath = keywords["COOKIEFILE"]
            case "VERSION": version = keywords["Tor"].map { String($0.prefix(32)) }
            default: break
            }
        }
        if methods.contains("SAFECOOKIE") {
            guard let path = cookiePath ?? toldPath, path.hasPrefix("/") else { throw .cookieAbsent("the cookie") }
            cookie = try readCookie(path)
            ask(.challenge(nonce: nonce), at: now)
        } else if methods.contains("NULL") {
            ask(.authenticate([]), at: now)
        } else if methods.contains("COOKIE"), let cookiePath {
            // Said in clear, so only the operator's word counts for what it may be: a stranger's would make us read
            // any file to him.
            ask(.authenticate(try readCookie(cookiePath)), at: now)
        } else {
            throw .noMethod(methods.isEmpty ? "none" : methods.joined(separator: ", "))
        }
    }

    private mutating func respond(to reply: TorReply, at now: Instant) throws(TorControlFault) {
        let keywords = TorKeywords(reply.lines.first ?? "")
        guard let proof = keywords["SERVERHASH"].flatMap({ Hex.decode($0) }),
            let serverNonce = keywords["SERVERNONCE"].flatMap({ Hex.decode($0) }),
            serverNonce.count == TorLimits.cookieBytes
        else { throw .malformed("the answer to the challenge") }
        let exchange = TorSafeCookie(cookie: cookie, clientNonce: nonce, serverNonce: serverNonce)
        cookie = []
        guard exchange.accepts(proof) else { throw .refused("it does not know its own cookie") }
        ask(.authenticate(exchange.clientProof), at: now)
    }

    // MARK: Status

    private mutating func learn(_ line: String) {
        // Nothing counts before tor has proved itself.
        guard isReading, let observation = TorObservation(status: line) else { return }
        observations.append(observation)
    }

    private mutating func learnValue(_ line: String) {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let value = parts[1]
        switch parts[0] {
        case "status/bootstrap-phase":
            if let bootstrap = TorBootstrap(TorKeywords(value)) { observations.append(.bootstrap(bootstrap)) }
        case "status/circuit-established": observations.append(.circuits(isEstablished: value == "1"))
        case "network-liveness": observations.append(.network(isUp: value != "down"))
        default: break
        }
    }

    /// A refusal in tor's words, without the line breaks.
    private static func text(of reply: TorReply) -> String {
        let text = reply.lines[0].prefix { $0 != "\n" }
        return "\(reply.status) " + String(decoding: text.utf8.prefix(TorLimits.textBytes), as: UTF8.self)
    }
}

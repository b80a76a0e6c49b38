import Basics
import Crypto
import Messenger
import Wire

/// Private chat as a person types and reads it.
extension ChatPeer {
    /// Messages to one person that are not known to have arrived.
    public var undelivered: Int { chat.messenger.undelivered }

    func write(_ typed: String) {
        guard let (peer, text) = whom(typed) else { return }
        guard !text.isEmpty else { return show(.problem("use /msg NAME TEXT")) }
        attempt(peer) { (messenger, now) throws(MessengerRefusal) in try messenger.say(text, to: peer, at: now) }
    }

    func favor(_ typed: String, _ isFavorite: Bool) {
        guard let peer = whom(typed)?.peer else { return }
        let name = name(of: peer)
        let isDone = attempt(peer) { (messenger, now) throws(MessengerRefusal) in
            try messenger.setFavorite(isFavorite, peer, at: now)
        }
        if isDone { show(.notice("\(name) is \(isFavorite ? "a favourite now" : "no favourite any more")")) }
    }

    func block(_ typed: String, _ isBlocked: Bool) {
        guard let peer = whom(typed)?.peer else { return }
        let name = name(of: peer)
        let isDone = attempt(peer) { (messenger, now) throws(MessengerRefusal) in
            try messenger.setBlocked(isBlocked, peer, at: now)
        }
        if isDone, isBlocked { switchboard.perform { switchboard.mesh.dropHistory(of: peer, at: $0) } }
        if isDone { show(.notice("\(name) is \(isBlocked ? "blocked" : "not blocked any more")")) }
    }

    func unverify(_ typed: String) {
        guard let peer = whom(typed)?.peer else { return }
        let isDone = attempt(peer) { (messenger, _) throws(MessengerRefusal) in try messenger.unverify(peer) }
        if isDone { show(.notice("\(name(of: peer)) is not verified any more")) }
    }

    func verify(_ typed: String) {
        if typed.isEmpty { return showOwnCode() }
        if typed.hasPrefix("bitchat:") { return verify(code: typed) }
        guard let (peer, text) = whom(typed) else { return }
        guard !text.isEmpty else {
            showFingerprint(of: peer)
            show(.notice("ask them for their code and enter /verify CODE, or for their fingerprint and enter"))
            return show(.notice("/verify NAME FINGERPRINT; this is yours, for them:"))
        }
        attempt(peer) { (messenger, now) throws(MessengerRefusal) in
            try messenger.verify(peer, fingerprint: text, at: now)
        }
    }

    private func showOwnCode() {
        let code = chat.perform { messenger, now in messenger.code(nickname: people.ownName, at: now) }
        show(.code(code.text))
        show(.notice("whoever reads this code within five minutes, while in reach, can verify you"))
    }

    private func verify(code: String) {
        do throws(VerificationRefusal) {
            let peer = try chat.perform { (messenger, now) throws(VerificationRefusal) in
                try messenger.verify(code: code, at: now)
            }
            show(.notice("asking \(name(of: peer)) to prove it"))
        } catch {
            show(.problem(error.explanation))
        }
    }

    func showFingerprint(_ typed: String) {
        guard !typed.isEmpty else {
            return show(.notice("yours: " + ChatPeer.grouped(chat.messenger.fingerprint)))
        }
        if let peer = whom(typed)?.peer { showFingerprint(of: peer) }
    }

    private func showFingerprint(of peer: PeerID) {
        guard let report = chat.messenger.report(on: peer, at: loop.now) else { return }
        show(.notice("\(name(of: peer)): " + ChatPeer.grouped(report.fingerprint)))
        var about: [String] = report.record.map(ChatPeer.standing) ?? []
        if report.record?.isVerified != true {
            about.insert("not verified", at: 0)
            if report.vouchers.count > 0 { about.append("vouched for by \(report.vouchers.count) you verified") }
        }
        about.append(report.hasSession ? "proved this key in an encrypted session" : "no encrypted session now")
        show(.notice("  " + about.joined(separator: ", ")))
    }

    /// Sixteen groups of four digits, to be read out.
    private static func grouped(_ fingerprint: Fingerprint) -> String {
        var text = ""
        for (index, digit) in fingerprint.hex.enumerated() {
            text += index > 0 && index % 4 == 0 ? " \(digit)" : "\(digit)"
        }
        return text
    }

    /// What the person decided about somebody, in words.
    static func standing(_ record: TrustRecord) -> [String] {
        var words: [String] = []
        if record.isBlocked { words.append("blocked") }
        if record.isVerified { words.append("verified") }
        if record.isMutualFavorite {
            words.append("favourites of each other")
        } else if record.isFavorite {
            words.append("favourite")
        } else if record.favorsUs {
            words.append("has made you a favourite")
        }
        return words
    }

    // MARK: Names

    /// Whom a typed text begins with, and the rest; says so where that is nobody or not clear.
    func whom(_ typed: String) -> (peer: PeerID, rest: String)? {
        switch find(typed) {
        case .one(let peer, let rest): return (peer, rest)
        case .several(let names): show(.problem("there are several: " + names.joined(separator: ", ")))
        case .nobody: show(.problem("nobody of that name is in reach; /who lists who is"))
        }
        return nil
    }

    /// Whether a typed text begins with the name of one person, in reach or not.
    func isKnown(_ typed: String) -> Bool {
        if case .one = find(typed) { return true }
        return false
    }

    private func find(_ typed: String) -> ChatPeople.Match {
        let absent = chat.messenger.trust.records.map { (peer: $0.noiseKey.peerID, nickname: $0.nickname) }
        return people.find(typed, absent: absent)
    }

    @discardableResult
    private func attempt(
        _ peer: PeerID, _ input: (Messenger, Now) throws(MessengerRefusal) -> Void
    ) -> Bool {
        do throws(MessengerRefusal) {
            try chat.perform(input)
            return true
        } catch {
            show(.problem(error.explanation(name(of: peer))))
            return false
        }
    }

    // MARK: What happens

    func happened(_ event: MessengerEvent) {
        switch event {
        case .message(let peer, let isVerified, let text):
            show(.personal(name: name(of: peer), isVerified: isVerified, text: text))
        case .outgoing(let number, let peer, let text):
            show(.outgoing(number: number, name: name(of: peer), text: text))
        case .delivery(let number, let peer, let state): show(ChatPeer.line(number, name(of: peer), state))
        case .waiting(let peer):
            show(.notice("\(name(of: peer)) is not in reach now; what you wrote goes out when that changes"))
            if relays != nil { show(.notice("  over relays: " + mailState(of: peer))) }
            if !chat.knowsTime {
                show(
                    .notice(
                        "  with neighbours: not until this machine's clock is known to be right; --trust-clock if you "
                            + "vouch for it"))
            }
        case .file(let peer, let isVerified, let file):
            show(.personal(name: name(of: peer), isVerified: isVerified, text: ChatPeer.text(file)))
        case .favorite(let peer, let isFavorite):
            let name = name(of: peer)
            show(.notice(isFavorite ? "\(name) made you a favourite" : "you are no favourite of \(name) any more"))
        case .verified(let peer): show(.notice("\(name(of: peer)) is verified"))
        case .verificationFailed(let peer, .noAnswer):
            show(.problem("\(name(of: peer)) did not answer, and is not verified"))
        case .verificationFailed(let peer, .wrongKey):
            show(.problem("do not trust that code: \(name(of: peer)) does not hold the key it shows"))
        case .beingVerified(let peer): show(.notice("\(name(of: peer)) checks your code"))
        case .vouched(let peer, let count):
            show(.notice("\(name(of: peer)) vouches for \(count == 1 ? "somebody" : "\(count) people")"))
        }
    }

    private static func line(_ number: Int, _ name: String, _ state: DeliveryState) -> ChatLine {
        let words: String
        switch state {
        case .sending: words = "sending"
        case .sent: words = "sent"
        case .carried: words = "carried"
        case .delivered: words = "delivered"
        case .read: words = "read"
        case .failed(let failure): return .problem("\(number) to \(name): failed: \(failure.explanation)")
        }
        return .notice("\(number) to \(name): \(words)")
    }

    private static func text(_ file: FileNotice) -> String {
        let size = file.size < 1_000 ? "\(file.size) bytes" : "\((file.size + 500) / 1_000) kB"
        let what = file.isWhatItSays ? file.type.rawValue : "does not look like the \(file.type.rawValue) it says"
        return "sent a file \(file.name ?? "without a name") (\(size), \(what)); it was not kept"
    }
}

extension DeliveryFailure {
    var explanation: String {
        switch self {
        case .expired: "no receipt within a day"
        case .unanswered: "sent \(MessengerLimits.sendAttempts) times without a receipt"
        case .displaced: "too many were waiting"
        case .blocked: "you blocked them"
        }
    }
}

extension MessengerRefusal {
    func explanation(_ name: String) -> String {
        switch self {
        case .unknownPeer: "\(name) is not in reach"
        case .blocked: "\(name) is blocked: /unblock first"
        case .tooLong: "that is too long: say it in pieces"
        case .otherFingerprint: "that is not the fingerprint of \(name): whoever is called so here is somebody else"
        case .bookIsFull: "too many people are remembered: /unblock, /unfav or /unverify somebody first"
        }
    }
}

extension VerificationRefusal {
    var explanation: String {
        switch self {
        case .notACode: "that is not a whole code: it begins with bitchat://verify? and is one line"
        case .badSignature: "that code was changed on its way: do not trust it"
        case .outdated: "that code is older than five minutes, or one of the clocks is wrong: ask for a new one"
        case .ownCode: "that is your own code: it is for others"
        case .notInReach: "whoever showed this code is not in reach"
        case .blocked: "you blocked whoever this code is from"
        case .noAccount: "that code names no account at relays: they must be at a relay when they show it"
        case .tooMany: "too many verifications are under way: wait half a minute"
        }
    }
}

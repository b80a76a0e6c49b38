import Basics
import Crypto
import EventLoop
import Gateway
import Messenger
import Nostr
import Uplink
import Vault
import Wire

/// A chat peer's own way to relays.
struct ChatRelays {
    let uplink: RelayUplink
    /// Of the person, at relays (chapter 05 §3.1).
    let account: NostrSecretKey
    /// `nil` where nothing outlives the process.
    let archive: NostrArchive?
    /// Whether this machine's clock can be believed, now.
    let isClockGood: () -> Bool

    func makeMail(me: PeerID, random: any RandomNumberGenerator) -> RelayMail {
        RelayMail(account: account, client: uplink.client, archive: archive, me: me, random: random)
    }

    func makeDrops(own: NoisePublicKey, random: any RandomNumberGenerator) -> RelayDrops {
        RelayDrops(client: uplink.client, own: own, random: random)
    }
}

/// The key of a person's account at relays, sealed in a file of its own beside the identity: a new one would be another
/// person to every favourite.
struct AccountKeyFile {
    static let fileName = "account.sealed"
    private let path: String
    private let file: SealedFile

    init(in directory: String, masterKey: SecretBytes) {
        path = directory + "/" + AccountKeyFile.fileName
        file = SealedFile(path, purpose: "account", masterKey: masterKey)
    }

    func loadOrCreate(using random: inout some RandomNumberGenerator) throws(StationFault) -> NostrSecretKey {
        do throws(SealedFile.Problem) {
            guard let key = NostrSecretKey(try file.read()) else { throw .doesNotOpen }
            return key
        } catch {
            switch error {
            case .absent: break
            case .unreadable(let why): throw .state("the account cannot be used: \(why)")
            case .doesNotOpen: throw .state("\(path) is damaged, or belongs to another identity")
            }
        }
        let key = NostrSecretKey.generate(using: &random)
        do throws(SystemError) {
            try file.write(key.privateKey, using: &random)
        } catch {
            throw .state("a new account cannot be stored: \(error.withCure)")
        }
        return key
    }
}

extension ChatPeer {
    /// How often the clock and the mailbox's relays are looked at.
    private static let relayCheck = Interval.seconds(10)

    func startRelays() {
        guard let relays else { return }
        relays.uplink.onPublished = { [weak chat, loop] id, outcome in
            chat?.mail?.published(id, outcome)
            chat?.drops?.published(id, outcome, at: loop.now)
        }
        switchboard.perform { chat.mail?.open(at: $0) }
        relays.uplink.route.start()
        checkRelays(relays, before: nil)
    }

    private func checkRelays(_ relays: ChatRelays, before: Bool?) {
        guard !isLeaving else { return }
        let isGood = relays.isClockGood()
        if isGood != before {
            if !isGood {
                show(
                    .notice(
                        "relays wait: this machine's clock is not known to be right; --trust-clock if you vouch for it")
                )
            }
            switchboard.perform { relays.uplink.setClockTrusted(isGood, at: $0) }
        }
        noteMailbox()
        if isGood { switchboard.perform { chat.drops?.ask(at: $0) } }
        loop.schedule(after: ChatPeer.relayCheck) { [weak self] in self?.checkRelays(relays, before: isGood) }
    }

    /// Whether a relay of those that carry mail is connected.
    private func noteMailbox() {
        guard let client = relays?.uplink.client else { return }
        let isUsable = client.isAnyConnected(of: client.defaultRelays)
        chat.perform { messenger, now in
            messenger.setMailUsable(isUsable, at: now)
            messenger.setDropRelays(isUsable ? .connected : .disconnected, at: now)
        }
    }

    func relayConnectivityChanged(_ isConnected: Bool) {
        show(.notice(isConnected ? "a relay is connected" : "no relay is connected any more"))
        noteMailbox()
        note(isAtRelay: isConnected)
    }

    func takes(_ event: VerifiedEvent, of subscription: String) -> Bool {
        switch subscription {
        case RelayMail.subscription: chat.mail?.take(event, at: loop.now)
        case _ where Courier.owns(subscription: subscription): chat.drops?.take(event, at: loop.now)
        default: return false
        }
        return true
    }

    func loaded(_ subscription: String, _ extent: StoredExtent) {
        chat.drops?.loaded(subscription, extent, at: loop.now)
    }

    // MARK: The ways to somebody

    /// Says which ways there are to somebody, and why there are no others.
    func explainWays(to typed: String) {
        guard let peer = whom(typed)?.peer else { return }
        show(.notice("\(name(of: peer)):"))
        show(.notice("  on the mesh: " + meshState(of: peer)))
        show(.notice("  over relays: " + mailState(of: peer)))
    }

    private func meshState(of peer: PeerID) -> String {
        let mesh = switchboard.mesh
        guard let seen = mesh.peer(peer, at: loop.now), seen.isReachable else { return "no, not in reach" }
        let way = seen.isConnected ? "a neighbour" : "in reach over others"
        switch mesh.session(with: peer)?.state {
        case .established: return "yes, \(way), encrypted session"
        default: return "yes, \(way), no encrypted session yet"
        }
    }

    func mailState(of peer: PeerID) -> String {
        switch chat.messenger.mailPath(to: peer) {
        case .usable: "yes, when there is no way over the mesh"
        case .noAccount: "no, you have no relays (--relay)"
        case .unknown: "no, they are not known: /fav them while in reach, or /add their code"
        case .blocked: "no, you blocked them"
        case .notAFavorite: "no, they are no favourite of yours: /fav"
        case .noAccountTold: "no, they have not told you an account at relays"
        case .notFavoredBack: "no, you are no favourite of theirs, or they have not told you yet"
        case .relaysDown: "not now, " + relayProblem
        }
    }

    private var relayProblem: String {
        guard let uplink = relays?.uplink else { return "you have no relays" }
        let relays = uplink.client.defaultRelays
        guard !relays.isEmpty else { return "no relay is configured" }
        if let tor = uplink.route as? TorRoute, tor.access != .open {
            return "the way through Tor is not open (\(tor.stage.rawValue))"
        }
        let problem = relays.lazy.compactMap { uplink.problems[$0]?.description }.first
        return "none of \(relays.count) relays is connected" + (problem.map { " (\($0))" } ?? "")
    }

    /// Of somebody who may never have been in reach.
    func name(of peer: PeerID) -> String {
        if !people.knows(peer), let nickname = chat.messenger.trust.record(of: peer)?.nickname, !nickname.isEmpty {
            return people.name(of: peer, calledBy: nickname, isImpostor: false)
        }
        return people.name(of: peer)
    }

    func add(_ code: String) {
        do throws(VerificationRefusal) {
            let peer = try chat.perform { (messenger, now) throws(VerificationRefusal) in
                try messenger.addFavorite(code: code, at: now)
            }
            show(.notice("\(name(of: peer)) is a favourite now"))
        } catch {
            show(.problem(error.explanation))
        }
    }
}

import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// Mail over relays, to favourites who are favoured back (chapter 05 §13).
final class MailTests: XCTestCase {
    private var random = SeededRandom(seed: 5)
    private var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_780_272_000_000))

    /// Two people who exchanged codes and never met; what one mails, the other takes.
    private final class Pen {
        let identity: NodeIdentity
        let key: NostrSecretKey
        let messenger: Messenger
        var events: [MessengerEvent] = []
        var outgoing: [(payload: NoisePayload, key: NostrPublicKey, peer: PeerID)] = []
        var sessions = 0

        init(_ random: inout SeededRandom, hasAccount: Bool = true) {
            identity = .generate(using: &random)
            key = .generate(using: &random)
            messenger = Messenger(
                identity: identity, account: hasAccount ? key.publicKey : nil,
                random: SeededRandom(seed: random.next()))
        }

        var peer: PeerID { identity.peerID }

        func drain() {
            while let effect = messenger.nextEffect() {
                switch effect {
                case .mail(let payload, let key, let peer): outgoing.append((payload, key, peer))
                case .show(let event): events.append(event)
                case .openSession: sessions += 1
                default: break
                }
            }
        }

        var texts: [String] {
            events.compactMap { if case .message(_, _, let text) = $0 { text } else { nil } }
        }
        var states: [DeliveryState] {
            events.compactMap { if case .delivery(_, _, let state) = $0 { state } else { nil } }
        }
    }

    private func pair() throws -> (Pen, Pen) {
        let (anna, bella) = (Pen(&random), Pen(&random))
        for (one, other) in [(anna, bella), (bella, anna)] {
            let code = other.messenger.code(nickname: "pen", at: now).text
            XCTAssertEqual(try one.messenger.addFavorite(code: code, at: now), other.peer)
        }
        return (anna, bella)
    }

    /// Everything on its way arrives, and every relay says so.
    private func deliver(_ a: Pen, _ b: Pen, isTaken: Bool = true) {
        for _ in 0..<20 {
            a.drain()
            b.drain()
            guard !a.outgoing.isEmpty || !b.outgoing.isEmpty else { return }
            for (from, to) in [(a, b), (b, a)] {
                let mails = from.outgoing
                from.outgoing.removeAll()
                for mail in mails {
                    XCTAssertEqual(mail.key, to.key.publicKey)
                    if let message = PrivateMessage(body: mail.payload.body), mail.payload.type == .privateMessage {
                        from.messenger.mailed(message.messageID, to: mail.peer, isTaken: isTaken)
                    }
                    if isTaken { to.messenger.take(mail: mail.payload, from: from.key.publicKey, at: now) }
                }
            }
        }
        XCTFail("they never come to rest")
    }

    private func meet() throws -> (Pen, Pen) {
        let (anna, bella) = try pair()
        for pen in [anna, bella] { pen.messenger.setMailUsable(true, at: now) }
        deliver(anna, bella)
        XCTAssertEqual(anna.messenger.mailPath(to: bella.peer), .usable)
        XCTAssertEqual(bella.messenger.mailPath(to: anna.peer), .usable)
        return (anna, bella)
    }

    func testPeopleWhoAddedEachOthersCodesWriteToEachOther() throws {
        let (anna, bella) = try meet()
        try anna.messenger.say("over the hills", to: bella.peer, at: now)
        deliver(anna, bella)
        XCTAssertEqual(bella.texts, ["over the hills"])
        XCTAssertEqual(anna.states, [.sending, .carried, .delivered, .read])
        XCTAssertEqual(anna.messenger.undelivered, 0)
    }

    func testWhoeverWasAddedLaterHearsThatTheyAreAFavourite() throws {
        let (anna, bella) = (Pen(&random), Pen(&random))
        for pen in [anna, bella] { pen.messenger.setMailUsable(true, at: now) }
        _ = try anna.messenger.addFavorite(code: bella.messenger.code(nickname: "b", at: now).text, at: now)
        deliver(anna, bella)
        XCTAssertEqual(bella.messenger.drops[.unknownAccount], 1, "nobody she knows")
        XCTAssertEqual(anna.messenger.mailPath(to: bella.peer), .notFavoredBack)
        _ = try bella.messenger.addFavorite(code: anna.messenger.code(nickname: "a", at: now).text, at: now)
        deliver(anna, bella)
        XCTAssertEqual(anna.messenger.mailPath(to: bella.peer), .usable)
        XCTAssertEqual(bella.messenger.mailPath(to: anna.peer), .usable)
    }

    func testTheMeshComesFirst() throws {
        let (anna, bella) = try meet()
        anna.messenger.met(
            Acquaintance(
                noiseKey: bella.identity.noise.publicKey, signingKey: bella.identity.signing.publicKey, nickname: "b"),
            at: now)
        try anna.messenger.say("near", to: bella.peer, at: now)
        anna.drain()
        XCTAssertEqual(anna.sessions, 1)
        XCTAssertTrue(anna.outgoing.isEmpty)
        anna.messenger.sessionLost(with: bella.peer, at: now)
        deliver(anna, bella)
        XCTAssertEqual(bella.texts, ["near"], "no session came about")
    }

    func testAMessageThatComesByBothWaysIsShownOnce() throws {
        let (anna, bella) = try meet()
        try anna.messenger.say("twice", to: bella.peer, at: now)
        anna.drain()
        let mail = try XCTUnwrap(anna.outgoing.first)
        bella.messenger.take(mail: mail.payload, from: anna.key.publicKey, at: now)
        bella.messenger.take(mail.payload, from: anna.peer, fingerprint: anna.identity.fingerprint, at: now)
        bella.messenger.take(mail: mail.payload, from: anna.key.publicKey, at: now)
        bella.drain()
        XCTAssertEqual(bella.texts, ["twice"])
        XCTAssertEqual(bella.messenger.drops[.repeated], 2)
    }

    func testWhatNoRelayTookIsTriedAgain() throws {
        let (anna, bella) = try meet()
        try anna.messenger.say("again", to: bella.peer, at: now)
        deliver(anna, bella, isTaken: false)
        XCTAssertEqual(bella.texts, [])
        anna.messenger.setMailUsable(false, at: now)
        XCTAssertEqual(anna.messenger.mailPath(to: bella.peer), .relaysDown)
        anna.messenger.setMailUsable(true, at: now)
        deliver(anna, bella)
        XCTAssertEqual(bella.texts, ["again"])
    }

    func testWithoutRelaysItWaitsAndSaysSo() throws {
        let (anna, bella) = try meet()
        anna.messenger.setMailUsable(false, at: now)
        try anna.messenger.say("later", to: bella.peer, at: now)
        anna.drain()
        XCTAssertTrue(anna.events.contains(.waiting(for: bella.peer)))
        XCTAssertTrue(anna.outgoing.isEmpty)
    }

    func testStrangersAndThoseWhoAreNoFavouritesAreNeitherShownNorAnswered() throws {
        let (anna, bella) = try meet()
        let mallory = Pen(&random)
        let text = PrivateMessage(messageID: "m", content: "hello").encoded() ?? []
        bella.messenger.take(
            mail: NoisePayload(type: .privateMessage, body: text), from: mallory.key.publicKey, at: now)
        XCTAssertEqual(bella.messenger.drops[.unknownAccount], 1)
        try bella.messenger.setFavorite(false, anna.peer, at: now)
        bella.drain()
        bella.outgoing.removeAll()
        bella.messenger.take(mail: NoisePayload(type: .privateMessage, body: text), from: anna.key.publicKey, at: now)
        XCTAssertEqual(bella.messenger.drops[.notAFavorite], 1)
        try bella.messenger.setBlocked(true, anna.peer, at: now)
        bella.messenger.take(mail: NoisePayload(type: .privateMessage, body: text), from: anna.key.publicKey, at: now)
        XCTAssertEqual(bella.messenger.drops[.blockedSender], 1)
        bella.drain()
        XCTAssertEqual(bella.texts, [])
        XCTAssertTrue(bella.outgoing.isEmpty)
        XCTAssertEqual(bella.messenger.mailPath(to: anna.peer), .blocked)
    }

    func testOnlyMessagesAndReceiptsAreMailed() throws {
        let (anna, bella) = try meet()
        for type in NoisePayloadType.allCases where ![.privateMessage, .delivered, .readReceipt].contains(type) {
            XCTAssertFalse(
                bella.messenger.take(
                    mail: NoisePayload(type: type, body: [1]), from: anna.key.publicKey, at: now), "\(type)")
        }
        XCTAssertFalse(
            bella.messenger.take(
                mail: NoisePayload(type: .privateMessage, body: [9, 9, 9]), from: anna.key.publicKey, at: now))
        bella.drain()
        XCTAssertEqual(bella.texts, [])
    }

    func testNobodyTakesTheAccountOfSomebodyElse() throws {
        let (anna, bella) = try meet()
        let mallory = Pen(&random)
        bella.messenger.met(
            Acquaintance(
                noiseKey: mallory.identity.noise.publicKey, signingKey: mallory.identity.signing.publicKey,
                nickname: "m"), at: now)
        for npub in [anna.key.publicKey.npub, bella.key.publicKey.npub, "npub1nonsense"] {
            let notice = FavoriteNotice(isFavorite: true, npub: npub).content
            bella.messenger.take(
                NoisePayload(
                    type: .privateMessage, body: PrivateMessage(messageID: npub, content: notice).encoded() ?? []),
                from: mallory.peer, fingerprint: mallory.identity.fingerprint, at: now)
            XCTAssertNil(bella.messenger.trust[mallory.identity.fingerprint]?.npub, npub)
        }
    }

    func testACodeWithoutAnAccountMakesNoPenFriend() throws {
        let anna = Pen(&random)
        let stranger = Pen(&random, hasAccount: false)
        XCTAssertThrowsError(
            try anna.messenger.addFavorite(code: stranger.messenger.code(nickname: "s", at: now).text, at: now)
        ) { XCTAssertEqual($0 as? VerificationRefusal, .noAccount) }
        XCTAssertEqual(stranger.messenger.mailPath(to: anna.peer), .noAccount)
        XCTAssertEqual(anna.messenger.mailPath(to: stranger.peer), .unknown)
    }
}

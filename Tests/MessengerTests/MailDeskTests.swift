import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

final class MailDeskTests: XCTestCase {
    private var now = Samples.now
    private var snapshots: [SecretBytes] = []
    private var records: [PeerPrekeys.Record] = []
    private var published: [PrekeyBundle] = []
    private var letters: [Mailbox.Letter] = []

    private func desk(_ identity: NodeIdentity, seed: UInt64 = 1) -> MailDesk {
        MailDesk(identity: identity, random: SeededRandom(seed: seed))
    }

    /// What the desk wants done, as one letter each, in order.
    private func settle(_ desk: MailDesk) -> String {
        var order = ""
        while let effect = desk.nextEffect() {
            switch effect {
            case .storePrekeys(let snapshot):
                snapshots.append(snapshot)
                order += "k"
            case .storeBundle(let record):
                records.append(record)
                order += "b"
            case .discardBundle: order += "f"
            case .publish(let bundle):
                published.append(bundle)
                order += "p"
            case .letter(let letter):
                letters.append(letter)
                order += "l"
            }
        }
        return order
    }

    private func verified(_ bundle: PrekeyBundle, of owner: NodeIdentity) throws -> Verified<PrekeyBundle> {
        try XCTUnwrap(Verified(bundle, under: owner.signing.publicKey))
    }

    private let message = PrivateMessage(messageID: Samples.messageID, content: "hello")

    func testTheFirstBundleIsStoredBeforeItIsPublished() throws {
        let b = desk(try Samples.b())
        XCTAssertNil(b.nextDeadline)
        b.announced(at: now)
        XCTAssertEqual(settle(b), "")
        b.start(at: now)
        XCTAssertEqual(settle(b), "kp")
        XCTAssertEqual(published[0].prekeys.count, 8)
        b.announced(at: now.advanced(by: .minutes(59)))
        XCTAssertEqual(settle(b), "")
        b.announced(at: now.advanced(by: .minutes(60)))
        XCTAssertEqual(settle(b), "p")
        XCTAssertEqual(b.nextDeadline, now.monotonic + .minutes(60))
    }

    func testMailToPrekeysArrivesAndEachUseIsStoredOnBothSides() throws {
        let (alice, bob) = (try Samples.a(), try Samples.b())
        let (a, b) = (desk(alice), desk(bob, seed: 2))
        b.start(at: now)
        _ = settle(b)
        a.take(try verified(published[0], of: bob))
        XCTAssertEqual(settle(a), "b")
        // The same bundle again is nothing new.
        a.take(try verified(published[0], of: bob))
        XCTAssertEqual(settle(a), "")
        let envelope = try XCTUnwrap(a.seal(message, to: bob.noise.publicKey, at: now))
        XCTAssertEqual(settle(a), "b")
        XCTAssertEqual(envelope.prekeyID, 0)
        XCTAssertEqual(records.last?.messages, [0: Samples.messageID])
        XCTAssertTrue(b.take(envelope, at: now))
        // Published within the hour already.
        XCTAssertEqual(settle(b), "kl")
        XCTAssertEqual(letters.last, Mailbox.Letter(sender: alice.noise.publicKey, message: message))
        // Another courier brings another seal of it.
        let again = try XCTUnwrap(a.seal(message, to: bob.noise.publicKey, at: now))
        XCTAssertEqual(again.prekeyID, 0)
        XCTAssertTrue(b.take(again, at: now))
        XCTAssertEqual(settle(b), "")
        XCTAssertEqual(b.drops[.repeated], 1)
    }

    func testABatchFilledUpIsPublishedAtOnce() throws {
        let bob = try Samples.b()
        let (a, b) = (desk(try Samples.a()), desk(bob, seed: 2))
        b.start(at: now)
        _ = settle(b)
        a.take(try verified(published[0], of: bob))
        var orders: [String] = []
        for number in 0..<6 {
            let message = PrivateMessage(messageID: "\(number)", content: "x")
            _ = b.take(try XCTUnwrap(a.seal(message, to: bob.noise.publicKey, at: now)), at: now)
            orders.append(settle(b))
        }
        XCTAssertEqual(orders, ["kl", "kl", "kl", "kl", "kl", "kpl"])
        XCTAssertEqual(published.last?.prekeys.map(\.id), Array(6...13))
    }

    func testWhoDoesNotOpenPrekeysGetsMailToTheStaticKey() throws {
        let bob = try Samples.b()
        let (a, b) = (desk(try Samples.a()), desk(bob, seed: 2))
        b.start(at: now)
        _ = settle(b)
        let before = try XCTUnwrap(a.seal(message, to: bob.noise.publicKey, at: now))
        XCTAssertNil(before.prekeyID)
        a.take(try verified(published[0], of: bob))
        _ = settle(a)
        XCTAssertNil(try XCTUnwrap(a.seal(message, to: bob.noise.publicKey, opensPrekeys: false, at: now)).prekeyID)
        XCTAssertEqual(settle(a), "")
        XCTAssertEqual(a.seal(message, to: bob.noise.publicKey, opensPrekeys: true, copies: 1, at: now)?.copies, 1)
        let long = PrivateMessage(messageID: "m", content: String(repeating: "x", count: 256))
        XCTAssertNil(a.seal(long, to: bob.noise.publicKey, at: now))
    }

    func testADeskThatStartsAgainGoesOnWhereItWas() throws {
        let bob = try Samples.b()
        let (a, b) = (desk(try Samples.a()), desk(bob, seed: 2))
        b.start(at: now)
        _ = settle(b)
        a.take(try verified(published[0], of: bob))
        let envelope = try XCTUnwrap(a.seal(message, to: bob.noise.publicKey, at: now))
        _ = settle(a)
        let later = MailDesk(
            identity: bob, prekeys: try XCTUnwrap(OwnPrekeys(snapshot: snapshots[0])), random: SeededRandom(seed: 3))
        later.start(at: now)
        XCTAssertEqual(settle(later), "")
        later.announced(at: now)
        XCTAssertEqual(settle(later), "p")
        XCTAssertEqual(published[1], published[0])
        XCTAssertTrue(later.take(envelope, at: now))
        XCTAssertEqual(settle(later), "kl")
        let sender = MailDesk(
            identity: try Samples.a(), bundles: [try XCTUnwrap(records.last)], random: SeededRandom(seed: 4))
        let next = PrivateMessage(messageID: "next", content: "x")
        XCTAssertEqual(sender.seal(message, to: bob.noise.publicKey, at: now)?.prekeyID, 0)
        XCTAssertEqual(sender.seal(next, to: bob.noise.publicKey, at: now)?.prekeyID, 1)
    }

    func testMailThatDoesNotOpenMayBeBroughtAgainAndMailOfTheBlockedMayNot() throws {
        let bob = try Samples.b()
        let (a, b) = (desk(try Samples.a()), desk(bob, seed: 2))
        b.start(at: now)
        _ = settle(b)
        var envelope = try XCTUnwrap(a.seal(message, to: bob.noise.publicKey, at: now))
        XCTAssertTrue(b.take(envelope, at: now) { _ in true })
        envelope.prekeyID = 99
        XCTAssertFalse(b.take(envelope, at: now))
        XCTAssertEqual(settle(b), "")
        XCTAssertEqual(b.drops[.blockedSender], 1)
        XCTAssertEqual(b.drops[.unknownPrekey], 1)
    }

    func testOurOwnBundleIsNotKept() throws {
        let bob = try Samples.b()
        let b = desk(bob)
        b.start(at: now)
        _ = settle(b)
        b.take(try verified(published[0], of: bob))
        XCTAssertEqual(settle(b), "")
    }

    func testMaintenanceRunsHourlyAndRotatesAfterAMonth() throws {
        let b = desk(try Samples.b())
        b.start(at: now)
        _ = settle(b)
        for hour in 1...(31 * 24) {
            b.timeout(at: now.advanced(by: .hours(hour)))
            let order = settle(b)
            // Dated anew every six days, all replaced after thirty.
            XCTAssertEqual(order, hour % 144 == 0 ? "kp" : "", "\(hour)")
        }
        XCTAssertEqual(published.last?.prekeys.map(\.id), Array(8...15))
    }
}

import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// Receipts are not lost in sessions that are dead.
final class OwedReceiptTests: XCTestCase {
    private let table = Table()

    private func couple() throws -> (anna: Table.Seat, bob: Table.Seat, envelope: CourierEnvelope) {
        let (anna, bob) = (try table.seat("anna", 1, sealsMail: true), try table.seat("bob", 2, sealsMail: true))
        try table.does { try anna.messenger.setFavorite(true, bob.peer, at: $0) }
        table.separate(anna, bob)
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
        _ = (anna.news(), bob.news())
        bob.forgetSent()
        return (anna, bob, anna.deposits[0].envelope)
    }

    private func receipts(_ seat: Table.Seat) -> [NoisePayloadType] {
        seat.sent.map(\.payload.type).filter { $0 == .delivered || $0 == .readReceipt }
    }

    func testWhoIsGoneHasNoSessionThatReceiptsCouldGoThrough() throws {
        let (anna, bob, envelope) = try couple()
        table.losing = [.privateMessage]
        table.join(anna, bob)
        bob.forgetSent()
        // She is out of reach; nothing says that the session is gone with her.
        bob.messenger.lost(anna.peer)
        table.does { _ = bob.messenger.take(envelope, at: $0) }
        XCTAssertEqual(receipts(bob), [])
    }

    func testReceiptsThatComeBackUnsentGoThroughTheNextSessionAlsoAfterARestart() throws {
        for restarts in [false, true] {
            let table = Table()
            let (anna, bob) = (try table.seat("anna", 1, sealsMail: true), try table.seat("bob", 2, sealsMail: true))
            try table.does { try bob.messenger.setFavorite(true, anna.peer, at: $0) }
            for type in [NoisePayloadType.delivered, .readReceipt] {
                let payload = NoisePayload(type: type, body: Array("message".utf8))
                table.does { bob.messenger.undeliverable(payload, to: anna.peer, at: $0) }
            }
            bob.forgetSent()
            table.separate(anna, bob)
            if restarts { bob.restart(at: table.now) }
            table.join(anna, bob)
            XCTAssertEqual(receipts(bob), [.delivered, .readReceipt])
        }
    }

    func testReceiptsASessionTookJustBeforeANewOneGoAgain() throws {
        let (anna, bob, envelope) = try couple()
        table.does { _ = bob.messenger.take(envelope, at: $0) }
        table.losing = [.delivered, .readReceipt, .privateMessage]
        table.join(anna, bob)
        XCTAssertEqual(receipts(bob).count, 2)
        XCTAssertEqual(anna.messenger.undelivered, 1)
        table.losing = [.privateMessage]
        table.pass(.seconds(5))
        table.renew(anna, bob)
        XCTAssertEqual(anna.messenger.undelivered, 0)
        table.pass(.minutes(2))
        bob.forgetSent()
        table.renew(anna, bob)
        XCTAssertEqual(receipts(bob), [], "what a session took a minute ago is settled")
    }

    func testWhoeverIsInReachIsTriedAgainAndTheBlockedAreOwedNothing() throws {
        let (anna, bob, envelope) = try couple()
        table.does { _ = bob.messenger.take(envelope, at: $0) }
        // In reach, though no handshake comes about.
        bob.messenger.met(anna.acquaintance, at: table.now)
        table.settle()
        XCTAssertEqual(receipts(bob), [])
        XCTAssertNotNil(bob.messenger.nextDeadline)
        var asked = 0
        bob.messenger.timeout(at: table.now.advanced(by: .minutes(3)))
        while let effect = bob.messenger.nextEffect() {
            if case .openSession(anna.peer) = effect { asked += 1 }
        }
        XCTAssertEqual(asked, 1)
        try table.does { try bob.messenger.setBlocked(true, anna.peer, at: $0) }
        XCTAssertEqual(bob.messenger.owed.count, 0)
        let payload = NoisePayload(type: .delivered, body: Array("message".utf8))
        table.does { bob.messenger.undeliverable(payload, to: anna.peer, at: $0) }
        XCTAssertEqual(bob.messenger.owed.count, 0)
    }

    func testNoMoreAreOwedThanTheBound() throws {
        var owed = OwedReceipts()
        let anna = try Samples.a().peerID
        for number in 0..<(MessengerLimits.owedReceipts + 10) {
            owed.owe(
                ReceivedMessage(sender: anna, messageID: "\(number)", at: Samples.now.wall, owesReceipt: true))
        }
        XCTAssertEqual(owed.count, MessengerLimits.owedReceipts)
        XCTAssertEqual(owed.pay(anna, at: .zero).first?.messageID, "10", "the oldest makes room")
    }
}

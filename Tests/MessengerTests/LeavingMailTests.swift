import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// Messages for people who are away (chapter 06 §5.3, §6.8, §7).
final class LeavingMailTests: XCTestCase {
    private let table = Table()

    // MARK: Couriers

    func testThreeNeighboursAreGivenTheSameSealedMessageAndItIsCarried() throws {
        let (anna, bob) = try table.couple()
        for byte in 3...7 as ClosedRange<UInt8> { _ = try table.seat("\(byte)", byte, isNeighbour: true) }
        try table.say("hello", anna, to: bob)
        XCTAssertEqual(anna.deposits.count, 3)
        XCTAssertEqual(Set(anna.deposits.map(\.courier)).count, 3)
        XCTAssertEqual(Set(anna.deposits.map(\.envelope)).count, 1)
        XCTAssertEqual(anna.deposits[0].envelope.copies, 4)
        XCTAssertEqual(states(anna.news()), [.sending, .carried])
        table.pass(.minutes(30))
        XCTAssertEqual(anna.deposits.count, 3, "three each message")
        XCTAssertTrue(anna.messenger.undelivered == 1)
    }

    func testMutualFavouritesAreAskedFirstAndStrangersToMailAreNot() throws {
        let (anna, bob) = try table.couple()
        var favorites: Set<PeerID> = []
        for byte in 3...9 as ClosedRange<UInt8> {
            let seat = try table.seat("\(byte)", byte, isNeighbour: true)
            guard byte >= 8 else { continue }
            try table.does { try anna.messenger.setFavorite(true, seat.peer, at: $0) }
            try table.does { try seat.messenger.setFavorite(true, anna.peer, at: $0) }
            favorites.insert(seat.peer)
        }
        // As Android announces itself.
        let android = Acquaintance(
            noiseKey: try Samples.key(90).publicKey, signingKey: anna.identity.signing.publicKey, nickname: "droid",
            isConnected: true, capabilities: [.privateMedia])
        anna.messenger.met(android, at: table.now)
        try table.say("hello", anna, to: bob)
        XCTAssertEqual(Set(anna.deposits.prefix(2).map(\.courier)), favorites)
        XCTAssertEqual(anna.deposits.count, 3)
        XCTAssertFalse(anna.deposits.contains { $0.courier == android.peerID || $0.courier == bob.peer })
    }

    func testWhoeverComesLaterIsOfferedWhatStillWaits() throws {
        let (anna, bob) = try table.couple()
        try table.say("hello", anna, to: bob)
        XCTAssertEqual(states(anna.news()), [.sending])
        table.couriersTake = false
        _ = try table.seat("carl", 3, isNeighbour: true)
        table.settle()
        XCTAssertEqual(anna.deposits.count, 1)
        XCTAssertEqual(states(anna.news()), [], "a link that took nothing carries nothing")
        table.couriersTake = true
        for byte in 4...9 as ClosedRange<UInt8> {
            _ = try table.seat("\(byte)", byte, isNeighbour: true)
            table.settle()
        }
        XCTAssertEqual(states(anna.news()), [.carried])
        XCTAssertEqual(
            OutboxRecord(messageID: "", decoding: try XCTUnwrap(anna.outbox.values.first))?.couriers.count, 3)
    }

    func testWhoIsPromptlyReachedNeedsNoCourierAndWhoIsBesideUsWithoutASessionDoes() throws {
        let anna = try table.seat("anna", 1, sealsMail: true)
        let bob = try table.seat("bob", 2)
        let carl = try table.seat("carl", 3, isNeighbour: true)
        _ = carl
        table.losing = [.privateMessage]
        try table.say("over the mesh", anna, to: bob)
        XCTAssertTrue(anna.deposits.isEmpty)
        let dora = try table.seat("dora", 4, isNeighbour: true)
        // Its handshake does not come about at once.
        anna.messenger.met(dora.acquaintance, at: table.now)
        try anna.messenger.say("beside", to: dora.peer, at: table.now)
        table.settle()
        XCTAssertEqual(anna.deposits.map(\.courier), [carl.peer])
    }

    // MARK: The other end

    func testMailIsShownOnceWhateverBringsItAndItsReceiptWaitsForASession() throws {
        let (anna, bob) = try table.couple()
        let carl = try table.seat("carl", 3, isNeighbour: true)
        _ = carl
        try table.say("hello", anna, to: bob)
        let envelope = anna.deposits[0].envelope
        XCTAssertTrue(table.does { bob.messenger.take(envelope, at: $0) })
        XCTAssertTrue(table.does { bob.messenger.take(envelope, at: $0) })
        XCTAssertEqual(bob.news(), [.message(from: anna.peer, isVerified: false, text: "hello")])
        XCTAssertTrue(bob.sent.isEmpty)
        XCTAssertEqual(states(anna.news()), [.sending, .carried])
        table.join(anna, bob)
        XCTAssertEqual(states(anna.news()).suffix(2), [.delivered, .read])
        XCTAssertEqual(texts(bob.news()), [], "the copy over the session is no news")
        XCTAssertEqual(anna.messenger.undelivered, 0)
        XCTAssertTrue(anna.outbox.isEmpty)
    }

    func testReceiptsOfMailAreOwedOnceAndHandshakesOnlyBegunWithWhoIsThere() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        table.losing = [.privateMessage]
        _ = table.does { bob.messenger.take(anna.deposits[0].envelope, at: $0) }
        table.join(anna, bob)
        let receipts = bob.sent.filter { $0.payload.type == .delivered }
        XCTAssertEqual(receipts.count, 1)
        table.pass(.minutes(2))
        table.renew(anna, bob)
        XCTAssertEqual(bob.sent.filter { $0.payload.type == .delivered }.count, 1)
    }

    func testMailOfTheBlockedIsNotShownAndNeedNotComeAgain() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        try table.does { try bob.messenger.setBlocked(true, anna.peer, at: $0) }
        _ = bob.news()
        XCTAssertTrue(table.does { bob.messenger.take(anna.deposits[0].envelope, at: $0) })
        XCTAssertEqual(bob.news(), [])
        table.join(anna, bob)
        XCTAssertTrue(bob.sent.filter { $0.payload.type == .delivered }.isEmpty)
    }

    // MARK: Relays

    /// A message is left at relays once a day whatever is restarted.
    func testSealAndPublishOnce() throws {
        let (anna, bob) = try table.couple()
        table.does { anna.messenger.setDropRelays(.connected, at: $0) }
        table.relaysConfirm = true
        try table.say("hello", anna, to: bob)
        XCTAssertEqual(anna.drops.count, 1)
        XCTAssertEqual(anna.drops[0].envelope.copies, 1)
        XCTAssertEqual(states(anna.news()), [.sending, .carried])
        for _ in 0..<5 {
            table.does { seat in
                anna.restart(at: seat)
                anna.messenger.setDropRelays(.connected, at: seat)
            }
            table.pass(.minutes(3))
        }
        XCTAssertEqual(anna.drops.count, 1)
    }

    func testADropIsWantedUntilItsMessageArrivesOrThePersonWantsNone() throws {
        let (anna, bob) = try table.couple()
        table.does { anna.messenger.setDropRelays(.connected, at: $0) }
        try table.say("hello", anna, to: bob)
        let first = try XCTUnwrap(anna.drops.first).ticket
        XCTAssertTrue(anna.messenger.isWanted(first))
        table.join(anna, bob)
        XCTAssertFalse(anna.messenger.isWanted(first))
        table.separate(anna, bob)
        try table.say("again", anna, to: bob)
        let second = try XCTUnwrap(anna.drops.last).ticket
        XCTAssertTrue(anna.messenger.isWanted(second))
        table.does { anna.messenger.setDropRelays(.off, at: $0) }
        XCTAssertFalse(anna.messenger.isWanted(second))
    }

    /// What was seen survives in the courier: `DropTests.testSeenDropsSurviveARestart`.
    func testDedupSurvivesRelaunchPublishedSeenButNotForMerelyQueued() throws {
        let (anna, bob) = try table.couple()
        func start(_ relays: DropRelays) {
            table.does { now in
                anna.restart(at: now)
                anna.messenger.setDropRelays(relays, at: now)
            }
        }
        start(.disconnected)
        try table.say("queued", anna, to: bob)
        XCTAssertTrue(anna.drops.isEmpty && anna.published.isEmpty)
        table.relaysConfirm = true
        start(.connected)
        table.pass(.minutes(3))
        XCTAssertEqual(anna.drops.count, 1)
        XCTAssertEqual(anna.published.count, 1)
        start(.connected)
        table.pass(.minutes(3))
        XCTAssertEqual(anna.drops.count, 1)
    }

    func testADropIsMadeFirstAndTakesNoCouriersPlace() throws {
        let (anna, bob) = try table.couple()
        for byte in 3...6 as ClosedRange<UInt8> { _ = try table.seat("\(byte)", byte, isNeighbour: true) }
        table.does { anna.messenger.setDropRelays(.connected, at: $0) }
        try table.say("hello", anna, to: bob)
        XCTAssertEqual(anna.drops.count, 1)
        XCTAssertEqual(anna.deposits.count, 3)
        XCTAssertEqual(anna.drops[0].envelope.ciphertext, anna.deposits[0].envelope.ciphertext)
    }

    // MARK: Restarts

    func testWhatWaitsSurvivesARestartWithItsCouriersAttemptsAndNumber() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("one", anna, to: bob)
        try table.say("two", anna, to: bob)
        table.pass(.hours(1))
        anna.restart(at: table.now)
        XCTAssertEqual(anna.messenger.undelivered, 2)
        _ = anna.news()
        XCTAssertNotNil(anna.messenger.nextDeadline)
        table.join(anna, bob)
        XCTAssertEqual(texts(bob.news()), ["one", "two"])
        XCTAssertEqual(states(anna.news()), [.delivered, .read, .delivered, .read])
        XCTAssertTrue(anna.outbox.isEmpty)
        try table.say("three", anna, to: bob)
        XCTAssertTrue(anna.news().contains(.outgoing(number: 3, to: bob.peer, text: "three")))
    }

    func testADayIsADayAcrossRestarts() throws {
        let (anna, bob) = try table.couple()
        try table.say("hello", anna, to: bob)
        table.pass(.hours(23))
        anna.restart(at: table.now)
        XCTAssertEqual(anna.messenger.undelivered, 1)
        table.pass(.hours(1))
        table.pass(.minutes(3))
        XCTAssertEqual(states(anna.news()).last, .failed(.expired))
        XCTAssertTrue(anna.outbox.isEmpty)
        try table.say("again", anna, to: bob)
        table.pass(.minutes(1))
        table.does { now in anna.restart(at: now.advanced(by: .hours(25))) }
        XCTAssertEqual(anna.messenger.undelivered, 0)
        XCTAssertTrue(anna.outbox.isEmpty)
        XCTAssertEqual(states(anna.news()).last, .failed(.expired), "whoever wrote it is told")
    }

    func testAMessageShownBeforeARestartIsNotShownAgainAndItsReceiptIsStillOwed() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        let envelope = anna.deposits[0].envelope
        _ = table.does { bob.messenger.take(envelope, at: $0) }
        XCTAssertEqual(texts(bob.news()), ["hello"])
        bob.restart(at: table.now)
        XCTAssertTrue(table.does { bob.messenger.take(envelope, at: $0) })
        XCTAssertEqual(bob.news(), [])
        table.join(anna, bob)
        XCTAssertEqual(bob.news(), [])
        XCTAssertEqual(states(anna.news()).suffix(2), [.delivered, .read])
        table.pass(.minutes(2))
        let receipts = bob.sent.count
        bob.restart(at: table.now)
        table.renew(anna, bob)
        XCTAssertEqual(bob.sent.count, receipts, "nothing is owed any more")
    }

    func testRecordsThatAreNoneAreRefused() throws {
        let record = OutboxRecord(
            messageID: "m", recipient: try Samples.b().noise.publicKey, content: "é", number: 7,
            writtenAt: Samples.time, state: .carried, attempts: 2, couriers: [try Samples.a().noise.publicKey],
            sealed: nil)
        let bytes = record.encoded()
        XCTAssertEqual(OutboxRecord(messageID: "m", decoding: bytes), record)
        for count in 0..<(bytes.count - 2) {
            XCTAssertNil(OutboxRecord(messageID: "m", decoding: Array(bytes.prefix(count))))
        }
        for (index, value) in [(0, 9), (1, 3), (47, 4)] as [(Int, UInt8)] {
            var bad = bytes
            bad[index] = value
            XCTAssertNil(OutboxRecord(messageID: "m", decoding: bad), "\(index)")
        }
        let message = ReceivedMessage(
            sender: try Samples.a().peerID, messageID: "id", at: Samples.time, owesReceipt: true)
        XCTAssertEqual(ReceivedMessage(decoding: message.encoded()), message)
        XCTAssertNil(ReceivedMessage(decoding: [1, 2] + message.encoded().dropFirst(2)))
        XCTAssertNil(ReceivedMessage(decoding: []))
    }
}

import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// A message is sealed once, and what is left of it waits no longer than it has to.
final class SealedOnceTests: XCTestCase {
    private let table = Table()

    /// The process may die at any moment after what is stored before the first envelope leaves.
    func testNoRestartMakesAnotherEnvelopeOfTheSameMessage() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        table.couriersTake = false
        table.does { anna.messenger.setDropRelays(.connected, at: $0) }
        try table.say("hello", anna, to: bob)
        for byte in 4...8 as ClosedRange<UInt8> {
            anna.restart(at: table.now)
            table.does { anna.messenger.setDropRelays(.connected, at: $0) }
            _ = try table.seat("\(byte)", byte, isNeighbour: true)
            table.settle()
            table.pass(.minutes(3))
        }
        XCTAssertGreaterThan(anna.deposits.count, 5)
        XCTAssertEqual(anna.drops.count, 6, "no relay has confirmed it")
        XCTAssertEqual(Set(anna.deposits.map(\.envelope)).count, 1)
        XCTAssertEqual(
            Set((anna.deposits.map(\.envelope) + anna.drops.map(\.envelope)).map(\.ciphertext)).count, 1)
        XCTAssertEqual(Set(anna.drops.map(\.envelope.copies)), [1])
        XCTAssertEqual(Set(anna.deposits.map(\.envelope.copies)), [4])
    }

    func testTheEnvelopeIsStoredBeforeItLeaves() throws {
        let (anna, bob) = try table.couple()
        let carl = try table.seat("carl", 3, isNeighbour: true)
        _ = carl
        try anna.messenger.say("hello", to: bob.peer, at: table.now)
        var stored: CourierEnvelope?
        var left = 0
        while let effect = anna.messenger.nextEffect() {
            switch effect {
            case .store(.message(let record)): stored = record.sealed
            case .deposit(let envelope, _, _):
                left += 1
                XCTAssertEqual(stored, envelope)
            default: break
            }
        }
        XCTAssertEqual(left, 1)
    }

    /// The process died after the message was stored and before the owner's record was.
    func testAPrekeyOfAStoredEnvelopeServesNoOtherMessage() throws {
        let anna = try Samples.a()
        let bob = try Samples.b()
        var random = SeededRandom(seed: 9)
        var prekeys = OwnPrekeys()
        _ = prekeys.maintain(at: Samples.now.wall, using: &random)
        let bundle = try XCTUnwrap(prekeys.bundle(of: bob))
        var known = TrustRecord(noiseKey: bob.noise.publicKey, nickname: "bob")
        known.isFavorite = true
        let fresh = PeerPrekeys.Record(owner: bob.noise.publicKey, bundle: bundle, messages: [:])
        var records: [OutboxRecord] = []
        for text in ["one", "two"] {
            let messenger = Messenger(
                identity: anna, trust: [known],
                desk: MailDesk(identity: anna, bundles: [fresh], random: random),
                random: SeededRandom(seed: random.next()))
            var memory = MessengerMemory()
            memory.messages = records
            messenger.restore(memory, at: Samples.now)
            messenger.setDropRelays(.connected, at: Samples.now)
            try messenger.say(text, to: bob.peerID, at: Samples.now)
            while let effect = messenger.nextEffect() {
                if case .store(.message(let record)) = effect {
                    records.removeAll { $0.messageID == record.messageID }
                    records.append(record)
                }
            }
        }
        XCTAssertEqual(records.count, 2)
        XCTAssertEqual(Set(records.compactMap(\.sealed?.prekeyID)).count, 2)
    }

    func testARecordComesBackWithItsEnvelopeOrNotAtAll() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        let bytes = try XCTUnwrap(anna.outbox.values.first)
        let record = try XCTUnwrap(OutboxRecord(messageID: "m", decoding: bytes))
        XCTAssertEqual(record.sealed, anna.deposits[0].envelope)
        XCTAssertEqual(record.encoded(), bytes)
        for count in 0..<(bytes.count - "hello".utf8.count) {
            XCTAssertNil(OutboxRecord(messageID: "m", decoding: Array(bytes.prefix(count))), "\(count)")
        }
    }

    // MARK: Drops that wait for a relay

    func testAMessageThatArrivedMeanwhileIsNotLeftAtARelay() throws {
        let (anna, bob) = try table.couple()
        table.does { anna.messenger.setDropRelays(.disconnected, at: $0) }
        try table.say("hello", anna, to: bob)
        try table.say("and this", anna, to: bob)
        XCTAssertEqual(anna.messenger.ownDrops.waitingCount, 2)
        table.join(anna, bob)
        XCTAssertEqual(anna.messenger.undelivered, 0)
        XCTAssertEqual(anna.messenger.ownDrops.waitingCount, 0)
        table.does { anna.messenger.setDropRelays(.connected, at: $0) }
        XCTAssertEqual(anna.drops.count, 0)
        XCTAssertEqual(anna.messenger.ownDrops.underWay, 0)
    }

    func testNothingIsLeftForWhoeverWasBlockedNorWhatIsGivenUp() throws {
        for isBlocked in [true, false] {
            let table = Table()
            let anna = try table.seat("anna", 1, sealsMail: true)
            let (bob, carl) = (try table.seat("bob", 2), try table.seat("carl", 3))
            for seat in [bob, carl] {
                try table.does { try anna.messenger.setFavorite(true, seat.peer, at: $0) }
                table.separate(anna, seat)
            }
            table.does { anna.messenger.setDropRelays(.disconnected, at: $0) }
            try table.does { try anna.messenger.say("hello", to: bob.peer, at: $0) }
            if isBlocked {
                try table.does { try anna.messenger.setBlocked(true, bob.peer, at: $0) }
            } else {
                table.pass(.hours(25))
            }
            try table.does { try anna.messenger.say("for carl", to: carl.peer, at: $0) }
            table.does { anna.messenger.setDropRelays(.connected, at: $0) }
            XCTAssertEqual(anna.drops.map(\.ticket.peer), [carl.peer])
        }
    }
}

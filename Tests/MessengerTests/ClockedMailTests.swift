import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// Letters of people who do not know what time it is (chapter 06 §20 trap 1).
final class ClockedMailTests: XCTestCase {
    private let table = Table()

    /// What a clock says that is wrong: in 1970, and ten years ahead.
    private var wrong: [Now] {
        [
            Now(monotonic: table.now.monotonic, wall: WallTime(milliseconds: 5_000)),
            Now(
                monotonic: table.now.monotonic,
                wall: WallTime(milliseconds: table.now.wall.milliseconds + 315_576_000_000)),
        ]
    }

    func testNoWrongClockGivesUpWhatWaits() throws {
        let (anna, bob) = try table.couple()
        try table.say("hello", anna, to: bob)
        _ = anna.news()
        for now in wrong {
            anna.restart(at: now, isClockGood: false)
            anna.messenger.timeout(at: now.advanced(by: .minutes(5)))
            table.settle()
            XCTAssertEqual(anna.messenger.undelivered, 1)
            XCTAssertEqual(anna.outbox.count, 1)
            XCTAssertEqual(states(anna.news()), [])
        }
        table.does { anna.messenger.setClock(isGood: true, at: $0) }
        XCTAssertEqual(anna.messenger.undelivered, 1)
        table.pass(.hours(25))
        XCTAssertEqual(states(anna.news()), [.failed(.expired)], "a day is a day of the right clock")
    }

    func testWhatIsWrittenOnAWrongClockIsSealedAndDatedByTheRightOne() throws {
        for index in 0...1 {
            let table = Table()
            let anna = try table.seat("anna", 1, sealsMail: true)
            let bob = try table.seat("bob", 2, sealsMail: true)
            try table.does { try anna.messenger.setFavorite(true, bob.peer, at: $0) }
            table.separate(anna, bob)
            let now = wrong[index]
            anna.restart(at: now, isClockGood: false)
            _ = try table.seat("carl", 3, isNeighbour: true)
            anna.messenger.setDropRelays(.connected, at: now)
            try anna.messenger.say("hello", to: bob.peer, at: now)
            table.settle()
            XCTAssertTrue(anna.deposits.isEmpty && anna.drops.isEmpty, "no envelope of a wrong day")
            // It is not lost with the process either.
            anna.restart(at: now, isClockGood: false)
            XCTAssertEqual(anna.messenger.undelivered, 1)
            _ = try table.seat("dora", 4, isNeighbour: true)
            table.settle()
            XCTAssertTrue(anna.deposits.isEmpty)
            table.does { anna.messenger.setClock(isGood: true, at: $0) }
            XCTAssertEqual(anna.deposits.count, 1)
            XCTAssertTrue(table.does { bob.messenger.take(anna.deposits[0].envelope, at: $0) })
            XCTAssertEqual(texts(bob.news()), ["hello"])
            let record = try XCTUnwrap(anna.outbox.first)
            XCTAssertEqual(
                OutboxRecord(messageID: record.key, decoding: record.value)?.writtenAt, table.now.wall)
        }
    }

    func testMailThatComesOnAWrongClockIsReadWhenTheTimeIsKnown() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        let envelope = anna.deposits[0].envelope
        for now in wrong {
            bob.restart(at: now, isClockGood: false)
            XCTAssertTrue(bob.messenger.take(envelope, at: now), "whoever brought it need not bring it again")
            table.settle()
            XCTAssertEqual(bob.held.count, 1, "two copies are one")
            XCTAssertEqual(texts(bob.news()), [])
        }
        // Mail for others is none of ours: nothing is kept of it.
        var other = envelope
        other.recipientTag = [UInt8](repeating: 7, count: 16)
        XCTAssertFalse(bob.messenger.take(other, at: wrong[0]))
        table.settle()
        XCTAssertEqual(bob.held.count, 1)
        table.does { bob.messenger.setClock(isGood: true, at: $0) }
        XCTAssertEqual(texts(bob.news()), ["hello"])
        XCTAssertTrue(bob.held.isEmpty)
    }

    func testAnAlteredCopyThatComesFirstKeepsNobodyFromTheGenuineOne() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        let genuine = anna.deposits[0].envelope
        var (locked, broken, late) = (genuine, genuine, genuine)
        locked.prekeyID = 77
        broken.ciphertext[40] ^= 1
        late.expiry = late.expiry.later(milliseconds: 1)
        bob.restart(at: wrong[0], isClockGood: false)
        for envelope in [locked, broken, late, genuine, genuine.withCopies(2)] {
            XCTAssertTrue(bob.messenger.take(envelope, at: wrong[0]))
        }
        table.settle()
        XCTAssertEqual(bob.held, [locked, broken, late, genuine].map { $0.withCopies(1) }, "budgets make no letters")
        table.does { bob.messenger.setClock(isGood: true, at: $0) }
        XCTAssertEqual(texts(bob.news()), ["hello"])
        XCTAssertEqual(bob.held, [locked.withCopies(1)], "its key may come back with a backup")
        table.does { bob.restart(at: $0) }
        XCTAssertEqual(bob.held.count, 1)
        table.pass(.hours(25))
        table.does { bob.restart(at: $0) }
        XCTAssertTrue(bob.held.isEmpty, "until it expires")
    }

    func testHeldMailIsBounded() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        bob.restart(at: wrong[0], isClockGood: false)
        for number in 0..<(MessengerLimits.heldMail + 2) {
            var envelope = anna.deposits[0].envelope
            envelope.ciphertext[0] = UInt8(number)
            XCTAssertEqual(bob.messenger.take(envelope, at: wrong[0]), number < MessengerLimits.heldMail)
        }
        table.settle()
        XCTAssertEqual(bob.held.count, MessengerLimits.heldMail)
        XCTAssertEqual(bob.messenger.drops[.noRoomForMail], 2)
    }

    func testHeldMailThatMayNeverOpenMakesRoomForWhatDoes() throws {
        let (anna, bob) = try table.couple()
        _ = try table.seat("carl", 3, isNeighbour: true)
        try table.say("hello", anna, to: bob)
        bob.restart(at: wrong[0], isClockGood: false)
        for number in 0..<(MessengerLimits.heldMail + 1) {
            var locked = anna.deposits[0].envelope
            locked.prekeyID = UInt32(1_000 + number)
            XCTAssertEqual(bob.messenger.take(locked, at: wrong[0]), number < MessengerLimits.heldMail)
        }
        XCTAssertTrue(bob.messenger.take(anna.deposits[0].envelope, at: wrong[0]))
        table.settle()
        XCTAssertEqual(bob.held.count, MessengerLimits.heldMail)
        table.does { bob.messenger.setClock(isGood: true, at: $0) }
        XCTAssertEqual(texts(bob.news()), ["hello"])
    }

    func testPrekeysAreNeitherMadeNorRotatedByAWrongClock() throws {
        let identity = try Samples.b()
        var random = SeededRandom(seed: 3)
        var prekeys = OwnPrekeys()
        _ = prekeys.maintain(at: Samples.now.wall, using: &random)
        for now in wrong {
            let messenger = Messenger(
                identity: identity, desk: MailDesk(identity: identity, prekeys: prekeys, random: random),
                isClockGood: false, random: random)
            messenger.startPrekeys(at: now)
            messenger.timeout(at: now.advanced(by: .hours(2)))
            while let effect = messenger.nextEffect() {
                if case .store(.prekeys) = effect { XCTFail("rotated") }
                if case .publish = effect { XCTFail("published") }
            }
            XCTAssertNil(messenger.nextDeadline)
            messenger.setClock(isGood: true, at: Samples.now)
            XCTAssertNotNil(messenger.nextDeadline)
            messenger.setClock(isGood: false, at: now)
            XCTAssertNil(messenger.nextDeadline)
        }
    }
}

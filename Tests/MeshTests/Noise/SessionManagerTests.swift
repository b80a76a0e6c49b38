import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// The rules of chapter 02 §4.3–4.8, with time moved by hand.
final class SessionManagerTests: XCTestCase {
    private func firstMessage(from peer: SessionParty) throws -> [UInt8] {
        try XCTUnwrap(SessionParty(peer.identity, seed: 4_711).start(with: PeerID(value: 1)))
    }

    // MARK: Starting

    func testNoAnswerMeansTwoFirstMessagesTenSecondsApartAndThenFailure() throws {
        let (low, high) = SessionParty.pair()
        let first = try XCTUnwrap(low.start(with: high.id))
        XCTAssertNil(low.start(with: high.id), "one attempt at a time")
        XCTAssertEqual(low.advance(by: .milliseconds(9_999)), [])
        let second = low.advance(by: .milliseconds(1))
        XCTAssertEqual(second.map(\.count), [32])
        XCTAssertNotEqual(second.first, first, "a retry has an ephemeral of its own")
        XCTAssertEqual(low.failures, [])
        XCTAssertEqual(low.advance(by: .minutes(30)), [])
        XCTAssertEqual(low.failures, [.noAnswer])
        XCTAssertEqual(low.manager[high.id]?.isShakingHands ?? false, false)
    }

    func testNoSecondAttemptTowardsAPeerThatWentAway() {
        let (low, high) = SessionParty.pair()
        low.start(with: high.id)
        low.reachable = { _ in false }
        XCTAssertEqual(low.advance(by: .minutes(1)), [])
        XCTAssertEqual(low.failures, [.unreachable])
    }

    func testNothingBeginsWithOurselves() throws {
        let (low, _) = SessionParty.pair()
        XCTAssertNil(low.start(with: low.id))
        XCTAssertNil(low.receive(try firstMessage(from: low), from: low.id))
        XCTAssertEqual(low.manager.count, 0)
    }

    // MARK: Messages that fit no state

    func testEveryOtherLengthIsIgnoredInEveryState() throws {
        for state in 0..<4 {
            let (low, high) = SessionParty.pair(seed: UInt64(state) + 20)
            switch state {
            case 1: low.start(with: high.id)
            case 2: low.receive(try firstMessage(from: high), from: high.id)
            case 3: low.shakeHands(with: high)
            default: break
            }
            let fitting = [[32], [32, 96], [32, 64], [32]][state]
            for length in Array(0...130) + [2_047, 2_048, 2_049, 65_535] where !fitting.contains(length) {
                XCTAssertNil(low.receive([UInt8](repeating: 7, count: length), from: high.id))
                XCTAssertEqual(low.reception, .ignored, "\(length) in state \(state)")
            }
            if state == 3 { low.assertTalks(to: high) }
        }
    }

    func testUnanswerableFirstMessageChangesNothing() {
        let (low, high) = SessionParty.pair()
        low.shakeHands(with: high)
        XCTAssertNil(high.receive([UInt8](repeating: 0, count: 32), from: low.id))
        XCTAssertEqual(high.reception, .failed)
        high.assertTalks(to: low)
    }

    // MARK: A first message in an established session

    func testFormerSessionIsReadUnderButNotWrittenUnderUntilTheThirdMessage() throws {
        let (low, high) = SessionParty.pair()
        low.shakeHands(with: high)
        let underOldKeys = try XCTUnwrap(low.encrypt([1], to: high.id))
        let first = try XCTUnwrap(low.start(with: high.id), "a reconnect")
        let second = try XCTUnwrap(high.receive(first, from: low.id))
        XCTAssertNil(high.encrypt([2], to: low.id))
        XCTAssertEqual(high.decrypt(underOldKeys, from: low.id), [1])
        XCTAssertNil(high.decrypt(underOldKeys, from: low.id), "once")
        high.receive(try XCTUnwrap(low.receive(second, from: high.id)), from: low.id)
        low.assertTalks(to: high)
        XCTAssertEqual(high.establishedCount, 2)
    }

    func testInitiatorReadsUnderTheKeysItReplacesForFiveSecondsAfterTheNewOnesCount() throws {
        let (low, high) = SessionParty.pair()
        low.shakeHands(with: high)
        let messages = try (0..<4 as Range<UInt8>).map { try XCTUnwrap(high.encrypt([$0], to: low.id)) }
        let first = try XCTUnwrap(low.start(with: high.id))
        XCTAssertNil(low.encrypt([9], to: high.id), "queued until the new keys count")
        XCTAssertEqual(low.decrypt(messages[0], from: high.id), [0])
        let second = try XCTUnwrap(high.receive(first, from: low.id))
        high.receive(try XCTUnwrap(low.receive(second, from: high.id)), from: low.id)
        XCTAssertEqual(low.decrypt(messages[1], from: high.id), [1])
        low.assertTalks(to: high, "new keys first")
        low.advance(by: .milliseconds(4_900))
        XCTAssertEqual(low.decrypt(messages[2], from: high.id), [2])
        low.advance(by: .milliseconds(200))
        XCTAssertNil(low.decrypt(messages[3], from: high.id))
    }

    func testUnprovenFirstMessageIsRolledBackAfterTwentySecondsHoweverOftenItIsRepeated() throws {
        let (low, high) = SessionParty.pair()
        high.shakeHands(with: low)
        let generation = low.manager[high.id]?.session?.generation
        XCTAssertEqual(low.receive(try firstMessage(from: high), from: high.id)?.count, 96)
        low.advance(by: .seconds(12))
        XCTAssertEqual(low.receive(try firstMessage(from: high), from: high.id)?.count, 96)
        XCTAssertEqual(low.advance(by: .milliseconds(7_999)), [])
        XCTAssertFalse(low.isEstablished(with: high.id))
        let recovery = low.advance(by: .milliseconds(1))
        XCTAssertEqual(recovery.map(\.count), [32], "a restored session owns one attempt")
        // The peer has lost nothing and answers.
        let second = try XCTUnwrap(high.receive(recovery[0], from: low.id))
        high.receive(try XCTUnwrap(low.receive(second, from: high.id)), from: low.id)
        low.assertTalks(to: high)
        XCTAssertNotEqual(low.manager[high.id]?.session?.generation, generation)
    }

    func testRestoredSessionIsTheSameGenerationAndDoesNotSendBeforeANewOne() throws {
        let (low, high) = SessionParty.pair()
        high.shakeHands(with: low)
        let generation = low.manager[high.id]?.session?.generation
        low.receive(try firstMessage(from: high), from: high.id)
        low.reachable = { _ in false }
        low.advance(by: .seconds(20))
        XCTAssertEqual(low.manager[high.id]?.session?.generation, generation)
        XCTAssertTrue(low.manager.canSend(to: high.id, at: low.now), "no attempt follows, so it may go on")
        low.assertTalks(to: high)
        // For a minute no first message moves it again.
        XCTAssertNil(low.receive(try firstMessage(from: high), from: high.id))
        low.advance(by: .seconds(61))
        XCTAssertEqual(low.receive(try firstMessage(from: high), from: high.id)?.count, 96)
    }

    func testForgedThirdMessageRestoresTheSessionAtOnce() throws {
        let (low, high) = SessionParty.pair()
        low.shakeHands(with: high)
        XCTAssertEqual(high.receive(try firstMessage(from: low), from: low.id)?.count, 96)
        high.receive([UInt8](repeating: 3, count: 64), from: low.id)
        XCTAssertEqual(high.reception, .failed)
        high.assertTalks(to: low)
        XCTAssertEqual(high.advance(by: .minutes(1)), [])
    }

    // MARK: Binding of ID and key

    /// Forged messages of every length, in the name of a neighbour and over somebody else's link, while its own
    /// handshake goes on: no attempt ends and none begins.
    func testForgedMessagesFromElsewhereDisturbNoHandshakeUnderWay() throws {
        let (low, high) = SessionParty.pair()
        let forged = [32, 96, 64].map { [UInt8](repeating: 9, count: $0) }
        func attack(_ victim: SessionParty, as peer: PeerID) {
            for message in forged { XCTAssertNil(victim.receive(message, from: peer, on: 66, .elsewhere)) }
        }
        let first = try XCTUnwrap(low.start(with: high.id))
        attack(low, as: high.id)
        let second = try XCTUnwrap(high.receive(first, from: low.id))
        attack(high, as: low.id)
        let third = try XCTUnwrap(low.receive(second, from: high.id))
        high.receive(third, from: low.id)
        low.assertTalks(to: high)
        XCTAssertEqual(low.failures + high.failures, [])
    }

    func testHandshakeUnderAnotherIDEstablishesNothingAndDrawsNothing() throws {
        let (low, high) = SessionParty.pair()
        low.shakeHands(with: high)
        let mallory = SessionParty(seed: 66)
        let first = try XCTUnwrap(mallory.start(with: high.id))
        let second = try XCTUnwrap(high.receive(first, from: low.id), "in low's name")
        let third = try XCTUnwrap(mallory.receive(second, from: high.id))
        XCTAssertNil(high.receive(third, from: low.id))
        XCTAssertEqual(high.reception, .wrongIdentity)
        XCTAssertEqual(high.establishedCount, 1)
        XCTAssertEqual(high.advance(by: .minutes(2)), [])
        high.assertTalks(to: low, "the genuine session is untouched")
    }

    func testInitiatorAnswersNobodyElse() throws {
        let (low, high) = SessionParty.pair()
        let mallory = SessionParty(seed: 67)
        let first = try XCTUnwrap(low.start(with: high.id))
        let second = try XCTUnwrap(mallory.receive(first, from: low.id))
        XCTAssertNil(low.receive(second, from: high.id), "no third message")
        XCTAssertEqual(low.reception, .wrongIdentity)
        XCTAssertEqual(low.failures, [.wrongIdentity])
    }

    func testPlainResponderThatFailsStartsOnceAndAYieldingOneNot() throws {
        let (low, high) = SessionParty.pair()
        low.receive(try firstMessage(from: high), from: high.id)
        low.receive([UInt8](repeating: 3, count: 64), from: high.id)
        XCTAssertEqual(low.advance(by: .zero).map(\.count), [32])
        XCTAssertEqual(low.advance(by: .minutes(1)), [], "one attempt of its own")

        let (_, yielding) = SessionParty.pair(seed: 31)
        let other = SessionParty.pair(seed: 31).low
        yielding.start(with: other.id)
        yielding.receive(try firstMessage(from: other), from: other.id)
        yielding.receive([UInt8](repeating: 3, count: 64), from: other.id)
        XCTAssertEqual(yielding.advance(by: .milliseconds(100)), [])
        XCTAssertEqual(yielding.advance(by: .milliseconds(100)).map(\.count), [32], "it owned a retry")
        XCTAssertEqual(yielding.advance(by: .minutes(1)), [])
    }

    // MARK: Life of a session

    func testSessionsAreReplacedBeforeADayAndNeverSentInAfterIt() {
        let (low, high) = SessionParty.pair()
        low.shakeHands(with: high)
        low.advance(by: .hours(23) - .seconds(1))
        XCTAssertEqual(low.manager.expiring(at: low.now), [])
        low.advance(by: .seconds(1))
        XCTAssertEqual(low.manager.expiring(at: low.now), [high.id])
        XCTAssertNotNil(low.encrypt([1], to: high.id))
        low.advance(by: .hours(1))
        XCTAssertNil(low.encrypt([1], to: high.id))
        XCTAssertEqual(low.decrypt(high.encrypt([1], to: low.id) ?? [], from: high.id), [1], "still read under")
    }

    func testKeysAreDoubtedAfterThreeFailuresInARowAndOnceAMinute() throws {
        let (low, high) = SessionParty.pair()
        low.shakeHands(with: high)
        func fail(_ count: Int) {
            for _ in 0..<count { _ = low.decrypt([UInt8](repeating: 1, count: 30), from: high.id) }
        }
        fail(2)
        XCTAssertFalse(low.manager.takeResync(with: high.id, at: low.now))
        low.assertTalks(to: high)
        fail(2)
        XCTAssertFalse(low.manager.takeResync(with: high.id, at: low.now), "in a row")
        fail(1)
        XCTAssertTrue(low.manager.takeResync(with: high.id, at: low.now))
        fail(3)
        XCTAssertFalse(low.manager.takeResync(with: high.id, at: low.now))
        low.advance(by: .minutes(1))
        XCTAssertTrue(low.manager.takeResync(with: high.id, at: low.now))
    }

    // MARK: Bounds

    func testFullTableLosesTheSessionUnusedForLongestWithoutALink() throws {
        let box = SessionParty(seed: 1)
        var peers: [SessionParty] = []
        for seed in 0..<UInt64(NoiseSessionLimits.sessions) {
            let peer = SessionParty(seed: 10_000 + seed)
            peers.append(peer)
            (box.now, peer.now) = (box.now + .seconds(10), box.now)
            let second = try XCTUnwrap(box.receive(XCTUnwrap(peer.start(with: box.id)), from: peer.id, on: seed))
            box.receive(try XCTUnwrap(peer.receive(second, from: box.id)), from: peer.id, on: seed)
        }
        XCTAssertEqual(box.manager.count, NoiseSessionLimits.sessions)
        box.neighbours = [peers[0].id]
        let newcomer = SessionParty(seed: 5)
        XCTAssertNotNil(box.receive(try firstMessage(from: newcomer), from: newcomer.id, on: 999))
        XCTAssertEqual(box.manager.count, NoiseSessionLimits.sessions)
        XCTAssertTrue(box.isEstablished(with: peers[0].id), "has a link")
        XCTAssertFalse(box.isEstablished(with: peers[1].id))
        XCTAssertEqual(box.failures, [.evicted])
    }

    func testUnfinishedAnswersAreBoundAndTheBusiestLinkPays() throws {
        let box = SessionParty(seed: 1)
        let honest = SessionParty(seed: 2)
        let second = try XCTUnwrap(box.receive(XCTUnwrap(honest.start(with: box.id)), from: honest.id, on: 500))
        for link in 0..<4 as Range<UInt64> {
            for count in 0..<30 as Range<UInt64> {
                let stranger = SessionParty(seed: 1_000 + link * 100 + count)
                box.receive(try firstMessage(from: stranger), from: stranger.id, on: link)
            }
        }
        XCTAssertLessThanOrEqual(
            box.manager.all.count { $0.isResponding }, NoiseSessionLimits.unfinishedResponders)
        box.receive(try XCTUnwrap(honest.receive(second, from: box.id)), from: honest.id, on: 500)
        honest.assertTalks(to: box, "the quiet link's answer was kept")
    }
}

import Basics
import XCTest

@testable import Panel

final class ButtonGestureTests: XCTestCase {
    private typealias Event = ButtonGesture.Event

    /// Plays changes, each with its time in milliseconds, and returns what was reported until `end`.
    private func play(_ levels: [(Int, Bool)], until end: Int, startsPressed: Bool = false) -> [Event] {
        var gesture = ButtonGesture(isPressed: startsPressed, at: at(0))
        for (time, isPressed) in levels { gesture.edge(isPressed, at: at(time)) }
        gesture.read(gesture.isActive, at: at(end))
        return events(of: &gesture)
    }

    private func events(of gesture: inout ButtonGesture) -> [Event] {
        var events: [Event] = []
        while let event = gesture.nextEvent() { events.append(event) }
        return events
    }

    private func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    func testATapShowsTheStatus() {
        XCTAssertEqual(play([(1_000, true), (1_400, false)], until: 60_000), [.tapped])
    }

    func testFiveSecondsAndASecondPressOfASecondConfirm() {
        XCTAssertEqual(
            play([(1_000, true), (6_500, false), (8_000, true), (9_100, false)], until: 60_000),
            [
                .arming(until: at(6_000)), .armed, .awaitingConfirmation(until: at(11_500)), .confirming, .confirmed,
            ])
    }

    func testAnythingElseCancels() {
        let arming = Event.arming(until: at(6_000))
        for (levels, expected) in [
            // Let go a moment too early.
            ([(1_000, true), (5_960, false)], [arming, .cancelled]),
            // No second press.
            ([(1_000, true), (7_000, false)], [arming, .armed, .awaitingConfirmation(until: at(12_000)), .cancelled]),
            // A second press that is too short.
            (
                [(1_000, true), (7_000, false), (8_000, true), (8_900, false)],
                [arming, .armed, .awaitingConfirmation(until: at(12_000)), .confirming, .cancelled]
            ),
            // A second press that comes too late counts as a tap.
            (
                [(1_000, true), (7_000, false), (12_050, true), (12_500, false)],
                [arming, .armed, .awaitingConfirmation(until: at(12_000)), .cancelled, .tapped]
            ),
        ] as [([(Int, Bool)], [Event])] {
            XCTAssertEqual(play(levels, until: 60_000), expected)
        }
    }

    func testBouncingContactsMakeOnePress() {
        var levels: [(Int, Bool)] = []
        for bounce in 0..<10 { levels.append((1_000 + bounce, bounce.isMultiple(of: 2))) }
        levels.append((1_012, true))
        for bounce in 0..<9 { levels.append((1_300 + bounce, !bounce.isMultiple(of: 2))) }
        levels.append((1_312, false))
        XCTAssertEqual(play(levels, until: 60_000), [.tapped])
    }

    func testASpikeIsNoPress() {
        XCTAssertEqual(play([(1_000, true), (1_020, false)], until: 60_000), [])
        // Nor does a moment's loss of contact end one.
        XCTAssertEqual(
            play([(1_000, true), (3_000, false), (3_020, true), (6_500, false)], until: 7_000),
            [.arming(until: at(6_000)), .armed, .awaitingConfirmation(until: at(11_500))])
    }

    func testAButtonPressedAtTheStartIsNotListenedToUntilItIsFree() {
        XCTAssertEqual(play([], until: 600_000, startsPressed: true), [.stuck])
        XCTAssertEqual(
            play([(100_000, false), (101_000, true), (101_200, false)], until: 200_000, startsPressed: true),
            [.stuck, .freed, .tapped])
    }

    func testSomethingLyingOnTheButtonNeverWipes() {
        let events = play([(1_000, true), (100_000, false)], until: 200_000)
        XCTAssertEqual(events, [.arming(until: at(6_000)), .armed, .cancelled, .stuck, .freed])
    }

    func testAConfirmedGestureBeginsNoOther() {
        let events = play([(1_000, true), (7_000, false), (8_000, true), (60_000, false)], until: 120_000)
        XCTAssertEqual(events.filter { $0 == .confirmed }.count, 1)
        XCTAssertEqual(events.last, .freed)
    }

    func testEveryLevelAtEveryTimeWithoutTheGestureNeverConfirms() {
        // A finger that never holds for five seconds. It lets go for longer than contacts bounce.
        var random = SeededRandom(seed: 4)
        var gesture = ButtonGesture(isPressed: false, at: at(0))
        var time = 0
        var isPressed = false
        for _ in 0..<20_000 {
            time += isPressed ? Int.random(in: 1...4_900, using: &random) : Int.random(in: 40...9_000, using: &random)
            isPressed.toggle()
            gesture.edge(isPressed, at: at(time))
            while let event = gesture.nextEvent() {
                XCTAssertNotEqual(event, .confirmed)
                XCTAssertNotEqual(event, .armed)
            }
        }
    }

    // MARK: Late

    func testAReleaseBeforeTheEndOfAHoldCountsHoweverLateItIsHeardOf() {
        // Let go within the time contacts may bounce before the end: it is settled behind it, and came before.
        for early in [1, 10, 29, 30, 31, 500] {
            XCTAssertEqual(
                play([(1_000, true), (7_000, false), (8_000, true), (9_000 - early, false)], until: 60_000).last,
                .cancelled, "\(early)")
            XCTAssertEqual(play([(1_000, true), (6_000 - early, false)], until: 60_000).last, .cancelled, "\(early)")
        }
        XCTAssertTrue(
            play([(1_000, true), (7_000, false), (8_000, true), (9_000, false)], until: 60_000).contains(.confirmed))
    }

    func testWhatIsReportedDoesNotDependOnHowLateEdgesAreHeardOf() {
        var random = SeededRandom(seed: 17)
        let holds = [5, 20, 300, 980, 995, 1_005, 1_020, 4_990, 5_010, 6_000, 31_000]
        let pauses = [5, 25, 40, 400, 2_000, 4_960, 5_040, 9_000]
        var confirmed = 0
        for _ in 0..<3_000 {
            var edges: [(at: Int, isPressed: Bool)] = []
            var time = 100
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                edges.append((time, true))
                time += holds.randomElement(using: &random) ?? 5
                edges.append((time, false))
                time += pauses.randomElement(using: &random) ?? 5
            }
            time += 60_000
            let prompt = play(edges.map { ($0.at, $0.isPressed) }, until: time)
            if prompt.contains(.confirmed) { confirmed += 1 }
            // The loop comes round now and then, takes the edges there are, and looks at the level.
            var gesture = ButtonGesture(isPressed: false, at: at(0))
            var late: [Event] = []
            var next = 0
            var now = 0
            while now < time {
                let due = gesture.nextDeadline.map { Int(($0 - Instant.zero).milliseconds) } ?? time
                let stall = Int.random(in: 0...3, using: &random) == 0 ? Int.random(in: 0...8_000, using: &random) : 0
                now = min(time, max(now + 1, due) + stall)
                while next < edges.count, edges[next].at <= now {
                    gesture.edge(edges[next].isPressed, at: at(edges[next].at))
                    next += 1
                }
                gesture.read(next > 0 && edges[next - 1].isPressed, at: at(now))
                late += events(of: &gesture)
            }
            XCTAssertEqual(late, prompt, "\(edges)")
        }
        XCTAssertGreaterThan(confirmed, 50)
    }

    func testAReleaseNobodyToldTheTimeOfConfirmsNothing() {
        var gesture = ButtonGesture(isPressed: false, at: at(0))
        for (time, isPressed) in [(1_000, true), (7_000, false), (8_000, true)] {
            gesture.edge(isPressed, at: at(time))
        }
        gesture.read(true, at: at(8_500))
        XCTAssertEqual(events(of: &gesture).last, .confirming)
        gesture.read(false, at: at(12_000))
        gesture.read(false, at: at(13_000))
        XCTAssertEqual(events(of: &gesture), [.cancelled])
    }

    func testAPressNobodyToldTheTimeOfCountsFromWhenItIsSeen() {
        var gesture = ButtonGesture(isPressed: false, at: at(0))
        gesture.edge(true, at: at(1_000))
        gesture.edge(false, at: at(7_000))
        gesture.read(true, at: at(9_000))
        gesture.read(true, at: at(9_999))
        XCTAssertFalse(events(of: &gesture).contains(.confirmed))
        gesture.read(true, at: at(10_000))
        XCTAssertEqual(events(of: &gesture), [.confirmed])
    }

    func testWhereEdgesWereLostTheGestureIsGivenUp() {
        for begun in 1...3 {
            let levels = [(1_000, true), (7_000, false), (8_000, true)].prefix(begun)
            var gesture = ButtonGesture(isPressed: false, at: at(0))
            for (time, isPressed) in levels { gesture.edge(isPressed, at: at(time)) }
            gesture.read(gesture.isActive, at: at(begun == 1 ? 6_500 : 8_500))
            gesture.loseTrack()
            XCTAssertEqual(events(of: &gesture).last, .cancelled)
            gesture.read(begun != 2, at: at(12_000))
            gesture.edge(false, at: at(12_500))
            gesture.read(false, at: at(20_000))
            XCTAssertEqual(events(of: &gesture), [], "\(begun)")
            // And the next one is one again.
            gesture.edge(true, at: at(21_000))
            gesture.edge(false, at: at(21_300))
            gesture.read(false, at: at(22_000))
            XCTAssertEqual(events(of: &gesture), [.tapped])
        }
    }
}

import Basics
import XCTest

@testable import Panel

final class ButtonGestureTests: XCTestCase {
    private typealias Event = ButtonGesture.Event

    /// Plays levels, each with its time in milliseconds, and returns what was reported until `end`.
    private func play(_ levels: [(Int, Bool)], until end: Int, startsPressed: Bool = false) -> [Event] {
        var gesture = ButtonGesture(isPressed: startsPressed, at: at(0))
        for (time, isPressed) in levels { gesture.read(isPressed, at: at(time)) }
        gesture.timeout(at: at(end))
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
            gesture.read(isPressed, at: at(time))
            while let event = gesture.nextEvent() {
                XCTAssertNotEqual(event, .confirmed)
                XCTAssertNotEqual(event, .armed)
            }
        }
    }
}

import Basics
import XCTest

@testable import Panel

final class PanelSignTests: XCTestCase {
    func testNoTwoSignsOfOneLampLookAlike() {
        // A lamp that shows nothing looks the same whatever for, and only the status lamp shows wipes.
        let shown = PanelSign.allCases.filter { $0.pattern != .off }
        for (index, sign) in shown.enumerated() {
            for other in shown[(index + 1)...] { XCTAssertNotEqual(sign.pattern, other.pattern, "\(sign) \(other)") }
        }
    }

    func testNothingBlinksFasterThanTwentyTimesASecondOrSlowerThanTenSeconds() {
        for sign in PanelSign.allCases {
            for span in sign.pattern.spans { XCTAssertGreaterThanOrEqual(span, 50, "\(sign)") }
            XCTAssertLessThanOrEqual(sign.pattern.period, 10_000, "\(sign)")
            XCTAssertTrue(sign.pattern.isSteady || sign.pattern.spans.count.isMultiple(of: 2), "\(sign)")
            XCTAssertFalse(sign.meaning.isEmpty)
        }
    }

    func testTheWipeIsArmedByACountdownThatIsSeen() {
        let spans = PanelSign.wipeArming.pattern.spans
        XCTAssertTrue(zip(spans, spans.dropFirst()).allSatisfy { $0 >= $1 }, "faster and faster")
        XCTAssertLessThan(try XCTUnwrap(spans.last) * 4, try XCTUnwrap(spans.first))
        XCTAssertEqual(Int64(spans.reduce(0, +)), (PanelLimits.arm - PanelLimits.tap).milliseconds)
        XCTAssertEqual(PanelSign.wipeArming.pattern.looks, "blinks faster and faster, for 4 s")
    }

    func testAPatternAndItsNextChangesAgree() {
        for sign in PanelSign.allCases {
            let pattern = sign.pattern
            var time: Int64 = 0
            while let next = pattern.nextChange(after: time), next < 30_000 {
                XCTAssertGreaterThan(next, time)
                XCTAssertEqual(pattern.isLit(at: time), pattern.isLit(at: next - 1), "\(sign) \(time)")
                XCTAssertNotEqual(pattern.isLit(at: next - 1), pattern.isLit(at: next), "\(sign) \(next)")
                time = next
            }
        }
    }

    // MARK: State to sign

    private func state(_ change: (inout PanelState) -> Void = { _ in }) -> PanelState {
        var state = PanelState()
        state.isStarting = false
        state.isClockTrusted = true
        state.tor = .ready
        state.isMeshAlive = true
        state.isInternetAlive = true
        change(&state)
        return state
    }

    private func signs(_ state: PanelState, gesture: PanelSign? = nil) -> [PanelSign] {
        Lamp.allCases.map { PanelFace.sign(of: $0, in: state, gesture: gesture, isAlone: false) }
    }

    func testLampsShowWhatWasObserved() {
        XCTAssertEqual(signs(state()), [.well, .alive, .alive, .dark])
        XCTAssertEqual(signs(state { $0.isMeshAlive = false }), [.well, .silent, .alive, .dark])
        XCTAssertEqual(signs(state { $0.isInternetAlive = false }), [.well, .alive, .silent, .dark])
        XCTAssertEqual(signs(state { $0.isMailWaiting = true }), [.well, .alive, .alive, .mailWaiting])
        XCTAssertEqual(signs(state { $0.hasFault = true }), [.fault, .alive, .alive, .dark])
        XCTAssertEqual(signs(state { $0.isStarting = true }), [.starting, .alive, .alive, .dark])
        XCTAssertEqual(
            signs(state { $0.isClockTrusted = false }), [.waitingForTime, .alive, .waitingForTime, .dark])
        XCTAssertEqual(signs(state { $0.tor = .off }), [.well, .alive, .withoutTor, .dark])
        for (percent, sign) in [(0, PanelSign.torBeginning), (49, .torBeginning), (50, .torAlmost), (99, .torAlmost)] {
            XCTAssertEqual(signs(state { $0.tor = .connecting(percent: percent) })[2], sign)
        }
    }

    func testALoneLampShowsTheWayToTheInternetToo() {
        func lone(_ change: (inout PanelState) -> Void = { _ in }) -> PanelSign {
            PanelFace.sign(of: .status, in: state(change), gesture: nil, isAlone: true)
        }
        XCTAssertEqual(lone(), .well)
        XCTAssertEqual(lone { $0.tor = .unreachable }, .torUnreachable)
        XCTAssertEqual(lone { $0.tor = .off }, .withoutTor)
        XCTAssertEqual(lone { $0.isClockTrusted = false }, .waitingForTime)
        for tor in [PanelState.Tor.off, .ready] {
            XCTAssertEqual(lone { ($0.tor, $0.isInternetAlive) = (tor, false) }, .noRelay)
        }
    }

    func testALoneLampOfABoxThatRunsIsNeverDark() {
        for bits in 0..<32 {
            for tor in [PanelState.Tor.off, .unreachable, .connecting(percent: 0), .connecting(percent: 99), .ready] {
                let state = state {
                    $0.tor = tor
                    $0.isClockTrusted = bits & 1 == 0
                    $0.isMeshAlive = bits & 2 == 0
                    $0.isInternetAlive = bits & 4 == 0
                    $0.isMailWaiting = bits & 8 == 0
                    $0.hasFault = bits & 16 == 0
                }
                let sign = PanelFace.sign(of: .status, in: state, gesture: nil, isAlone: true)
                XCTAssertFalse(sign.pattern.spans.isEmpty, "\(sign) \(state)")
                XCTAssertFalse(sign.pattern.isSteady, "\(sign): a daemon that hangs would look the same")
            }
        }
    }

    func testAWipeGoesBeforeEverything() {
        for (wipe, sign) in [
            (PanelState.Wipe.wiping, PanelSign.wiping), (.wiped, .wiped), (.failed, .wipeFailed),
        ] {
            let all = signs(
                state {
                    $0.wipe = wipe
                    $0.hasFault = true
                    $0.isMailWaiting = true
                })
            XCTAssertEqual(all, [sign, .dark, .dark, .dark])
        }
        XCTAssertEqual(signs(state { $0.wipe = .failed }, gesture: .wipeArmed)[0], .wipeArmed, "it may be tried again")
        XCTAssertEqual(signs(state { $0.wipe = .wiping }, gesture: .wipeArmed)[0], .wiping)
    }

    func testLinesAreNamedByLabelOrNameAndNeverByNumber() {
        XCTAssertEqual(LineAddress("GPIO17")?.place, .named("GPIO17"))
        XCTAssertEqual(LineAddress("pinctrl-bcm2711:17")?.place, .offset(17, chip: "pinctrl-bcm2711"))
        XCTAssertEqual(LineAddress("raspberrypi,firmware-gpio:2")?.place, .offset(2, chip: "raspberrypi,firmware-gpio"))
        for wrong in ["", "gpiochip0:17", "0:17", ":17", "chip:", "chip:-1", "chip:99999", "a b", "a\"b"] {
            XCTAssertNil(LineAddress(wrong), wrong)
        }
    }
}

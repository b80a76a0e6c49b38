import Basics
import Panel
import Uplink
import XCTest

@testable import Station

/// From what was observed to what is shown.
final class PanelProofTests: XCTestCase {
    private let now = Instant.zero + .hours(1)

    private func state(_ change: (inout PanelProof) -> Void = { _ in }) -> PanelState {
        var proof = PanelProof(started: .zero)
        proof.isClockTrusted = true
        proof.tor = (.ready, 100)
        proof.isRelayConnected = true
        proof.lastRadio = now - .minutes(1)
        proof.lastFrame = now - .seconds(10)
        change(&proof)
        return PanelState(proof, at: now)
    }

    private func sign(_ lamp: Lamp, _ state: PanelState, isAlone: Bool = false) -> PanelSign {
        PanelFace.sign(of: lamp, in: state, gesture: nil, isAlone: isAlone)
    }

    func testABoxThatWorksIsShownSo() {
        XCTAssertEqual(Lamp.allCases.map { sign($0, state()) }, [.well, .alive, .alive, .dark])
        XCTAssertEqual(sign(.mail, state { $0.isMailWaiting = true }), .mailWaiting)
    }

    func testAMeshIsAliveOnlyWhileFramesCome() {
        XCTAssertEqual(sign(.mesh, state { $0.lastFrame = nil }), .silent)
        XCTAssertEqual(sign(.mesh, state { $0.lastFrame = self.now - .seconds(89) }), .alive)
        XCTAssertEqual(sign(.mesh, state { $0.lastFrame = self.now - .seconds(90) }), .silent)
    }

    func testTheInternetIsAliveOnlyWhileARelayAnswers() {
        XCTAssertEqual(sign(.internet, state { $0.isRelayConnected = false }), .silent)
        XCTAssertEqual(sign(.internet, state { $0.tor = nil }), .withoutTor)
        XCTAssertEqual(sign(.internet, state { ($0.tor, $0.isRelayConnected) = (nil, false) }), .silent)
    }

    func testEveryStageOfTorHasItsSignAndNoneLooksReadyButReady() {
        let expected: [TorStage: PanelSign] = [
            .waitingForTime: .torBeginning, .starting: .torBeginning, .unreachable: .torUnreachable,
            .clockSkew: .torUnreachable, .stalled: .torUnreachable, .proving: .torAlmost, .degraded: .torAlmost,
            .ready: .alive,
        ]
        for stage in TorStage.allCases where stage != .bootstrapping {
            XCTAssertEqual(sign(.internet, state { $0.tor = (stage, 100) }), expected[stage], stage.rawValue)
        }
        for (percent, sign) in [
            (-1, PanelSign.torBeginning), (0, .torBeginning), (49, .torBeginning), (50, .torAlmost), (100, .torAlmost),
        ] {
            XCTAssertEqual(self.sign(.internet, state { $0.tor = (.bootstrapping, percent) }), sign, "\(percent)")
        }
    }

    func testWithoutATrustedClockTheBoxWaitsForTime() {
        let waiting = state { $0.isClockTrusted = false }
        XCTAssertEqual(sign(.status, waiting), .waitingForTime)
        XCTAssertEqual(sign(.internet, waiting), .waitingForTime)
    }

    func testARadioThatComesLateIsAStartAndOneThatDoesNotComeIsAFault() {
        func at(_ seconds: Int) -> PanelState {
            state {
                $0.started = self.now - .seconds(seconds)
                $0.lastRadio = nil
                $0.needsRepair = true
            }
        }
        XCTAssertEqual(sign(.status, at(29)), .starting)
        XCTAssertEqual(sign(.status, at(30)), .fault)
        XCTAssertEqual(sign(.status, state { $0.needsRepair = true }), .fault)
    }

    /// A controller that is being set up for the third time has no complaint yet.
    func testARadioThatWasNeverSeenToWorkOrNotLatelyIsAFaultThoughNobodyComplains() {
        func at(_ seconds: Int) -> PanelState {
            state {
                $0.started = self.now - .seconds(seconds)
                $0.lastRadio = nil
            }
        }
        XCTAssertEqual(sign(.status, at(29)), .starting)
        XCTAssertEqual(sign(.status, at(31)), .fault)
        XCTAssertEqual(sign(.status, state { $0.lastRadio = self.now - .seconds(599) }), .well)
        XCTAssertEqual(sign(.status, state { $0.lastRadio = self.now - .seconds(600) }), .fault)
        XCTAssertLessThan(PanelState.Limits.radioSilence, SupervisionLimits.radioSilence)
        // Absent or switched off: that has a complaint of its own.
        XCTAssertEqual(sign(.status, state { ($0.lastRadio, $0.isRadioExpected) = (nil, false) }), .well)
    }

    func testAButtonThatNobodyListensToIsAFault() throws {
        XCTAssertEqual(sign(.status, state { $0.isButtonDeaf = true }), .fault)
        let line = try XCTUnwrap(LineAddress("GPIO24"))
        XCTAssertTrue(PanelReport.Button.stuck.isDeaf)
        XCTAssertTrue(PanelReport.Button.missing(.failed(line, "why")).isDeaf)
        for button in [PanelReport.Button.none, .listening, .missing(nil)] { XCTAssertFalse(button.isDeaf) }
    }

    func testAWipeGoesBeforeEverything() {
        for (wipe, expected) in [
            (WipeReport.State.wiping, PanelSign.wiping), (.wiped, .wiped), (.incomplete, .wipeFailed),
        ] {
            let state = state {
                $0.wipe = wipe
                $0.needsRepair = true
            }
            XCTAssertEqual(Lamp.allCases.map { sign($0, state) }, [expected, .dark, .dark, .dark])
        }
    }
}

import Basics
import Nostr
import Wire
import XCTest

@testable import Station

/// Whole boxes with wrong clocks: nothing is published with a wrong time, the mesh works on, and all is well again
/// without a restart (chapter 03 A13.7, chapter 05 §18 trap 18).
final class ClockScenarioTests: XCTestCase {
    /// 1970, two years back, ten years ahead, a zone ahead.
    private let wrongClocks: [Interval] = [
        .seconds(-1_780_271_990), .hours(-2 * 8_766), .hours(10 * 8_766), .hours(2),
    ]

    /// Two people beside each other only through the box.
    private func talk(_ rig: ClockRig, _ a: Person, _ b: Person, _ text: String) -> Bool {
        a.peer.enter(text)
        rig.advance(.seconds(3))
        return b.heard(text).count == 1
    }

    func testWithAWrongClockTheBoxRelaysAndSaysNothingItself() throws {
        for error in wrongClocks {
            let rig = ClockRig(error: error)
            let (anna, bert) = (try rig.person("anna"), try rig.person("bert"))
            rig.advance(.seconds(20))
            XCTAssertEqual(rig.source, .lastKnown, "\(error)")
            XCTAssertFalse(rig.service.standing.isGoodForMesh)
            XCTAssertEqual(rig.switchboard.mesh.counts[.announcesSent], 0)
            XCTAssertFalse(rig.mail.isOn || rig.mail.isUsingRelays, "nobody can tell which letters have expired")
            XCTAssertGreaterThan(rig.switchboard.mesh.degree, 0, "it hears them")
            XCTAssertTrue(talk(rig, anna, bert, "through the box \(error.seconds)"))
        }
    }

    func testThreePeersSetTheMeshGoingAndNothingElse() throws {
        for error in wrongClocks {
            let rig = ClockRig(error: error, relays: 4, isDirect: false)
            let people = try ["anna", "bert", "cleo"].map { try rig.person($0) }
            rig.advance(.seconds(30))
            XCTAssertEqual(rig.source, .mesh, "\(error)")
            XCTAssertLessThan(abs(rig.error.seconds), 5)
            XCTAssertGreaterThan(rig.switchboard.mesh.counts[.announcesSent], 0)
            XCTAssertTrue(people[0].peer.people.names.contains("box"), "\(people[0].peer.people.names)")
            XCTAssertEqual(rig.advertised, [])
            XCTAssertEqual(rig.relays.dials, 0)
            XCTAssertTrue(rig.mail.isOn && !rig.mail.isUsingRelays, "letters go from hand to hand")
            XCTAssertTrue(talk(rig, people[0], people[2], "on time"))
        }
    }

    func testRelaysTellTheTimeBeforeAnythingIsPublishedToThem() throws {
        for error in wrongClocks {
            let rig = ClockRig(error: error, relays: 4)
            rig.advance(.seconds(30))
            XCTAssertEqual(rig.source, .relays, "\(error)")
            XCTAssertLessThan(abs(rig.error.seconds), 3)
            XCTAssertEqual(rig.advertised, [.gateway, .bridge])
            XCTAssertTrue(rig.mail.isUsingRelays)
            XCTAssertFalse(rig.relays.published.isEmpty, "the bridge's presence")
            rig.checkPublished()
        }
    }

    func testOneLyingRelayAmongFourAndOneLyingPeerAmongFour() throws {
        for lie in [Interval.hours(3), .hours(-3), .hours(90_000)] {
            let rig = ClockRig(error: .hours(-500), relays: 4)
            rig.relays[1].clockError = lie
            try rig.person("liar", clockError: lie)
            for name in ["anna", "bert", "cleo"] { try rig.person(name) }
            rig.advance(.minutes(2))
            XCTAssertEqual(rig.source, .relays)
            XCTAssertLessThan(abs(rig.error.seconds), 3, "\(lie)")
            rig.checkPublished()
        }
    }

    func testLyingRelaysThatAnswerFirstAreFoundOutAndNothingIsPublishedMeanwhile() throws {
        let rig = ClockRig(error: .hours(-500), relays: 4)
        for number in 1...2 { rig.relays[number].clockError = .hours(number * 5) }
        for number in 3...4 { rig.relays[number].isReachable = false }
        rig.advance(.minutes(1))
        XCTAssertEqual(rig.source, .lastKnown, "the two disagree")
        XCTAssertTrue(rig.relays.published.isEmpty)
        for number in 3...4 { rig.relays[number].isReachable = true }
        rig.relays[2].clockError = .zero
        rig.advance(.minutes(10))
        XCTAssertEqual(rig.source, .relays)
        XCTAssertLessThan(abs(rig.error.seconds), 3)
        rig.checkPublished()
    }

    func testRelaysWithoutADateAreListenedTo() throws {
        let rig = ClockRig(error: .hours(-500), relays: 1)
        rig.relays[1].clockError = nil
        rig.advance(.seconds(2))
        XCTAssertEqual(rig.relays[1].requests.count, 1)
        var random = SeededRandom(seed: 3)
        for _ in 0..<3 {
            let event = try XCTUnwrap(
                VerifiedEvent.signed(
                    kind: 1, tags: [], content: "", createdAt: rig.truth.unixSeconds,
                    key: .generate(using: &random), using: &random))
            rig.relays[1].tell("[\"EVENT\",\"now\",\(String(decoding: event.event.json(), as: UTF8.self))]")
            rig.advance(.seconds(1))
        }
        XCTAssertEqual(rig.source, .relays)
        XCTAssertLessThan(abs(rig.error.seconds), 3)
        rig.advance(.seconds(30))
        rig.checkPublished()
    }

    func testMeshTimeComesFirstAndPublishingWaitsForRelays() throws {
        let rig = ClockRig(error: .hours(-500), relays: 4)
        for number in 1...4 { rig.relays[number].isReachable = false }
        for name in ["anna", "bert", "cleo"] { try rig.person(name) }
        rig.advance(.minutes(1))
        XCTAssertEqual(rig.source, .mesh)
        XCTAssertEqual(rig.advertised, [])
        for number in 1...4 { rig.relays[number].isReachable = true }
        rig.advance(.minutes(10))
        XCTAssertEqual(rig.source, .relays)
        XCTAssertEqual(rig.advertised, [.gateway, .bridge])
        rig.checkPublished()
    }

    func testNTPStepsTwoHoursBackAndTheBoxWorksOn() throws {
        // The board's clock keeps local time, and the configuration vouched for it: wrongly.
        for vouched in [true, false] {
            let rig = ClockRig(error: .hours(2), relays: 1, trustsSystem: vouched)
            if !vouched { rig.relays[1].clockError = nil }
            let (anna, bert) = (try rig.person("anna"), try rig.person("bert"))
            rig.advance(.minutes(5))
            let before = rig.relays.published.count
            rig.step(to: .zero, isSynchronised: true)
            rig.advance(.minutes(1))
            XCTAssertEqual(rig.source, .synchronised)
            XCTAssertLessThan(abs(rig.error.seconds), 1)
            XCTAssertTrue(talk(rig, anna, bert, "still here"))
            XCTAssertTrue(anna.peer.people.names.contains("box"))
            // Dated right, whatever came before.
            for (text, at) in rig.relays.published.suffix(from: min(before, rig.relays.published.count)) {
                XCTAssertTrue(text.contains("\"created_at\":\(at.unixSeconds / 100)"), text)
            }
        }
    }

    func testAStepTwoHoursBackThatNobodyVouchesForIsNotFollowed() throws {
        let rig = ClockRig(error: .zero, relays: 4, isSynchronised: true)
        let (anna, bert) = (try rig.person("anna"), try rig.person("bert"))
        rig.advance(.minutes(15))
        XCTAssertEqual(rig.source, .synchronised)
        XCTAssertEqual(rig.saved.count, 1)
        rig.step(to: .hours(-2), isSynchronised: false)
        rig.advance(.minutes(2))
        XCTAssertEqual(rig.source, .relays, "they are asked at once")
        XCTAssertLessThan(abs(rig.error.seconds), 3)
        XCTAssertTrue(talk(rig, anna, bert, "all the same"))
        rig.checkPublished()
    }

    func testBelowTheLastKnownTimeOnlyTheOperatorLeads() throws {
        let rig = ClockRig(
            error: .zero, relays: 1, isSynchronised: true,
            lastKnown: WallTime(milliseconds: ClockRig.start.milliseconds + 7_200_000))
        let (anna, bert) = (try rig.person("anna"), try rig.person("bert"))
        rig.advance(.minutes(5))
        XCTAssertEqual(rig.source, .lastKnown)
        XCTAssertEqual(rig.service.clock.heldBack, .synchronised)
        XCTAssertTrue(rig.relays.published.isEmpty)
        XCTAssertTrue(talk(rig, anna, bert, "meanwhile"))
        rig.service.accept()
        rig.advance(.minutes(1))
        XCTAssertEqual(rig.source, .synchronised)
        XCTAssertEqual(rig.advertised, [.gateway, .bridge])
        rig.checkPublished()
    }

    func testASuspendedMachineWakesOnTime() throws {
        let rig = ClockRig(error: .hours(-500), relays: 2)
        rig.advance(.minutes(1))
        XCTAssertEqual(rig.source, .relays)
        rig.suspend(.hours(9))
        XCTAssertLessThan(abs(rig.error.seconds), 3, "at once, before anything has run")
        let anna = try rig.person("anna")
        rig.advance(.minutes(2))
        XCTAssertTrue(anna.peer.people.names.contains("box"))
        XCTAssertEqual(rig.service.clock.systemSteps, 0, "sleep is no step")
        rig.checkPublished()
    }

    func testTheLastKnownTimeIsWrittenSeldom() {
        let rig = ClockRig(error: .zero, isSynchronised: true)
        rig.advance(.minutes(9))
        XCTAssertEqual(rig.saved.count, 0)
        rig.advance(.hours(24))
        XCTAssertEqual(rig.saved.count, 24)
        for (earlier, later) in zip(rig.saved, rig.saved.dropFirst()) { XCTAssertLessThan(earlier, later) }
    }
}

import XCTest

@testable import Station

/// The order in which what is dated is laid down and taken up when the time changes.
final class ClockStepTests: XCTestCase {
    private func standing(_ source: ClockSource, _ offset: ClockOffset = 0, mesh: Bool? = nil) -> ClockStanding {
        ClockStanding(offset: offset, source: source, isGoodForMesh: mesh ?? source.isProven)
    }

    private func steps(_ old: ClockStanding, _ new: ClockStanding) -> [ClockStep] {
        ClockStep.steps(from: old, to: new)
    }

    func testTimeBecomesKnown() {
        XCTAssertEqual(
            steps(standing(.lastKnown), standing(.mesh, 900_000)), [.shift(to: 900_000), .askRelays, .wakeMesh])
        XCTAssertEqual(
            steps(standing(.mesh, 900_000), standing(.relays, 901_000)),
            [
                .shift(to: 901_000), .openRelays, .offerGateway,
            ])
        XCTAssertEqual(
            steps(standing(.lastKnown), standing(.synchronised, 900_000)),
            [
                .shift(to: 900_000), .askRelays, .wakeMesh, .openRelays, .offerGateway,
            ])
    }

    func testTimeIsLostWithoutAJump() {
        XCTAssertEqual(
            steps(standing(.relays), standing(.mesh, 500)),
            [
                .closeRelays, .withdrawGateway, .shift(to: 500),
            ])
        // The withdrawal is dated rightly still, so it goes out before the mesh falls silent.
        XCTAssertEqual(
            steps(standing(.relays), standing(.lastKnown)),
            [
                .closeRelays, .withdrawGateway, .silenceMesh,
            ])
    }

    func testNothingThatDatesIsUpWhileTheClockJumps() {
        XCTAssertEqual(
            steps(standing(.synchronised), standing(.synchronised, -7_200_000)),
            [
                .closeRelays, .silenceMesh, .withdrawGateway, .shift(to: -7_200_000), .wakeMesh, .openRelays,
                .offerGateway,
            ])
        XCTAssertEqual(
            steps(standing(.mesh), standing(.mesh, 20_000)),
            [
                .silenceMesh, .shift(to: 20_000), .wakeMesh,
            ])
    }

    func testACorrectionOfThePaceDisturbsNothing() {
        XCTAssertEqual(steps(standing(.synchronised), standing(.synchronised, 3)), [.shift(to: 3)])
        XCTAssertEqual(steps(standing(.relays), standing(.synchronised, -9_000)), [.shift(to: -9_000)])
    }

    func testEveryWayFromOneStandingToAnotherKeepsTheRules() {
        let standings = ClockSource.allCases.flatMap { source in
            [0, 5_000, 7_200_000, -7_200_000].flatMap { offset in
                (source == .lastKnown ? [true, false] : [true]).map { standing(source, offset, mesh: $0) }
            }
        }
        for old in standings {
            for new in standings {
                var publishes = old.source.isTrusted
                var offers = publishes
                var speaks = old.isGoodForMesh
                var asks = old.source.isProven
                var offset = old.offset
                for step in steps(old, new) {
                    switch step {
                    case .closeRelays: publishes = false
                    case .withdrawGateway: offers = false
                    case .silenceMesh: speaks = false
                    case .askRelays: asks = true
                    case .wakeMesh: speaks = true
                    case .openRelays: publishes = true
                    case .offerGateway: offers = true
                    case .shift(let next):
                        if abs(next - offset) > ClockLimits.step { XCTAssertFalse(publishes || offers || speaks) }
                        offset = next
                    }
                    if step == .offerGateway { XCTAssertTrue(publishes && speaks) }
                    XCTAssertFalse(publishes && !asks, "\(old) \(new)")
                }
                XCTAssertEqual(
                    [publishes, offers, speaks, asks || !new.source.isProven],
                    [new.source.isTrusted, new.source.isTrusted, new.isGoodForMesh, true],
                    "\(old) \(new)")
                XCTAssertEqual(offset, new.offset)
            }
        }
    }
}

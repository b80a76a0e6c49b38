import Gateway
import XCTest

@testable import Simulation

/// Nothing doubled, nothing starved, each counted.
final class HostileMailSimulationTests: XCTestCase {
    private static let outcome = HostileMail(seed: 4).play()
    private var outcome: HostileMail.Outcome { HostileMailSimulationTests.outcome }

    func testNoLetterIsShownTwiceAndNoQuotaOrBudgetIsExceeded() {
        XCTAssertEqual(outcome.violations, [])
        XCTAssertTrue(outcome.shown.values.allSatisfy { $0 == 1 })
    }

    func testNobodysLettersStarve() {
        for letter in 0..<6 { XCTAssertEqual(outcome.shown[letter], 1, "letter \(letter)") }
        let ofTheBusy = outcome.shown.keys.count { $0 >= 6 }
        XCTAssertGreaterThanOrEqual(ofTheBusy, 8, "what a box takes of one depositor")
    }

    func testEachAttackIsCounted() {
        XCTAssertGreaterThan(outcome.recorded, 0)
        for reason in [
            CourierOutcome.depositUnproven, .depositKnown, .depositorQuota, .dropRepeated, .dropExpired,
            .dropMislabelled, .handedOver, .dropDelivered,
        ] {
            XCTAssertGreaterThan(outcome.counts[reason] ?? 0, 0, reason.rawValue)
        }
        XCTAssertEqual(outcome.counts[.verifiedFull], 0, "nobody is refused for want of room")
        // Forged: twenty unsigned and twenty wrongly signed, at least.
        XCTAssertGreaterThanOrEqual(outcome.counts[.depositUnproven] ?? 0, 40)
    }
}

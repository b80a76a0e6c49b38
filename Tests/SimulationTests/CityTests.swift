import Basics
import XCTest

@testable import Simulation

/// A small city for two hours: three venues, sixty phones.
final class CityTests: XCTestCase {
    private static let setting = CitySetting(venues: 3, phones: 60, span: .hours(2), seed: 7)
    private static let outcomes = CityMeans.allCases.map { City.play(setting, $0) }

    func testNoLetterArrivesTwiceAndNoQuotaOrBudgetIsExceededWhateverTheMeans() {
        for outcome in CityTests.outcomes {
            XCTAssertEqual(outcome.violations, [], outcome.means.rawValue)
            XCTAssertEqual(outcome.letters, 180)
            XCTAssertLessThanOrEqual(outcome.busiestHour, CityOutcome.floodBudget)
        }
    }

    func testEachMeansHelps() {
        let shares = CityTests.outcomes.map(\.share)
        XCTAssertGreaterThan(shares[0], 0)
        XCTAssertGreaterThan(shares[1], shares[0])
        XCTAssertGreaterThanOrEqual(shares[2], shares[1])
        XCTAssertGreaterThan(shares[3], shares[1])
        XCTAssertGreaterThanOrEqual(shares[3], shares[2])
    }

    func testTheSameSeedGivesTheSameDay() {
        let (one, two) = (CityTests.outcomes[3], City.play(CityTests.setting, .gateways))
        XCTAssertEqual(one.delays, two.delays)
        XCTAssertEqual(one.handed, two.handed)
        XCTAssertEqual(one.floods, two.floods)
    }

    func testALetterParkedAtRelaysReachesAnotherVenue() {
        var plan = CityPlan(phones: 3, venues: 2, span: .hours(3))
        plan.visits = [
            CityPlan.Visit(phone: 0, venue: 0, from: .minutes(1), to: .minutes(60)),
            CityPlan.Visit(phone: 1, venue: 1, from: .minutes(90), to: .minutes(150)),
        ]
        plan.letters = [CityPlan.Letter(from: 0, to: 1, at: .minutes(10))]
        // The apps try a drop once, and the link of whoever has just come is not proven yet.
        for (means, count) in [(CityMeans.meeting, 0), (.phones, 0), (.apps, 0), (.gateways, 1)] {
            let city = City(plan, means: means, seed: 3)
            city.run(until: plan.span)
            XCTAssertEqual(city.outcome.delivered, count, means.rawValue)
            XCTAssertEqual(city.outcome.violations, [])
        }
    }

    /// Two venues packet by packet: the coarse picture may neither flatter nor cheat.
    func testTheCoarseCityDeliversWhatRealMeshNodesDeliver() {
        let plan = CityPlan(CitySetting(venues: 2, phones: 12, span: .hours(1), seed: 11))
        for means in [CityMeans.phones, .gateways] {
            let coarse = City(plan, means: means, seed: 11)
            coarse.run(until: plan.span)
            let real = PacketCity(plan, means: means, seed: 11).play()
            XCTAssertEqual(real.violations, [], means.rawValue)
            let (a, b) = (Set(coarse.outcome.delays.keys), Set(real.delays.keys))
            XCTAssertLessThanOrEqual(
                a.symmetricDifference(b).count, plan.letters.count / 10,
                "\(means.rawValue): \(a.count) coarse, \(b.count) real, of \(plan.letters.count)")
        }
    }

    func testACheckThatIsBrokenSaysSo() {
        var check = CityCheck()
        check.shown(1, to: 2, addressee: 2, at: .zero)
        check.shown(1, to: 2, addressee: 2, at: .zero)
        check.shown(2, to: 3, addressee: 2, at: .zero)
        check.flooded(CityOutcome.floodBudget + 1, by: 1, at: .zero)
        XCTAssertEqual(check.violations.count, 3)
    }
}

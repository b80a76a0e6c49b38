import Basics
import Wire
import XCTest

@testable import Station

/// Decision: mesh time is the running time plus an offset with a source; chapter 03 A13.7.
final class MeshClockTests: XCTestCase {
    /// 2026-06-01.
    private let truth: UInt64 = 1_780_272_000_000
    private let boot = Instant(nanoseconds: 1_000_000_000)
    private let hour: Int64 = 3_600_000

    private func wall(_ shift: Int64 = 0) -> WallTime { WallTime(milliseconds: UInt64(Int64(truth) + shift)) }
    private func later(_ span: Interval) -> Instant { boot + span }
    private func system(_ shift: Int64 = 0, synchronised: Bool = false) -> MeshClock.SystemReading {
        MeshClock.SystemReading(wall: wall(shift), isSynchronised: synchronised)
    }
    private func clock(
        _ shift: Int64 = 0, synchronised: Bool = false, trusts: Bool = false, lastKnown: WallTime? = nil
    ) -> MeshClock {
        MeshClock(
            trustsSystem: trusts, lastKnown: lastKnown, system: system(shift, synchronised: synchronised), at: boot)
    }
    private func peer(_ number: UInt64) -> PeerID { PeerID(value: number) }
    private func link(_ number: UInt64) -> LinkID { LinkID(value: number) }
    /// How far mesh time is from the truth, milliseconds.
    private func deviation(_ clock: MeshClock, at running: Instant) -> Int64 {
        Int64(clock.wall(at: running).milliseconds) - Int64(truth) - (running - boot).milliseconds
    }

    private func hear(
        _ clock: inout MeshClock, _ votes: [(peer: UInt64, link: UInt64, shift: Int64)], at span: Interval
    ) {
        for vote in votes {
            clock.heard(
                wall(vote.shift + span.milliseconds), of: peer(vote.peer), on: link(vote.link), at: later(span))
        }
    }

    // MARK: Sources

    func testTheKernelsWordIsEnough() {
        let clock = clock(synchronised: true)
        XCTAssertEqual(clock.source, .synchronised)
        XCTAssertEqual(deviation(clock, at: later(.seconds(100))), 0)
        XCTAssertEqual(clock.error(at: boot), 1_000)
    }

    func testTheConfigurationVouchesButNotForATimeBeforeTheRelease() {
        XCTAssertEqual(clock(trusts: true).source, .configured)
        let at1970 = MeshClock(
            trustsSystem: true, lastKnown: nil,
            system: MeshClock.SystemReading(wall: WallTime(milliseconds: 5_000), isSynchronised: true), at: boot)
        XCTAssertEqual(at1970.source, .lastKnown)
        XCTAssertEqual(at1970.wall(at: boot), ClockLimits.floor)
        XCTAssertFalse(at1970.isGoodForMesh)
    }

    func testTheOrderOfSources() {
        XCTAssertEqual(
            ClockSource.allCases.sorted(), [.lastKnown, .mesh, .set, .relays, .configured, .synchronised])
        XCTAssertEqual(ClockSource.allCases.filter(\.isTrusted), [.set, .relays, .configured, .synchronised])
        XCTAssertEqual(ClockSource.allCases.filter { !$0.isProven }, [.lastKnown])
    }

    func testTimeGoesOnWhileNobodyVouches() {
        var clock = clock(-10 * hour)
        let start = clock.wall(at: boot)
        clock.look(at: system(-10 * hour + 60_000), later(.seconds(60)))
        XCTAssertEqual(clock.wall(at: later(.seconds(60))).milliseconds, start.milliseconds + 60_000)

        // From the floor on, too, where the system stands before it.
        let early = MeshClock.SystemReading(wall: WallTime(milliseconds: 0), isSynchronised: false)
        var old = MeshClock(trustsSystem: false, lastKnown: wall(), system: early, at: boot)
        XCTAssertEqual(old.wall(at: boot), wall())
        old.look(at: early, later(.seconds(60)))
        XCTAssertEqual(old.wall(at: later(.seconds(60))), wall(60_000))
    }

    // MARK: Peers

    func testThreePeersWhoAgreeAreATimeForTheMeshOnly() {
        var clock = clock(-20 * hour)
        hear(&clock, [(1, 1, 0), (2, 2, 4_000)], at: .seconds(1))
        XCTAssertEqual(clock.source, .lastKnown)
        hear(&clock, [(3, 3, 9_000)], at: .seconds(2))
        XCTAssertEqual(clock.source, .mesh)
        XCTAssertEqual(deviation(clock, at: later(.seconds(2))), 4_000)
        XCTAssertTrue(clock.isGoodForMesh)
        XCTAssertFalse(clock.source.isTrusted)
        XCTAssertTrue(clock.source.isProven)
    }

    func testPeersWhoDisagreeByMoreThanTenSecondsAreNoTime() {
        var clock = clock(-20 * hour)
        hear(&clock, [(1, 1, 0), (2, 2, 5_500), (3, 3, 10_500)], at: .seconds(1))
        XCTAssertEqual(clock.source, .lastKnown)
    }

    func testOneLyingPeerAmongFourIsOutvoted() {
        for lie in [-2 * hour, 2 * hour, 87_600 * hour] {
            var clock = clock(-20 * hour)
            hear(&clock, [(9, 9, lie), (1, 1, 0), (2, 2, 1_000), (3, 3, 2_000)], at: .seconds(1))
            XCTAssertEqual(clock.source, .mesh)
            XCTAssertEqual(deviation(clock, at: later(.seconds(1))), 1_000, "\(lie)")
        }
    }

    func testOneNeighbourWithManyNamesDoesNotOutvoteThreeHonestOnes() {
        var clock = clock(-20 * hour)
        hear(&clock, (100..<160).map { ($0, 9, 2 * hour) }, at: .seconds(1))
        hear(&clock, [(1, 1, 0), (2, 2, 1_000), (3, 3, 2_000)], at: .seconds(2))
        // Three against three: no time is better than a wrong one.
        XCTAssertEqual(clock.source, .lastKnown)
        XCTAssertFalse(clock.isGoodForMesh)
        hear(&clock, [(4, 4, 0)], at: .seconds(3))
        XCTAssertEqual(clock.source, .mesh)
        XCTAssertLessThan(abs(deviation(clock, at: later(.seconds(3)))), 3_000)
    }

    func testVotesLeaveWithTheirLink() {
        var clock = clock(-20 * hour)
        hear(&clock, [(1, 1, 2 * hour), (2, 1, 2 * hour)], at: .seconds(1))
        clock.lost(link(1), at: later(.seconds(1)))
        hear(&clock, [(3, 2, 2 * hour)], at: .seconds(2))
        XCTAssertEqual(clock.source, .lastKnown)
    }

    func testSamplesAgeForwardAndAnnouncesOfBeforeSayNothing() {
        var clock = clock(-20 * hour)
        hear(&clock, [(1, 1, 0)], at: .seconds(1))
        // A replay of what peer 1 said: older than what is known of it.
        clock.heard(wall(-hour), of: peer(1), on: link(1), at: later(.seconds(200)))
        hear(&clock, [(2, 2, 0)], at: .seconds(200))
        hear(&clock, [(3, 3, 0)], at: .seconds(400))
        XCTAssertEqual(clock.source, .mesh)
        XCTAssertEqual(deviation(clock, at: later(.seconds(400))), 0)
    }

    func testMeshTimeGoesWhenPeersContradictIt() {
        var clock = clock(-20 * hour)
        hear(&clock, [(1, 1, 2 * hour), (2, 2, 2 * hour), (3, 3, 2 * hour)], at: .seconds(1))
        XCTAssertEqual(clock.source, .mesh)
        for number in 1...3 as ClosedRange<UInt64> { clock.lost(link(number), at: later(.seconds(2))) }
        clock.look(at: system(-20 * hour + 3_000), later(.seconds(3)))
        XCTAssertEqual(clock.source, .mesh, "held while nobody contradicts")
        hear(&clock, [(4, 4, 0), (5, 5, 0)], at: .seconds(4))
        XCTAssertEqual(clock.source, .lastKnown)
        hear(&clock, [(6, 6, 0)], at: .seconds(5))
        XCTAssertEqual(clock.source, .mesh)
        XCTAssertEqual(deviation(clock, at: later(.seconds(5))), 0)
    }

    func testAtLastKnownTheBoxSpeaksWhereItsStampsAreAccepted() {
        var clock = clock()
        XCTAssertFalse(clock.isGoodForMesh)
        hear(&clock, [(1, 1, 30_000)], at: .seconds(1))
        XCTAssertEqual(clock.source, .lastKnown)
        XCTAssertTrue(clock.isGoodForMesh)
        hear(&clock, [(2, 2, 2 * hour)], at: .seconds(2))
        XCTAssertFalse(clock.isGoodForMesh, "one accepts them, one does not")
    }

    func testPeersAreBounded() {
        var clock = clock(-20 * hour)
        for number in 0..<5_000 as Range<UInt64> { hear(&clock, [(number, number / 50, 0)], at: .seconds(1)) }
        XCTAssertEqual(clock.source, .mesh)
    }

    // MARK: Relays

    private func date(_ clock: inout MeshClock, _ relay: String, _ shift: Int64, at span: Interval) {
        // Whole seconds, written in the middle between question and answer.
        clock.heard(
            date: wall(shift + span.milliseconds - 500), of: relay, asked: later(span) - .milliseconds(200),
            at: later(span))
    }

    func testTwoRelaysWhoAgreeAreEnoughAndOneIsWhereThereIsOnlyOne() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a", "b", "0", "1", "2", "3"], at: boot)
        date(&clock, "a", 0, at: .seconds(1))
        XCTAssertEqual(clock.source, .lastKnown)
        date(&clock, "b", 2_000, at: .seconds(2))
        XCTAssertEqual(clock.source, .relays)
        XCTAssertTrue(clock.source.isTrusted)
        XCTAssertLessThan(abs(deviation(clock, at: later(.seconds(2)))), 2_500)

        var alone = self.clock(-20 * hour)
        alone.use(relays: ["a"], at: boot)
        date(&alone, "a", 0, at: .seconds(1))
        XCTAssertEqual(alone.source, .relays)
    }

    func testOneLyingRelayAmongFourIsOutvoted() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a", "b", "0", "1", "2", "3"], at: boot)
        for (index, shift) in [3 * hour, 0, 1_000, 0].enumerated() {
            date(&clock, "\(index)", shift, at: .seconds(index + 1))
        }
        XCTAssertEqual(clock.source, .relays)
        XCTAssertLessThan(abs(deviation(clock, at: later(.seconds(4)))), 1_500)
    }

    /// Geo relays are dialled for anybody's deposit: whoever runs some of them has no vote, and withdraws no time.
    func testRelaysThatAreNoVotersNeitherLeadNorDeny() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a", "b", "c", "d"], at: boot)
        for number in 0..<40 {
            date(&clock, "geo\(number)", number < 20 ? 3 * hour : Int64(number) * hour, at: .seconds(1))
            for author in 0..<3 as Range<UInt8> {
                clock.heard(event: wall(3 * hour).unixSeconds, by: [author], of: "geo\(number)", at: later(.seconds(1)))
            }
        }
        XCTAssertEqual(clock.source, .lastKnown)
        for (index, relay) in ["a", "b", "c", "d"].enumerated() { date(&clock, relay, 0, at: .seconds(index + 2)) }
        XCTAssertEqual(clock.source, .relays)
        XCTAssertLessThan(abs(deviation(clock, at: later(.seconds(5)))), 3_000)
        for number in 0..<40 { date(&clock, "geo\(number)", 3 * hour, at: .seconds(6)) }
        XCTAssertEqual(clock.source, .relays)
        XCTAssertLessThan(abs(deviation(clock, at: later(.seconds(6)))), 3_000)
    }

    func testTwoAgainstTwoIsNoTime() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a", "b", "0", "1", "2", "3"], at: boot)
        for (index, shift) in [3 * hour, 3 * hour, 0, 0].enumerated() {
            date(&clock, "\(index)", shift, at: .seconds(index + 1))
        }
        XCTAssertEqual(clock.source, .lastKnown)
    }

    func testASlowAnswerAndANonsenseOneSayNothing() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a"], at: boot)
        clock.heard(date: wall(), of: "a", asked: boot, at: later(.seconds(11)))
        clock.heard(date: WallTime(milliseconds: .max), of: "a", asked: boot, at: later(.seconds(1)))
        clock.heard(event: .max, by: [1], of: "a", at: boot)
        clock.heard(event: .min, by: [1], of: "a", at: boot)
        XCTAssertEqual(clock.source, .lastKnown)
    }

    func testFreshEventsOfThreeAuthorsStandForARelayWithoutADate() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a"], at: boot)
        let now = wall().unixSeconds
        for author in 1...2 as ClosedRange<UInt8> { clock.heard(event: now, by: [author], of: "a", at: boot) }
        // One author who publishes much is one author.
        for _ in 0..<5 { clock.heard(event: now + 900, by: [2], of: "a", at: boot) }
        XCTAssertEqual(clock.source, .lastKnown)
        clock.heard(event: now + 1, by: [3], of: "a", at: boot)
        XCTAssertEqual(clock.source, .relays)
        XCTAssertLessThan(abs(deviation(clock, at: boot)), 2_000)
    }

    func testRelaysThatAreNotConfiguredAnyMoreHaveNoVote() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a", "b"], at: boot)
        date(&clock, "a", 0, at: .seconds(1))
        clock.use(relays: ["b", "c"], at: later(.seconds(2)))
        date(&clock, "b", 0, at: .seconds(3))
        XCTAssertEqual(clock.source, .lastKnown)
    }

    func testRelaysOutrankTheMeshAndTheKernelRelays() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a"], at: boot)
        hear(&clock, [(1, 1, 5_000), (2, 2, 5_000), (3, 3, 5_000)], at: .seconds(1))
        date(&clock, "a", 0, at: .seconds(2))
        XCTAssertEqual(clock.source, .relays)
        clock.look(at: system(3_100, synchronised: true), later(.seconds(3)))
        XCTAssertEqual(clock.source, .synchronised)
        XCTAssertEqual(deviation(clock, at: later(.seconds(3))), 100)
    }

    // MARK: Confidence

    func testAReadingIsHeldUntilItsErrorIsAMinute() {
        var clock = clock(synchronised: true)
        let day = Interval.hours(24)
        clock.look(at: system(day.milliseconds), later(day))
        XCTAssertEqual(clock.source, .synchronised)
        XCTAssertEqual(clock.error(at: later(day)), 1_000 + 8_640)
        let week = Interval.hours(24 * 7)
        clock.look(at: system(week.milliseconds), later(week))
        XCTAssertEqual(clock.source, .lastKnown)
        XCTAssertEqual(deviation(clock, at: later(week)), 0, "the time goes on all the same")
    }

    func testWhatIsHeldOfRelaysComesBeforeFreshPeers() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a"], at: boot)
        date(&clock, "a", 0, at: .seconds(1))
        let day = Interval.hours(24)
        hear(&clock, [(1, 1, 5_000), (2, 2, 5_000), (3, 3, 5_000)], at: day)
        XCTAssertEqual(clock.source, .relays)
    }

    // MARK: Steps of the system's clock

    func testAStepOfAClockNobodyVouchesForDiscreditsWhatItSaidBefore() {
        var clock = clock(synchronised: true)
        clock.look(at: system(60_000), later(.seconds(60)))
        XCTAssertEqual(clock.source, .synchronised)
        clock.look(at: system(70_000 - 2 * hour), later(.seconds(70)))
        XCTAssertEqual(clock.source, .lastKnown)
        XCTAssertEqual(clock.systemSteps, 1)
        XCTAssertEqual(deviation(clock, at: later(.seconds(70))), 0, "nor is the new time believed")
        clock.look(at: system(80_000, synchronised: true), later(.seconds(80)))
        XCTAssertEqual(clock.source, .synchronised)
    }

    func testAStepTwoHoursBackIsTakenWhenNothingLaterWasSaved() {
        // As it happens on a board whose clock kept local time.
        var clock = clock(2 * hour)
        XCTAssertNil(clock.worthSaving(at: boot), "a time nobody vouches for is not what others must keep to")
        clock.look(at: system(10_000, synchronised: true), later(.seconds(10)))
        XCTAssertEqual(clock.source, .synchronised)
        XCTAssertEqual(deviation(clock, at: later(.seconds(10))), 0)
    }

    func testNothingGoesBelowTheLastSavedTimeButByTheOperatorsWord() throws {
        var clock = clock(2 * hour, synchronised: true)
        let saved = try XCTUnwrap(clock.worthSaving(at: later(.minutes(10))))
        XCTAssertEqual(saved, wall(2 * hour + 600_000 - 1_060))
        clock.look(at: system(700_000, synchronised: true), later(.seconds(700)))
        XCTAssertEqual(clock.source, .lastKnown)
        XCTAssertEqual(clock.heldBack, .synchronised)
        XCTAssertGreaterThanOrEqual(clock.wall(at: later(.seconds(700))), saved)
        clock.accept(at: later(.seconds(701)))
        XCTAssertEqual(clock.source, .synchronised)
        XCTAssertNil(clock.heldBack)
        XCTAssertEqual(deviation(clock, at: later(.seconds(701))), 0)
    }

    func testWhatWasHeldBackIsTakenWhenItsTimeHasCome() {
        var clock = clock(lastKnown: wall(2 * hour))
        clock.look(at: system(1_000, synchronised: true), later(.seconds(1)))
        XCTAssertEqual(clock.heldBack, .synchronised)
        let span = Interval.milliseconds(Int(2 * hour + 1_000))
        clock.look(at: system(span.milliseconds, synchronised: true), later(span))
        XCTAssertEqual(clock.source, .synchronised)
    }

    func testRelaysKeepTheTimeOverAStepOfTheSystem() {
        var clock = clock(-20 * hour)
        clock.use(relays: ["a"], at: boot)
        date(&clock, "a", 0, at: .seconds(1))
        for shift in [-2 * hour, 5 * hour] {
            clock.look(at: system(shift), later(.seconds(20)))
            XCTAssertEqual(clock.source, .relays)
            XCTAssertLessThan(abs(deviation(clock, at: later(.seconds(20)))), 2_000)
        }
        XCTAssertEqual(clock.systemLead / hour, 4, "the lead is told")
    }

    func testTenYearsAheadIsCorrectedBackwards() {
        var clock = clock(87_600 * hour)
        XCTAssertFalse(clock.isGoodForMesh)
        hear(&clock, [(1, 1, 0), (2, 2, 0), (3, 3, 0)], at: .seconds(1))
        XCTAssertEqual(clock.source, .mesh)
        XCTAssertEqual(deviation(clock, at: later(.seconds(1))), 0)
    }

    // MARK: The operator

    func testTheOperatorSetsTheTimeAndBetterSourcesOverruleIt() {
        var clock = clock(-20 * hour, lastKnown: wall(30 * hour))
        XCTAssertFalse(clock.set(WallTime(milliseconds: 1_000), at: boot))
        XCTAssertTrue(clock.set(wall(-1_000), at: boot))
        XCTAssertEqual(clock.source, .set)
        XCTAssertEqual(deviation(clock, at: boot), -1_000)
        clock.look(at: system(10_000, synchronised: true), later(.seconds(10)))
        XCTAssertEqual(clock.source, .synchronised)
    }

    func testAnAgreementNeedsMoreThanHalfOfAllVotes() {
        XCTAssertEqual([0, 0, 0].agreed(quorum: 3), 0)
        XCTAssertNil([0, 0].agreed(quorum: 3))
        XCTAssertNil([ClockOffset]().agreed(quorum: 0))
        XCTAssertEqual([0, 4_000, 10_000, 50_000].agreed(quorum: 3), 4_000)
        XCTAssertNil([0, 0, 0, 50_000, 50_000, 50_000].agreed(quorum: 3))
        XCTAssertEqual([.min / 4, 0, 2, .max / 4, 3].agreed(quorum: 3), 2)
    }

    func testTimesWithTheirZone() {
        XCTAssertEqual(TimeText.parse("2026-06-01T00:00:00Z"), wall())
        XCTAssertEqual(TimeText.parse("2026-06-01 02:00:00+02:00"), wall())
        XCTAssertEqual(TimeText.parse("2026-05-31T21:30:00-02:30"), wall())
        XCTAssertEqual(TimeText.text(wall(7_000)), "2026-06-01T00:00:07Z")
        for text in [
            "", "2026-06-01", "2026-06-01T00:00:00", "2026-13-01T00:00:00Z", "2026-06-01T24:00:00Z",
            "1970-01-01T00:00:00+01:00", "2026-06-01T00:00:00Zx", "2026-06-01T00:00:00+2:00", "2026-06-01t00:00:00Z",
        ] { XCTAssertNil(TimeText.parse(text), text) }
    }
}

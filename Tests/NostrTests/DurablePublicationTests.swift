import Basics
import Crypto
import XCTest

@testable import Nostr

/// Lessons 44 and 45: what must arrive is tried until a relay confirms it, and is published once, not at every start.
final class DurablePublicationTests: XCTestCase {
    private let relay = ClientHarness.relayA
    private var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_700_000_000_000))
    private var random = SeededRandom(seed: 3)
    private lazy var key = NostrSecretKey.generate(using: &random)
    private var publications = DurablePublications(random: SeededRandom(seed: 4))
    private var numbers: UInt64 = 0
    /// What a disk holds.
    private var disk: [(key: PublicationKey, record: PublicationRecord)] = []

    // What came out.
    private var attempts: [(key: PublicationKey, event: VerifiedEvent, id: PublicationID, at: Instant)] = []
    private var outcomes: [PublicationKey: DurablePublications.Outcome] = [:]

    private func drain() {
        while let effect = publications.nextEffect() {
            switch effect {
            case .keep(let record, _):
                disk.removeAll { $0.key == record.key }
                disk.append((record.key, record))
            case .forget(let key): disk.removeAll { $0.key == key }
            case .publish(let key, let event, _, _):
                numbers += 1
                let id = PublicationID(number: numbers)
                publications.began(key, as: id)
                attempts.append((key, event, id, now.monotonic))
            case .finished(let key, let outcome): outcomes[key] = outcome
            }
        }
    }

    private func advance(_ span: Interval) {
        let end = now.monotonic + span
        while let due = publications.nextDeadline, due <= end {
            now = now.advanced(by: max(.zero, due - now.monotonic))
            publications.timeout(at: now)
            drain()
        }
        now = now.advanced(by: end - now.monotonic)
    }

    private func restart() {
        publications = DurablePublications(random: SeededRandom(seed: numbers))
        publications.restore(disk.map(\.record), at: now)
        publications.setReady(true, at: now)
        drain()
    }

    private func key(_ text: String) -> PublicationKey { PublicationKey(hashing: [UInt8](text.utf8)) }

    private func note(_ text: String) -> DurableContent {
        let event = VerifiedEvent.signed(
            kind: 1, tags: [], content: text, createdAt: now.wall.unixSeconds, key: key, using: &random)
        guard let event else { preconditionFailure("a test's own event") }
        return .event(event, place: nil)
    }

    private let drop = DurableContent.unlinkable(
        EventTemplate.courierDrop(
            envelope: [1, 2, 3], recipientTag: [UInt8](repeating: 7, count: 16), expiresAt: 1_700_086_400))

    @discardableResult
    private func publish(_ text: String, _ content: DurableContent? = nil) -> DurablePublications.Admission {
        defer { drain() }
        let until = WallTime(milliseconds: now.wall.milliseconds + 172_800_000)
        return publications.publish(key(text), content ?? note(text), expiresAt: until, at: now)
    }

    private func finish(_ outcome: PublicationOutcome) {
        guard let last = attempts.last else { return XCTFail("nothing was tried") }
        publications.finished(last.id, outcome, at: now)
        drain()
    }

    private func ready() {
        publications.setReady(true, at: now)
        drain()
    }

    func testNothingIsTriedBeforeARelayIsThereAndThenAtOnce() {
        XCTAssertEqual(publish("a"), .queued)
        XCTAssertEqual(publish("a"), .waiting)
        advance(.hours(1))
        XCTAssertEqual(attempts.count, 0)
        ready()
        XCTAssertEqual(attempts.count, 1)
        finish(.accepted(by: relay))
        XCTAssertEqual(outcomes[key("a")], .accepted(by: relay))
        XCTAssertEqual(publications.waiting, 0)
    }

    func testAFailedAttemptIsRepeatedAfterPausesThatDoubleToAnHour() {
        ready()
        publish("a")
        var pauses: [Interval] = []
        for _ in 0..<10 {
            let failedAt = now.monotonic
            let before = attempts.count
            finish(.failed(.timedOut))
            advance(.minutes(80))
            guard attempts.count > before else { return XCTFail("given up") }
            pauses.append(attempts[before].at - failedAt)
        }
        for (pause, expected) in zip(pauses, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]) {
            XCTAssertGreaterThanOrEqual(pause.seconds, Double(expected) * 0.8)
            XCTAssertLessThanOrEqual(pause.seconds, Double(expected) * 1.2)
        }
        XCTAssertEqual(Set(attempts.map(\.event.id)).count, 1, "the same event each time")
    }

    func testWhatMustNotBeLinkedHasAnotherAuthorAtEveryAttempt() {
        ready()
        publish("drop", drop)
        finish(.failed(.rejected))
        advance(.minutes(1))
        XCTAssertEqual(attempts.count, 2)
        XCTAssertEqual(Set(attempts.map(\.event.author)).count, 2)
        XCTAssertEqual(Set(attempts.map(\.event.id)).count, 2)
        XCTAssertEqual(attempts[0].event.event.tags, attempts[1].event.event.tags)
    }

    func testTheKeyIsKeptOnlyAfterTheRelaysOK() {
        ready()
        publish("drop", drop)
        XCTAssertFalse(disk.contains { if case .published = $0.record.state { true } else { false } })
        finish(.failed(.timedOut))
        XCTAssertFalse(disk.contains { if case .published = $0.record.state { true } else { false } })
        advance(.minutes(1))
        publications.finished(attempts[1].id, .accepted(by: relay), at: now)
        XCTAssertEqual(
            publications.nextEffect(),
            .keep(PublicationRecord(key: key("drop"), state: .published(at: now.wall)), isUrgent: true))
    }

    func testTwentyRestartsPublishTheSameThingOnceIn24Hours() {
        ready()
        publish("drop", drop)
        finish(.accepted(by: relay))
        for _ in 0..<20 {
            advance(.minutes(71))
            restart()
            guard case .published = publish("drop", drop) else { return XCTFail("published again") }
        }
        XCTAssertEqual(attempts.count, 1)
        advance(.minutes(21))
        restart()
        XCTAssertEqual(publish("drop", drop), .queued, "24 hours are over")
        XCTAssertEqual(attempts.count, 2)
    }

    func testARestartRightAfterAFailureDoesNotShortenThePause() {
        ready()
        publish("a")
        finish(.failed(.timedOut))
        for _ in 0..<20 {
            restart()
            advance(.seconds(1))
        }
        XCTAssertEqual(attempts.count, 1)
        advance(.seconds(20))
        XCTAssertEqual(attempts.count, 2)
    }

    func testWithoutAConnectedRelayItWaitsForTheNextThatComes() {
        ready()
        publish("a")
        finish(.failed(.notConnected))
        advance(.seconds(5))
        XCTAssertEqual(attempts.count, 1)
        ready()
        XCTAssertEqual(attempts.count, 2)
        finish(.failed(.notConnected))
        advance(.seconds(30))
        XCTAssertEqual(attempts.count, 3)
    }

    func testOnlyAFewAreUnderWayAtOnceOldestFirst() {
        for index in 0..<100 { publish("\(index)") }
        ready()
        XCTAssertEqual(attempts.map(\.key), (0..<4).map { key("\($0)") })
        finish(.accepted(by: relay))
        XCTAssertEqual(attempts.last?.key, key("4"))
    }

    func testWhatHasExpiredIsGivenUpAndForgotten() {
        publish("a")
        advance(.hours(48) + .minutes(11))
        XCTAssertEqual(outcomes[key("a")], .expired)
        XCTAssertTrue(disk.isEmpty)
        XCTAssertEqual(publications.nextDeadline, nil)
        let past = WallTime(milliseconds: now.wall.milliseconds)
        XCTAssertEqual(publications.publish(key("b"), note("b"), expiresAt: past, at: now), .refused)
    }

    func testWithdrawnMeansNotTriedAgain() {
        ready()
        publish("a")
        publications.withdraw(key("a"))
        finish(.failed(.timedOut))
        advance(.hours(1))
        XCTAssertEqual(attempts.count, 1)
        XCTAssertTrue(disk.isEmpty)
    }

    func testWhatWaitsIsBoundedInNumberAndSizeAndWhatIsRememberedInNumber() {
        for index in 0..<256 { XCTAssertEqual(publish("\(index)"), .queued) }
        XCTAssertEqual(publish("one more"), .refused)
        for index in 0..<256 { publications.withdraw(key("\(index)")) }
        drain()
        XCTAssertEqual(publish("huge", note(String(repeating: "x", count: 131_073))), .refused)
        let records = (0..<5_000).map { PublicationRecord(key: key("\($0)"), state: .published(at: now.wall)) }
        publications.restore(records, at: now)
        XCTAssertEqual(publications.remembered, NostrLimits.publishedKeys)
    }

    func testAKeyKeptByAClockThatWasFarAheadIsForgotten() {
        let future = WallTime(milliseconds: now.wall.milliseconds + 3_600_000 * 48)
        publications.restore([PublicationRecord(key: key("a"), state: .published(at: future))], at: now)
        drain()
        XCTAssertEqual(publish("a"), .queued)
    }

    func testWhatWasTriedAtAnyTimeAClockCanShowIsTakenBack() {
        for tried in [0, UInt64.max / 2, .max] {
            let record = PublicationRecord(
                key: key("\(tried)"),
                state: .waiting(
                    note("n"), expiresAt: WallTime(milliseconds: .max), attempts: 3,
                    lastAttempt: WallTime(milliseconds: tried)))
            publications.restore([record], at: Now(monotonic: now.monotonic, wall: WallTime(milliseconds: .max - 1)))
            XCTAssertTrue(publications.isWaiting(key("\(tried)")))
        }
    }

    func testProcessedEventsAreKnownByTheLast2000() {
        func id(_ index: Int) -> EventID { EventID(hashing: [UInt8]("\(index)".utf8)) }
        var processed = ProcessedEvents((0..<2_000).map(id))
        XCTAssertFalse(processed.insert(id(1_999)))
        XCTAssertTrue(processed.insert(id(2_000)))
        XCTAssertEqual(processed.count, 2_000)
        XCTAssertTrue(processed.insert(id(0)), "the oldest is forgotten")
    }
}

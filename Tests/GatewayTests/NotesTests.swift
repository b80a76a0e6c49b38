import Basics
import Crypto
import Nostr
import XCTest

@testable import Gateway

/// Chapter 05 §10: notes pinned to places.
final class NotesTests: XCTestCase {
    private let place = "u4pruydq"
    private var now = Clock.now()
    private var seed: DeviceSeed!
    private var desk: NotesDesk!
    private var subscribed: [GatewaySubscription] = []
    private var unsubscribed: [String] = []
    private var kept: [BoardCopy] = []
    private var withdrawn: [EventID] = []
    private var published: [(event: VerifiedEvent, geohash: String, expiresAt: WallTime)] = []

    override func setUpWithError() throws {
        seed = try XCTUnwrap(Rig.seed)
        desk = NotesDesk(seed: seed, random: SeededRandom(seed: 5))
    }

    private func drain() {
        while let effect = desk.nextEffect() {
            switch effect {
            case .subscribe(let subscription): subscribed.append(subscription)
            case .unsubscribe(let id): unsubscribed.append(id)
            case .publish(let event, let geohash, let expiresAt): published.append((event, geohash, expiresAt))
            case .withdraw(let id): withdrawn.append(id)
            case .keep(let copy):
                XCTAssertFalse(published.contains { $0.event.id == copy.id }, "kept first")
                kept.append(copy)
            case .forget(let id): kept.removeAll { $0.id == id }
            }
        }
    }

    private func look() {
        desk.look(at: place, at: now)
        drain()
    }

    private func run(_ span: Interval) {
        let end = now.monotonic + span
        while let due = desk.nextDeadline, due <= end {
            now = now.advanced(by: max(.milliseconds(1), due - now.monotonic))
            desk.timeout(at: now)
            drain()
        }
        now = now.advanced(by: max(.zero, end - now.monotonic))
    }

    private func note(
        _ text: String = "hi", _ tags: [[String]]? = nil, age: Int64 = 0, kind: Int = EventKind.locationNote,
        author: UInt8 = 1
    ) throws -> VerifiedEvent {
        try Author(author).event(
            kind: kind, tags: tags ?? [["g", place], ["n", "zed"]], text, at: Clock.start - age)
    }

    func testNothingIsAskedBeforeTheOperatorLooksAndNothingAfterTenMinutes() {
        XCTAssertNil(desk.nextEffect())
        XCTAssertNil(desk.nextDeadline)
        look()
        XCTAssertEqual(subscribed.count, 1)
        let filter = subscribed[0].filter
        XCTAssertEqual(filter.kinds, [1])
        XCTAssertEqual(filter.tags["g"], [place] + Geohash.neighbours(of: place))
        XCTAssertNil(filter.since)
        XCTAssertEqual(filter.limit, 200)
        XCTAssertFalse(subscribed[0].fallsBackToDefaultRelays)
        XCTAssertTrue(subscribed[0].id.hasPrefix("locnotes-\(place)-"))
        XCTAssertEqual(subscribed[0].id.count, "locnotes-\(place)-".count + 8)
        run(.minutes(9))
        look()
        run(.minutes(9))
        XCTAssertEqual(unsubscribed, [])
        run(.minutes(2))
        XCTAssertEqual(unsubscribed, subscribed.map(\.id))
        XCTAssertNil(desk.geohash)
    }

    func testNotesOfThePlaceAndItsNeighboursAreTakenAndNothingElse() throws {
        look()
        let neighbour = Geohash.neighbours(of: place)[2]
        desk.relayEvent(try note("here"), at: now)
        desk.relayEvent(
            try note("near", [["G", "zzz"], ["g", neighbour.uppercased()], ["T", "Urgent"]], age: 10), at: now)
        desk.relayEvent(try note("elsewhere", [["g", "u3"]]), at: now)
        desk.relayEvent(try note("no place", []), at: now)
        desk.relayEvent(try note("a message", kind: EventKind.channelMessage), at: now)
        desk.relayEvent(try note("  "), at: now)
        XCTAssertEqual(desk.notes.map(\.text), ["here", "near"], "newest first")
        XCTAssertEqual(desk.notes.map(\.geohash), [place, neighbour])
        XCTAssertEqual(desk.notes.map(\.isUrgent), [false, true])
        XCTAssertTrue(desk.notes[0].displayName.hasPrefix("zed#"))
    }

    func testExpiredNotesGoAndAReplayResurrectsNothing() throws {
        look()
        func expiring(_ text: String, _ value: String) throws -> VerifiedEvent {
            try note(text, [["g", place], ["expiration", value]])
        }
        let short = try expiring("short", "\(Clock.start + 90)")
        desk.relayEvent(short, at: now)
        desk.relayEvent(try expiring("gone", "\(Clock.start)"), at: now)
        desk.relayEvent(try expiring("odd", "soon"), at: now)
        XCTAssertEqual(Set(desk.notes.map(\.text)), ["short", "odd"])
        run(.minutes(3))
        XCTAssertEqual(desk.notes.map(\.text), ["odd"])
        desk.relayEvent(short, at: Clock.now())
        XCTAssertEqual(desk.notes.map(\.text), ["odd"])
    }

    func testAtMost500NotesAreHeldTheNewest() throws {
        look()
        for index in 0..<510 { desk.relayEvent(try note("\(index)", age: Int64(index)), at: now) }
        XCTAssertEqual(desk.notes.count, 500)
        XCTAssertEqual(desk.notes.first?.text, "0")
        XCTAssertEqual(desk.notes.last?.text, "499")
    }

    func testNotesAreBoundedInBytesEachAndTogether() throws {
        look()
        // One character each, whatever number of bytes.
        desk.relayEvent(try note("a" + String(repeating: "\u{301}", count: 8_000)), at: now)
        XCTAssertTrue(desk.notes.isEmpty)
        for index in 0..<100 {
            desk.relayEvent(try note("\(index) " + String(repeating: "x", count: 15_000), age: Int64(index)), at: now)
        }
        XCTAssertLessThanOrEqual(desk.notes.reduce(0) { $0 + $1.text.utf8.count }, GatewayLimits.notesBytes)
        XCTAssertGreaterThan(desk.notes.count, 60)
        XCTAssertEqual(desk.notes.first?.text.prefix(2), "0 ")
    }

    func testNotesFromTheFutureKeepNoneOut() throws {
        look()
        for index in 0..<500 { desk.relayEvent(try note("late \(index)", age: -1_000_000 - Int64(index)), at: now) }
        run(.seconds(5))
        desk.relayEvent(try note("new", age: -3), at: now)
        XCTAssertTrue(desk.notes.contains { $0.text == "new" })
        XCTAssertEqual(desk.notes.count, 500)
    }

    private func post(_ text: String, hours: UInt64? = 24, work: Int = 0) -> Bool {
        defer { drain() }
        let until = hours.map { WallTime(milliseconds: now.wall.milliseconds + $0 * 3_600_000) }
        return desk.post(
            text, at: place, nickname: "gate", expiresAt: until, isUrgent: true, work: work, at: now)
    }

    func testAnOwnNoteIsSignedByThePlacesIdentityAndCanBeTakenAwayByIt() throws {
        look()
        XCTAssertTrue(post(" hello "))
        let event = try XCTUnwrap(published.first?.event)
        XCTAssertEqual(
            event.event.tags,
            [["g", place], ["n", "gate"], ["expiration", "\(Clock.start + 86_400)"], ["t", "urgent"]])
        XCTAssertEqual(event.event.content, "hello")
        XCTAssertEqual(event.author, seed.channel(place).publicKey)
        XCTAssertEqual(published[0].expiresAt.unixSeconds, Clock.start + 86_400)
        XCTAssertEqual(desk.notes.map(\.id), [event.id])
        XCTAssertTrue(desk.isOwn(desk.notes[0]))
        XCTAssertTrue(desk.delete(event.id, at: place, at: now))
        drain()
        XCTAssertEqual(withdrawn, [event.id], "it may wait for a relay still")
        XCTAssertEqual(published.last?.event.event.kind, 5)
        XCTAssertEqual(published.last?.event.event.tags, [["e", event.id.hex]])
        XCTAssertEqual(published.last?.event.author, event.author)
        XCTAssertEqual(published.last?.geohash, place)
        XCTAssertTrue(desk.notes.isEmpty)
        desk.relayEvent(event, at: now)
        XCTAssertTrue(desk.notes.isEmpty)
    }

    func testWorkIsDoneInSlicesWhereARelayAsksForIt() throws {
        XCTAssertTrue(post("worked for", work: 12))
        XCTAssertTrue(published.isEmpty)
        XCTAssertEqual(desk.beingMade, 1)
        var slices = 0
        while published.isEmpty, slices < 10_000 {
            XCTAssertNotNil(desk.nextDeadline)
            desk.timeout(at: now)
            drain()
            slices += 1
        }
        XCTAssertGreaterThan(slices, 1)
        XCTAssertGreaterThanOrEqual(published.first?.event.proofOfWork ?? 0, 12)
        XCTAssertEqual(desk.beingMade, 0)
        XCTAssertNil(desk.nextDeadline)
    }

    func testMiningNeverPreventsPublishing() {
        XCTAssertTrue(post("hard", work: 60))
        run(.seconds(10))
        XCTAssertEqual(published.count, 1)
    }

    func testWhatIsNoNoteIsRefused() {
        XCTAssertFalse(post("  "))
        XCTAssertFalse(post(String(repeating: "x", count: 16_001)))
        XCTAssertFalse(
            desk.post("x", at: "U4", nickname: "", expiresAt: nil, isUrgent: false, work: 0, at: now))
        for _ in 0..<4 { XCTAssertTrue(post("x", work: 200)) }
        XCTAssertFalse(post("x", work: 200))
    }

    /// Chapter 04 §11.5: who takes a post off the board asks the relays of its place for the same.
    func testTheCopyOfABoardPostIsDeletedWithItAndOnlyThat() throws {
        for (id, work) in [([1], 0), ([2], 0), ([3], 4)] as [([UInt8], Int)] {
            XCTAssertTrue(
                desk.post(
                    "post \(id)", at: place, nickname: "z", expiresAt: nil, isUrgent: false, work: work, copyOf: id,
                    at: now))
        }
        drain()
        run(.seconds(30))
        XCTAssertEqual(published.count, 3)
        for id in [[2], [3], [9]] as [[UInt8]] { desk.delete(copyOf: id, at: now) }
        drain()
        XCTAssertEqual(published.dropFirst(3).map(\.event.event.kind), [5, 5])
        XCTAssertEqual(
            published.dropFirst(3).map(\.event.event.tags), published[1...2].map { [["e", $0.event.id.hex]] })
        desk.delete(copyOf: [2], at: now)
        drain()
        XCTAssertEqual(published.count, 5, "once")
    }

    func testACopyWhoseWorkIsNotDoneIsNeverPublished() {
        XCTAssertTrue(
            desk.post(
                "post", at: place, nickname: "z", expiresAt: nil, isUrgent: false, work: 20, copyOf: [1], at: now))
        desk.delete(copyOf: [1], at: now)
        run(.minutes(2))
        XCTAssertEqual(published.count, 0)
        XCTAssertEqual(desk.beingMade, 0)
    }

    func testCopiesAreKnownUntilTheyEndAndARefusedOneIsNotDeletedAtRelays() {
        let until = WallTime(milliseconds: now.wall.milliseconds + 60_000)
        for id in [[1], [2]] as [[UInt8]] {
            XCTAssertTrue(
                desk.post(
                    "post \(id)", at: place, nickname: "z", expiresAt: until, isUrgent: false, work: 0, copyOf: id,
                    at: now))
        }
        drain()
        desk.refused(published[0].event.id)
        XCTAssertEqual(desk.boardCopies(at: now).map(\.isRefused), [true, false])
        XCTAssertEqual(desk.boardCopies(at: now).map(\.text), ["post [1]", "post [2]"])
        XCTAssertTrue(desk.delete(copyOf: [1], at: now))
        XCTAssertFalse(desk.delete(copyOf: [1], at: now))
        drain()
        XCTAssertEqual(published.count, 2, "nobody has it")
        now = now.advanced(by: .minutes(2))
        XCTAssertEqual(desk.boardCopies(at: now), [])
    }

    private func restart() {
        desk = NotesDesk(seed: seed, random: SeededRandom(seed: 6))
        desk.restore(kept)
        drain()
    }

    private func copy(of id: [UInt8], minutes: UInt64 = 60) {
        let until = WallTime(milliseconds: now.wall.milliseconds + minutes * 60_000)
        XCTAssertTrue(
            desk.post(
                "post \(id)", at: place, nickname: "z", expiresAt: until, isUrgent: false, work: 0, copyOf: id, at: now)
        )
        drain()
    }

    func testTheCopyOfABoardPostIsDeletedInALaterRunToo() {
        for id in [[1], [2], [3]] as [[UInt8]] { copy(of: id) }
        XCTAssertTrue(desk.delete(published[2].event.id, at: place, at: now), "as a note")
        drain()
        let known = desk.boardCopies(at: now)
        XCTAssertEqual(known.map(\.boardPost), [[1], [2]])
        restart()
        XCTAssertEqual(desk.boardCopies(at: now), known)
        XCTAssertTrue(desk.delete(copyOf: [2], at: now))
        XCTAssertFalse(desk.delete(copyOf: [3], at: now))
        drain()
        XCTAssertEqual(published.last?.event.event.tags, [["e", published[1].event.id.hex]])
        XCTAssertEqual(published.last?.event.author, published[1].event.author)
        restart()
        XCTAssertEqual(desk.boardCopies(at: now).map(\.boardPost), [[1]], "once")
        desk.refused(published[0].event.id)
        drain()
        XCTAssertEqual(kept, [], "nobody has it")
    }

    func testCopiesThatHaveEndedAreForgottenOnceTheClockIsRight() {
        copy(of: [1], minutes: 30)
        copy(of: [2], minutes: 90)
        restart()
        XCTAssertNil(desk.nextDeadline)
        run(.minutes(40))
        XCTAssertEqual(kept.count, 2, "who knows what time it is")
        desk.setClockTrusted(true, at: now)
        drain()
        XCTAssertEqual(kept.map(\.boardPost), [[2]])
        run(.minutes(61))
        XCTAssertEqual(kept, [])
        XCTAssertNil(desk.nextDeadline)
    }

    func testAsManyCopiesAreKnownAsFitTheOldestGivingWay() {
        for id in 0..<40 as Range<UInt8> { copy(of: [id]) }
        XCTAssertEqual(kept.map(\.boardPost), (8..<40 as Range<UInt8>).map { [$0] })
        XCTAssertEqual(desk.boardCopies(at: now), kept)
    }
}

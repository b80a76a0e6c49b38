import Basics
import Crypto
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Kind-1401 drops (chapter 06 §5, §22 "Courier drops").
final class DropTests: XCTestCase {
    private let alice = Correspondent(1)
    private let bob = Correspondent(2)
    private let carol = Correspondent(3)

    // MARK: Out

    func testADepositIsLeftAtRelaysAtOnceUnderAThrowawayKey() throws {
        let rig = CourierRig()
        rig.confirms = true
        let mail = [bob.mail(1, copies: 4, at: rig.now.wall), carol.mail(2, copies: 8, at: rig.now.wall)]
        for one in mail { rig.deposit(one, from: alice) }
        XCTAssertEqual(rig.published.count, 2)
        XCTAssertEqual(Set(rig.published.map(\.event.event.pubkey)).count, 2)
        for (one, drop) in zip(mail, rig.published) {
            XCTAssertEqual(drop.event.event.kind, 1_401)
            XCTAssertEqual(
                drop.event.event.tags,
                [["x", Hex.encode(one.recipientTag)], ["expiration", String(one.expiry.milliseconds / 1_000)]])
            XCTAssertEqual(Base64.decode(drop.event.event.content), one.withCopies(1).encoded())
            XCTAssertEqual(drop.event.event.createdAt, rig.now.wall.unixSeconds)
        }
        XCTAssertEqual(rig.kept.values.map(\.publications), [1, 1])
    }

    /// Confirmed copies get rarer and each has a key of its own.
    func testDistinctThrowawayKeys() {
        let rig = CourierRig()
        rig.confirms = true
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        var times: [Int64] = []
        for _ in 0..<(24 * 60) {
            let before = rig.published.count
            rig.advance(by: .minutes(1))
            if rig.published.count > before { times.append((rig.now.monotonic - Clock.now().monotonic).milliseconds) }
        }
        // 30 min, 2 h, then every 6 h, on the ticks of the half-hourly refresh.
        XCTAssertEqual(times.map { ($0 + 30_000) / 1_800_000 }, [1, 5, 17, 29, 41])
        XCTAssertEqual(Set(rig.published.map(\.event.event.pubkey)).count, 6)
        XCTAssertEqual(Set(rig.published.map(\.event.id)).count, 6)
    }

    /// A rejection leaves it retryable and only a confirmation counts.
    func testHeldPublishCooldownOnlyAfterConfirmationSingleFlight() {
        let rig = CourierRig()
        rig.confirms = false
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.published.count, 1)
        rig.advance(by: .hours(2))
        // After 1, 2, 4, 8 and 16 minutes, then every 30.
        XCTAssertTrue((7...9).contains(rig.published.count), "\(rig.published.count)")
        XCTAssertNil(rig.kept.values.first?.lastPublished)
        rig.confirms = true
        rig.advance(by: .minutes(31))
        XCTAssertNotNil(rig.kept.values.first?.lastPublished)
    }

    func testAnEnvelopeIsPublishedOnceAtATimeAndFewAtOnce() {
        let rig = CourierRig()
        for number in 0..<8 as Range<UInt8> { rig.deposit(bob.mail(number, at: rig.now.wall), from: alice) }
        XCTAssertEqual(rig.published.count, 2, "nobody has answered yet")
        rig.advance(by: .hours(2))
        XCTAssertEqual(rig.published.count, 2)
        for round in 0..<8 {
            let attempt = rig.published[round].attempt
            rig.call { $0.published(attempt, isConfirmed: true, at: $1) }
        }
        XCTAssertEqual(Set(rig.published.prefix(8).map(\.attempt.mail)).count, 8)
    }

    func testWithoutARelayNothingIsBuiltAndAReturningOneGetsEverything() {
        let rig = CourierRig(relays: false)
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        rig.advance(by: .hours(3))
        XCTAssertTrue(rig.published.isEmpty && rig.subscriptions.isEmpty)
        rig.confirms = true
        rig.call { $0.relayConnectivityChanged(true, at: $1) }
        XCTAssertEqual(rig.published.count, 1)
        XCTAssertEqual(rig.subscriptions.count, 1)
    }

    func testBelowTheTrustOfRelaysNothingIsPublishedAndTheMeshIsServed() {
        let rig = CourierRig()
        rig.call { $0.setClock(isUsable: true, isTrusted: false, at: $1) }
        XCTAssertTrue(rig.subscriptions.isEmpty)
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        rig.meet(bob, .proven)
        XCTAssertTrue(rig.published.isEmpty)
        XCTAssertEqual(rig.handed.count, 1)
    }

    func testLosingTheRelaysCancelsWhatIsUnderWay() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        let attempt = rig.published[0].attempt
        rig.call { $0.relayConnectivityChanged(false, at: $1) }
        XCTAssertTrue(rig.subscriptions.isEmpty)
        rig.call { $0.published(attempt, isConfirmed: true, at: $1) }
        XCTAssertNil(rig.kept.values.first?.lastPublished, "an answer to what was cancelled is none")
        rig.call { $0.relayConnectivityChanged(true, at: $1) }
        XCTAssertEqual(rig.published.count, 2)
    }

    func testALateAnswerToAnEarlierAttemptSettlesNoNewerOne() {
        for isLateConfirmed in [false, true] {
            let rig = CourierRig()
            rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
            for isConnected in [false, true, false, true] {
                rig.call { $0.relayConnectivityChanged(isConnected, at: $1) }
            }
            XCTAssertEqual(rig.published.count, 3)
            for late in rig.published.prefix(2) {
                rig.call { $0.published(late.attempt, isConfirmed: isLateConfirmed, at: $1) }
            }
            XCTAssertEqual(rig.status.publishing, 1, "the third is still under way")
            XCTAssertNil(rig.kept.values.first?.lastPublished)
            XCTAssertEqual(rig.count(.dropConfirmed) + rig.count(.dropFailed), 0)
            rig.call { $0.published(rig.published[2].attempt, isConfirmed: true, at: $1) }
            XCTAssertNotNil(rig.kept.values.first?.lastPublished)
            rig.call { $0.published(rig.published[2].attempt, isConfirmed: false, at: $1) }
            XCTAssertEqual(rig.count(.dropConfirmed), 1)
            XCTAssertEqual(rig.count(.dropFailed), 0, "and none settles twice")
        }
    }

    // MARK: Subscriptions

    /// Three tags of our own and three of each neighbour.
    func testSubscriptionTagCounts36() {
        let rig = CourierRig()
        XCTAssertEqual(rig.subscriptions["bridge-courier-drops"]?.tags["x"]?.count, 3)
        rig.advance(by: .minutes(1))
        rig.meet(bob, .relayed)
        let filter = rig.subscriptions["bridge-courier-drops"]
        XCTAssertEqual(filter?.tags["x"]?.count, 6)
        XCTAssertEqual(filter?.tags["x"], filter?.tags["x"]?.sorted())
        XCTAssertEqual(filter?.kinds, [1_401])
        XCTAssertEqual(filter?.limit, 100)
        XCTAssertEqual(filter?.since, rig.now.wall.unixSeconds - 86_400)
    }

    func testManyNeighboursAreSplitOverFiltersAndBounded() {
        let rig = CourierRig()
        for person in 10..<110 as Range<UInt64> { rig.meet(Correspondent(person), .relayed) }
        rig.advance(by: .seconds(61))
        XCTAssertEqual(rig.status.watchedPeers, 64)
        XCTAssertEqual(rig.subscriptions.count, 4)
        for filter in rig.subscriptions.values { XCTAssertLessThanOrEqual(filter.tags["x"]?.count ?? 0, 60) }
        XCTAssertEqual(rig.subscriptions.values.reduce(0) { $0 + ($1.tags["x"]?.count ?? 0) }, 65 * 3)
    }

    func testInventedNeighboursTakeNoPlaceOfProvenOnes() {
        let rig = CourierRig()
        for person in 10..<74 as Range<UInt64> { rig.meet(Correspondent(person), person < 20 ? .proven : .direct) }
        for person in 500..<700 as Range<UInt64> { rig.meet(Correspondent(person), .direct) }
        rig.meet(bob, .proven)
        let watched = rig.courier.watch.watched
        XCTAssertEqual(watched.count { $0.isProven }, 11)
        XCTAssertTrue(watched.contains { $0.key == bob.key })
        XCTAssertFalse(watched.contains { Correspondent(600).key == $0.key }, "nobody makes room who was just heard")
    }

    /// Announces refresh at once and once more a minute later.
    func testDebounceTrailingRefresh() {
        let rig = CourierRig()
        rig.advance(by: .minutes(2))
        rig.forget()
        for person in 10..<15 as Range<UInt64> {
            rig.meet(Correspondent(person), .relayed)
            rig.advance(by: .seconds(5))
        }
        XCTAssertEqual(rig.requests.count, 2, "the first, and for the others later")
        rig.advance(by: .seconds(40))
        XCTAssertEqual(rig.requests.count, 4)
        rig.advance(by: .minutes(3))
        XCTAssertEqual(rig.requests.count, 4)
    }

    func testOneWhoLeftIsWatchedForFiveMinutesMore() {
        let rig = CourierRig()
        rig.advance(by: .minutes(2))
        rig.meet(bob, .relayed)
        rig.advance(by: .minutes(4))
        XCTAssertEqual(rig.status.watchedPeers, 1)
        rig.advance(by: .minutes(2))
        XCTAssertEqual(rig.status.watchedPeers, 0)
        XCTAssertEqual(rig.subscriptions["bridge-courier-drops"]?.tags["x"]?.count, 3)
    }

    // MARK: In

    func testADropForANeighbourIsDeliveredOnceWhoeverDropsItAgain() throws {
        let rig = CourierRig()
        rig.meet(bob, .proven)
        let mail = bob.mail(1, copies: 1, at: rig.now.wall)
        let event = try rig.drop(mail)
        rig.tell(event)
        XCTAssertEqual(rig.handed, [mail])
        rig.tell(event)
        rig.tell(try rig.drop(mail, by: 2))
        rig.restart()
        rig.meet(bob, .proven)
        rig.tell(event)
        rig.tell(try rig.drop(mail, by: 3))
        XCTAssertEqual(rig.handed, [mail])
        XCTAssertEqual(rig.count(.dropRepeated), 2)
    }

    /// A failed handoff is retried at the next proven announce.
    func testFailedHandoffRetryable() throws {
        let rig = CourierRig()
        rig.meet(bob, .direct)
        rig.writes = false
        let mail = bob.mail(1, copies: 1, at: rig.now.wall)
        rig.tell(try rig.drop(mail))
        XCTAssertEqual(rig.status.undelivered, 1)
        XCTAssertTrue(rig.dealt.isEmpty, "it may be told again")
        rig.meet(bob, .direct)
        XCTAssertEqual(rig.proofs, [bob.id])
        XCTAssertEqual(rig.flooded, [mail])
        rig.writes = true
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed, [mail])
        XCTAssertEqual(rig.status.undelivered, 0)
        XCTAssertEqual(rig.dealt.count, 2, "the event and the envelope")
    }

    func testADropThatIsAlsoCarriedIsHandedOverOnce() throws {
        let rig = CourierRig()
        let mail = bob.mail(1, copies: 1, at: rig.now.wall)
        rig.deposit(mail, from: alice)
        rig.writes = false
        rig.meet(bob, .direct)
        rig.tell(try rig.drop(mail))
        rig.writes = true
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed, [mail])
        XCTAssertEqual(rig.kept.count, 0)
        XCTAssertEqual(rig.status.undelivered, 0)
    }

    /// A drop of a stranger is not consumed.
    func testStaleWatchSetEventNotConsumed() throws {
        let rig = CourierRig()
        let event = try rig.drop(bob.mail(1, at: rig.now.wall))
        rig.tell(event)
        XCTAssertEqual(rig.count(.dropForNobody), 1)
        XCTAssertTrue(rig.dealt.isEmpty)
        rig.meet(bob, .proven)
        rig.tell(event)
        XCTAssertEqual(rig.handed.count, 1)
    }

    func testWhatDoesNotOpenIsTriedAgain() throws {
        let rig = CourierRig()
        rig.opens = false
        let event = try rig.drop(rig.box.mail(1, at: rig.now.wall))
        rig.tell(event)
        rig.opens = true
        rig.tell(event)
        rig.tell(event)
        XCTAssertEqual(rig.opened.count, 2)
        XCTAssertEqual(rig.count(.dropRepeated), 1)
    }

    func testUndeliveredDropsAreBoundAndLapse() throws {
        let rig = CourierRig()
        rig.meet(bob, .direct)
        rig.writes = false
        for number in 0..<80 as Range<UInt8> {
            rig.tell(try rig.drop(bob.mail(number, copies: 1, at: rig.now.wall, life: 600_000)))
        }
        XCTAssertEqual(rig.status.undelivered, 64)
        rig.advance(by: .minutes(40))
        XCTAssertEqual(rig.status.undelivered, 0)
    }

    func testTheMemoryOfDropsIsBoundAndLastsADay() throws {
        let rig = CourierRig()
        var drops: [VerifiedEvent] = []
        for number in 0..<400 {
            let mail = CourierEnvelope(
                recipientTag: rig.box.mail(0, at: rig.now.wall).recipientTag,
                expiry: WallTime(milliseconds: rig.now.wall.milliseconds + 86_400_000),
                ciphertext: [1, UInt8(number & 255), UInt8(number >> 8)])
            drops.append(try rig.drop(mail))
            rig.tell(drops[number])
        }
        func remembered() -> Int { drops.count { rig.courier.memory.contains($0.id, at: rig.now.wall) } }
        XCTAssertEqual(remembered(), 400)
        rig.restart()
        XCTAssertEqual(remembered(), 400)
        rig.advance(by: .hours(25))
        XCTAssertEqual(remembered(), 0)
    }

    func testManyDropsForOnePushOutNobodyElses() throws {
        let rig = CourierRig()
        let carol = Correspondent(3)
        for person in [bob, carol] { rig.meet(person, .direct) }
        rig.writes = false
        let mail = carol.mail(1, copies: 1, at: rig.now.wall)
        rig.tell(try rig.drop(mail))
        for number in 0..<200 as Range<UInt8> {
            rig.tell(try rig.drop(bob.mail(number, copies: 1, at: rig.now.wall)))
        }
        XCTAssertEqual(rig.status.undelivered, 64)
        rig.writes = true
        rig.meet(carol, .proven)
        XCTAssertEqual(rig.handed, [mail])
    }

    func testManyDropsForOneAreGivenInTurns() throws {
        let rig = CourierRig()
        rig.meet(bob, .proven)
        let start = rig.now.wall
        for number in 0..<20 as Range<UInt8> {
            let mail = CourierEnvelope(
                recipientTag: bob.mail(0, at: start).recipientTag,
                expiry: WallTime(milliseconds: start.milliseconds + 3_600_000),
                ciphertext: [number] + [UInt8](repeating: 7, count: 8_000))
            rig.tell(try rig.drop(mail))
        }
        XCTAssertEqual(rig.handed.count, 1)
        rig.advance(by: .seconds(2))
        XCTAssertEqual(rig.handed.count, 4, "24 KiB every two seconds")
        rig.advance(by: .seconds(20))
        XCTAssertEqual(rig.handed.count, 8, "64 KiB at once")
        for _ in 0..<6 {
            rig.meet(bob, .proven)
            rig.advance(by: .seconds(30))
        }
        XCTAssertEqual(rig.handed.count, 20)
    }

    /// Chapter 06 §5.6 steps 1, 3 and 4.
    func testWhatIsNoDropIsRefusedForItsFirstFault() throws {
        let now = Clock.now().wall
        let mail = bob.mail(1, at: now)
        let tag = Hex.encode(mail.recipientTag)
        let bytes = try XCTUnwrap(mail.encoded())
        // Unknown fields are skipped, and nothing else can be so long.
        func stuffed(to size: Int) -> [UInt8] {
            let length = size - bytes.count - 3
            return bytes + [0x7f, UInt8(length >> 8), UInt8(length & 255)] + [UInt8](repeating: 0, count: length)
        }
        func refusal(_ content: String, tag: String, kind: Int = EventKind.courierDrop) throws -> CourierOutcome? {
            let event = try Author(1).event(kind: kind, tags: [["x", tag]], content, at: now.unixSeconds)
            do throws(CourierOutcome) {
                _ = try Courier.envelope(in: event.event, at: now)
                return nil
            } catch {
                return error
            }
        }
        let most = CourierEnvelope.maximumDropSize
        let good = Base64.encode(bytes)
        let late = Base64.encode(try XCTUnwrap(bob.mail(1, at: Clock.now(unix: 1).wall).encoded()))
        XCTAssertNil(try refusal(good, tag: tag))
        XCTAssertNil(try refusal(Base64.encode(stuffed(to: most)), tag: tag))
        XCTAssertEqual(try refusal(good, tag: tag, kind: 1), .dropWrongKind)
        XCTAssertEqual(try refusal(Base64.encode(stuffed(to: most + 1)), tag: tag), .dropOversized)
        XCTAssertEqual(try refusal(String(repeating: "!", count: 30_000), tag: tag), .dropOversized)
        XCTAssertEqual(try refusal(good + " ", tag: tag), .dropMalformed)
        XCTAssertEqual(try refusal(Base64.encode([1, 2, 3]), tag: tag), .dropMalformed)
        XCTAssertEqual(try refusal(late, tag: ""), .dropExpired)
        XCTAssertEqual(try refusal(good, tag: tag.uppercased()), .dropMislabelled)
    }

    func testMislabelledAndExpiredIgnored() throws {
        let rig = CourierRig()
        rig.meet(bob, .proven)
        let mail = bob.mail(1, at: rig.now.wall, life: 3_600_000)
        let content = Base64.encode(try XCTUnwrap(mail.encoded()))
        let mislabelled = try Author(1).event(
            kind: EventKind.courierDrop, tags: [["x", Hex.encode(carol.mail(1, at: rig.now.wall).recipientTag)]],
            content, at: rig.now.wall.unixSeconds)
        rig.tell(mislabelled)
        XCTAssertEqual(rig.count(.dropMislabelled), 1)
        let expiring = try rig.drop(mail)
        rig.advance(by: .hours(2))
        rig.meet(bob, .proven)
        rig.tell(expiring)
        XCTAssertEqual(rig.count(.dropExpired), 1)
        XCTAssertTrue(rig.handed.isEmpty && rig.dealt.isEmpty)
    }

    /// What a box keeps is gone with its wipe, and the answer to what it was publishing then finds nothing.
    func testWipeInvalidatesInFlight() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        let attempt = rig.published[0].attempt
        let keys = Set(rig.published.map(\.event.event.pubkey))
        rig.wipe()
        rig.call { $0.published(attempt, isConfirmed: true, at: $1) }
        XCTAssertEqual(rig.count(.dropConfirmed), 0)
        XCTAssertTrue(rig.kept.isEmpty && rig.dealt.isEmpty)
        XCTAssertEqual(rig.status.published + rig.status.publishing + rig.status.undelivered, 0)
        rig.forget()
        rig.advance(by: .hours(2))
        rig.meet(bob, .proven)
        XCTAssertTrue(rig.published.isEmpty && rig.sent.isEmpty, "nothing of it goes anywhere")
        rig.deposit(carol.mail(1, at: rig.now.wall), from: alice)
        XCTAssertTrue(keys.isDisjoint(with: rig.published.map(\.event.event.pubkey)))
    }

    func testSeenDropsSurviveARestart() throws {
        let rig = CourierRig()
        rig.meet(bob, .proven)
        let drop = try rig.drop(bob.mail(1, at: rig.now.wall))
        rig.tell(drop)
        XCTAssertEqual(rig.handed.count, 1)
        rig.restart()
        rig.meet(bob, .proven)
        rig.tell(drop)
        XCTAssertEqual(rig.handed.count, 1)
        XCTAssertEqual(rig.count(.dropRepeated), 1)
    }
}

import Basics
import XCTest

@testable import Nostr

/// Chapter 05 §5, §6.5, §6.6: durable subscriptions, replay, the end of the initial load, CLOSED.
final class SubscriptionTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB

    /// Chapter 05 §17.9.
    func testWorkedExampleOfFrames() {
        let harness = ClientHarness()
        harness.subscribe("geo-u4pruyd", to: a)
        harness.open(a)
        XCTAssertEqual(
            harness.takeSent(),
            [
                "[\"REQ\",\"geo-u4pruyd\",{\"#g\":[\"u4pruyd\"],\"kinds\":[20000,20001],\"limit\":200,"
                    + "\"since\":1699996400}]"
            ])
        harness.perform { $0.unsubscribe("geo-u4pruyd", at: $1) }
        XCTAssertEqual(harness.takeSent(), ["[\"CLOSE\",\"geo-u4pruyd\"]"])
    }

    func testFiltersWriteEveryMemberSortedAndOmitTheRest() {
        let filter = NostrFilter(
            ids: ["i"], authors: ["a"], kinds: [1], tags: ["x": ["1", "2"], "g": []], since: -1, until: 2, limit: 0)
        XCTAssertEqual(
            String(decoding: filter.json(), as: UTF8.self),
            "{\"#g\":[],\"#x\":[\"1\",\"2\"],\"authors\":[\"a\"],\"ids\":[\"i\"],\"kinds\":[1],\"limit\":0,"
                + "\"since\":-1,\"until\":2}")
        XCTAssertEqual(String(decoding: NostrFilter().json(), as: UTF8.self), "{}")
    }

    func testARelayDownAtSubscribeTimeGetsTheSubscriptionWhenItComesUp() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        harness.fail(b, .nameUnusable)
        harness.subscribe("s", to: a, b)
        XCTAssertEqual(harness.sent.map(\.relay), [a])
        harness.advance(.seconds(700))
        XCTAssertEqual(harness.takeSent(to: b), [])
        harness.open(b)
        XCTAssertEqual(harness.takeSent(to: b).filter { $0.hasPrefix("[\"REQ\",\"s\"") }.count, 1)
    }

    func testEverySubscriptionIsReplayedInOrderAfterAReconnect() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("one", to: a)
        harness.subscribe("two", harness.channelFilter("u3"), to: a)
        let first = harness.takeSent()
        harness.fail(a, .closedByRelay)
        harness.advance(.seconds(2))
        harness.open(a)
        XCTAssertEqual(harness.takeSent(), first, "since is not refreshed")
        harness.perform { $0.setGate(.closed, at: $1) }
        harness.perform { $0.setGate(.open, at: $1) }
        harness.open(a)
        XCTAssertEqual(harness.takeSent(), first, "disconnecting keeps the intent")
    }

    func testTheSameRequestAgainIsNoOp() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        let filter = harness.channelFilter()
        harness.subscribe("s", filter, to: a)
        harness.subscribe("s", filter, to: a)
        harness.advance(.seconds(5))
        harness.subscribe("s", filter, to: a)
        XCTAssertEqual(harness.takeSent().count, 1)
    }

    func testAnotherRequestUnderTheSameIDWaitsForASecondAndTheLastOneCounts() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", harness.channelFilter("u1"), to: a)
        harness.advance(.milliseconds(100))
        harness.subscribe("s", harness.channelFilter("u2"), to: a)
        harness.advance(.milliseconds(100))
        harness.subscribe("s", harness.channelFilter("u3"), to: a)
        XCTAssertEqual(harness.takeSent().count, 1)
        harness.advance(.milliseconds(799))
        XCTAssertEqual(harness.takeSent().count, 0)
        harness.advance(.milliseconds(1))
        let sent = harness.takeSent()
        XCTAssertEqual(sent.count, 1)
        XCTAssertTrue(sent.first?.contains("\"u3\"") ?? false)
    }

    func testEndingASubscriptionClearsTheGuard() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", harness.channelFilter("u1"), to: a)
        harness.perform { $0.unsubscribe("s", at: $1) }
        harness.subscribe("s", harness.channelFilter("u2"), to: a)
        XCTAssertEqual(harness.takeSent().map { $0.prefix(6) }, ["[\"REQ\"", "[\"CLOS", "[\"REQ\""])
    }

    func testChangingTheTargetsClosesAtTheOldAndAsksAtTheNew() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        harness.open(b)
        let filter = harness.channelFilter()
        harness.subscribe("s", filter, to: a)
        harness.advance(.seconds(2))
        _ = harness.takeSent()
        harness.subscribe("s", filter, to: b)
        XCTAssertEqual(harness.takeSent(to: a), ["[\"CLOSE\",\"s\"]"])
        XCTAssertEqual(harness.takeSent(to: b).count, 1)
    }

    func testSubscriptionsAtTheDefaultSetFollowIt() {
        let harness = ClientHarness(defaults: [a])
        harness.perform { $0.subscribe("s", harness.channelFilter(), to: .defaultSet, at: $1) }
        harness.open(a)
        XCTAssertEqual(harness.takeSent().count, 1)
        harness.subscribe("other", to: a)
        _ = harness.takeSent()
        harness.perform { $0.setDefaultRelays([b], at: $1) }
        XCTAssertEqual(harness.takeSent(to: a), ["[\"CLOSE\",\"s\"]"], "kept for the other subscription only")
        harness.open(b)
        XCTAssertEqual(harness.takeSent(to: b).count, 1)
    }

    func testRequestsBeyondTheBoundsAreRefused() {
        let harness = ClientHarness(defaults: [a])
        XCTAssertFalse(harness.client.subscribe("", harness.channelFilter(), to: .defaultSet, at: harness.now))
        let long = String(repeating: "x", count: 65)
        XCTAssertFalse(harness.client.subscribe(long, harness.channelFilter(), to: .defaultSet, at: harness.now))
        for index in 0..<64 {
            XCTAssertTrue(
                harness.client.subscribe("s\(index)", harness.channelFilter(), to: .defaultSet, at: harness.now))
        }
        XCTAssertFalse(harness.client.subscribe("more", harness.channelFilter(), to: .defaultSet, at: harness.now))
        XCTAssertEqual(harness.client.drops[.subscriptionRefused], 3)
    }

    func testPrivateMailIsNeverAskedForTogetherWithPublicKinds() {
        let harness = ClientHarness(defaults: [a])
        func isTaken(_ kinds: [Int]) -> Bool {
            harness.client.subscribe("k\(kinds)", NostrFilter(kinds: kinds), to: .defaultSet, at: harness.now)
        }
        XCTAssertFalse(isTaken([1_059, 20_000]))
        XCTAssertFalse(isTaken([4, 1]))
        XCTAssertTrue(isTaken([1_059]))
        XCTAssertTrue(isTaken([4, 1_059]))
    }

    // MARK: Initial load

    func testTheLoadIsOverWhenEveryRelayAskedHasSaidSo() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        harness.open(b)
        harness.subscribe("s", to: a, b)
        harness.say("[\"EOSE\",\"s\"]", from: a)
        harness.say("[\"EOSE\",\"s\"]", from: a)
        harness.say("[\"EOSE\",\"other\"]", from: b)
        XCTAssertTrue(harness.loads.isEmpty)
        harness.say("[\"EOSE\",\"s\"]", from: b)
        XCTAssertEqual(harness.loads.map(\.subscription), ["s"])
        harness.advance(.seconds(20))
        XCTAssertEqual(harness.loads.count, 1, "once")
        XCTAssertEqual(harness.client.drops[.endOfStoredUnmatched], 2)
    }

    func testTheLoadIsOverAfter10SecondsWhateverTheRelaysDo() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", to: a)
        harness.advance(.milliseconds(9_999))
        XCTAssertTrue(harness.loads.isEmpty)
        harness.advance(.milliseconds(1))
        XCTAssertEqual(harness.loads.count, 1)
    }

    func testALoadBehindAClosedGateIsParkedFor10Seconds() {
        let harness = ClientHarness(defaults: [a], gate: .waitingForRoute)
        harness.subscribe("s", to: a)
        harness.advance(.seconds(9))
        XCTAssertTrue(harness.loads.isEmpty)
        harness.advance(.seconds(1))
        XCTAssertEqual(harness.loads.count, 1)
    }

    func testWithoutTargetsTheLoadIsOverAtOnce() {
        let harness = ClientHarness()
        harness.subscribe("s")
        XCTAssertEqual(harness.loads.count, 1)
    }

    func testALostRelayIsNotWaitedForAndCloseEndsTheLoadToo() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        harness.open(b)
        harness.subscribe("s", to: a, b)
        harness.fail(a, .closedByRelay)
        XCTAssertTrue(harness.loads.isEmpty)
        harness.say("[\"CLOSED\",\"s\",\"auth-required: no\"]", from: b)
        XCTAssertEqual(harness.loads.count, 1)
    }

    /// Two relays, of which the first is asked for three stored events of an hour at most.
    private func paged() -> ClientHarness {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        harness.open(b)
        var filter = harness.channelFilter()
        filter.limit = 3
        harness.subscribe("s", filter, to: a, b)
        return harness
    }

    func testWhateverBecomesOfStoredEventsTheyAreWhatARelaySent() {
        let harness = paged()
        let now = harness.now.wall.unixSeconds
        let good = harness.event(age: 10)
        var forged = harness.event("forged", age: 30).event
        forged.content = "other"
        var large = harness.event("large", age: 5).event
        large.tags += Array(repeating: ["g", "u4pruyd"], count: 64)
        let expired = harness.event("expired", age: 20, extraTags: [["expiration", "\(now - 1)"]])
        for event in [good.event, expired.event, forged] { harness.deliver(event, under: "s", from: a) }
        harness.say("[\"EOSE\",\"s\"]", from: a)
        XCTAssertEqual(harness.extents, [])
        // A copy and what is beyond the limits.
        for event in [good.event, large] { harness.deliver(event, under: "s", from: b) }
        harness.say("[\"EOSE\",\"s\"]", from: b)
        XCTAssertEqual(harness.events.map(\.event), [good])
        XCTAssertEqual(harness.extents.map(\.full), [now - 30])
        XCTAssertEqual(harness.extents.map(\.part), [now - 10])
        // What is new is no part of the answer.
        harness.deliver(harness.event("new").event, under: "s", from: a)
        harness.say("[\"EOSE\",\"s\"]", from: a)
        XCTAssertEqual(harness.extents.count, 1)
    }

    func testOfSeveralFullAnswersTheShortestCountsAndNoneThatIsCopiedOrOlderThanAskedFor() {
        let harness = paged()
        let now = harness.now.wall.unixSeconds
        let events = (0..<6).map { harness.event("\($0)", age: 100 * Int64($0)).event }
        for event in events[..<3] { harness.deliver(event, under: "s", from: a) }
        harness.say("[\"EOSE\",\"s\"]", from: a)
        for event in [events[0], events[1], events[2], events[3]] { harness.deliver(event, under: "s", from: b) }
        harness.deliver(harness.event("old", age: 3_601).event, under: "s", from: b)
        harness.deliver(harness.event("elsewhere", geohash: "u3", age: 3_000).event, under: "s", from: b)
        harness.say("[\"EOSE\",\"s\"]", from: b)
        XCTAssertEqual(harness.extents.map(\.full), [now - 200])
        XCTAssertEqual(harness.extents.map(\.part), [nil])
    }

    func testWhatARelayHadIsToldWhenItAnswersLateAndNotBeforeItCameToAnEnd() {
        let harness = paged()
        harness.deliver(harness.event(age: 7).event, under: "s", from: b)
        harness.fail(b, .closedByRelay)
        harness.say("[\"EOSE\",\"s\"]", from: a)
        XCTAssertEqual(harness.extents, [StoredExtent()], "nobody knows what the other has")
        harness.advance(.seconds(5))
        harness.open(b)
        for age in [7, 8, 9] as [Int64] { harness.deliver(harness.event(age: age).event, under: "s", from: b) }
        XCTAssertEqual(harness.extents.count, 1)
        harness.say("[\"EOSE\",\"s\"]", from: b)
        XCTAssertEqual(harness.extents.map(\.full), [nil, harness.now.wall.unixSeconds - 9])
        harness.fail(a, .closedByRelay)
        harness.advance(.seconds(5))
        harness.open(a)
        harness.say("[\"EOSE\",\"s\"]", from: a)
        XCTAssertEqual(harness.extents.count, 2, "it has nothing")
    }

    func testARelayThatHasNotComeToAnEndIn10SecondsHasMore() {
        let harness = paged()
        let now = harness.now.wall.unixSeconds
        harness.deliver(harness.event(age: 40).event, under: "s", from: a)
        harness.deliver(harness.event(age: 30).event, under: "s", from: b)
        harness.say("[\"EOSE\",\"s\"]", from: b)
        harness.advance(.seconds(10))
        XCTAssertEqual(harness.extents.map(\.full), [now - 40])
        XCTAssertEqual(harness.extents.map(\.part), [now - 30])
        harness.say("[\"EOSE\",\"s\"]", from: a)
        XCTAssertEqual(harness.extents.map(\.full), [now - 40, nil])
        XCTAssertEqual(harness.extents.map(\.part), [now - 30, now - 40])
    }

    // MARK: CLOSED

    func testAClosedSubscriptionIsRetriedAfter60SecondsDoublingToAnHour() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", to: a)
        harness.subscribe("t", harness.channelFilter("u3"), to: a)
        var delays: [Int64] = []
        for _ in 0..<8 {
            let closedAt = harness.now.monotonic
            harness.sent.removeAll()
            harness.say("[\"CLOSED\",\"s\",\"restricted: members only\"]", from: a)
            for _ in 0..<200 where harness.sent.isEmpty {
                harness.advance(.seconds(20))
                harness.say("[\"NOTICE\",\"alive\"]", from: a)
            }
            delays.append(((harness.sent.first?.at ?? .zero) - closedAt).milliseconds / 1_000)
            XCTAssertEqual(harness.sent.count, 1, "the other subscription is not touched")
        }
        XCTAssertEqual(delays, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
        let status = harness.status(a)?.subscriptions.first
        XCTAssertEqual(status?.id, "s")
        XCTAssertEqual(status?.lastRefusal, .restricted)
        XCTAssertTrue(status?.isActive ?? false)
    }

    func testThePauseGrowsForASubscriptionThatNeverLastsAndStartsOverForOneThatDid() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", to: a)
        func pause(afterHolding held: Interval) -> Int64 {
            harness.advance(held)
            harness.sent.removeAll()
            let closedAt = harness.now.monotonic
            harness.say("[\"CLOSED\",\"s\",\"error: x\"]", from: a)
            while harness.sent.isEmpty { harness.advance(.seconds(1)) }
            return ((harness.sent.first?.at ?? .zero) - closedAt).milliseconds / 1_000
        }
        XCTAssertEqual(pause(afterHolding: .seconds(1)), 60)
        XCTAssertEqual(pause(afterHolding: .seconds(50)), 120)
        XCTAssertEqual(pause(afterHolding: .seconds(119)), 240)
        XCTAssertEqual(pause(afterHolding: .seconds(242)), 60)
        XCTAssertEqual(pause(afterHolding: .seconds(1)), 120)
    }

    func testAReconnectDoesNotShortenThePauseAfterClosed() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", to: a)
        harness.say("[\"CLOSED\",\"s\",\"error: x\"]", from: a)
        harness.fail(a, .closedByRelay)
        harness.advance(.seconds(5))
        _ = harness.takeSent()
        harness.open(a)
        XCTAssertEqual(harness.takeSent(), [])
        harness.advance(.seconds(50))
        harness.say("[\"NOTICE\",\"alive\"]", from: a)
        harness.advance(.seconds(5))
        XCTAssertEqual(harness.takeSent().count, 1)
    }

    func testAClosedSubscriptionShowsWhyAndWhenItIsTriedAgain() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", to: a)
        harness.say("[\"CLOSED\",\"s\",\"restricted: no\"]", from: a)
        XCTAssertEqual(harness.status(a)?.subscriptions.first?.lastRefusal, .restricted)
        XCTAssertNotNil(harness.status(a)?.subscriptions.first?.retryAt)
    }

    // MARK: since

    func testAReplayAfterWeeksLooksBackAsFarAsTheFirstRequestDid() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("live", to: a)
        harness.advance(.hours(24 * 21))
        harness.reconnect()
        _ = harness.takeSent()
        harness.open(a)
        let since = harness.now.wall.unixSeconds - 3_600
        XCTAssertTrue(harness.takeSent().last?.contains("\"since\":\(since)") ?? false)
    }

    func testAClockSetBackTakesTheRequestsWithIt() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("live", to: a)
        let start = harness.now.wall.unixSeconds
        let stored = NostrFilter(kinds: [1_401], tags: ["x": ["00"]], since: start - 86_400, limit: 100)
        harness.subscribe("stored", stored, to: a)
        harness.advance(.seconds(10))
        harness.say("[\"EOSE\",\"live\"]", from: a)
        _ = harness.takeSent()
        harness.setClockBack(bySeconds: 59)
        harness.perform { $0.timeout(at: $1) }
        XCTAssertEqual(harness.takeSent(), [], "a correction is no step")
        harness.setClockBack(bySeconds: 7_200)
        harness.perform { $0.timeout(at: $1) }
        let now = harness.now.wall.unixSeconds
        let sent = harness.takeSent()
        XCTAssertEqual(sent.count, 2)
        XCTAssertTrue(sent.first?.contains("\"since\":\(now + 59 - 900)") ?? false, "\(sent)")
        XCTAssertTrue(sent.last?.contains("\"since\":\(start - 86_400 - 7_200)") ?? false, "\(sent)")
        harness.deliver(harness.event("after").event, under: "live", from: a)
        XCTAssertEqual(harness.events.count, 1)
        harness.setClockBack(bySeconds: -86_400)
        harness.perform { $0.timeout(at: $1) }
        XCTAssertEqual(harness.takeSent(), [])
    }

    func testReplaysOfEphemeralKindsMoveSinceToTheLastEndOfStored() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        let start = harness.now.wall.unixSeconds
        harness.subscribe("live", to: a)
        let stored = NostrFilter(kinds: [1_401], tags: ["x": ["00"]], since: start - 86_400, limit: 100)
        harness.subscribe("stored", stored, to: a)
        harness.advance(.seconds(10))
        harness.say("[\"EOSE\",\"live\"]", from: a)
        harness.say("[\"EOSE\",\"stored\"]", from: a)
        _ = harness.takeSent()
        harness.fail(a, .closedByRelay)
        harness.advance(.seconds(2))
        harness.open(a)
        XCTAssertTrue(harness.sent[0].text.contains("\"since\":\(start + 10 - 900)"), harness.sent[0].text)
        XCTAssertTrue(harness.sent[1].text.contains("\"since\":\(start - 86_400)"), harness.sent[1].text)
    }
}

import Basics
import Crypto
import XCTest

@testable import Nostr

/// Chapter 05 §5.2 and §6.7: what a relay sends is checked in order, and nothing it sends can shadow, flood or stall.
final class InboundTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB

    func testAnEventIsDeliveredOnceThoughEveryRelaySendsIt() {
        let harness = ClientHarness.channel()
        let event = harness.event()
        for relay in [a, b, a] { harness.deliver(event.event, under: "s", from: relay) }
        XCTAssertEqual(harness.events.map(\.event), [event])
        XCTAssertEqual(harness.events.first?.subscription, "s")
        XCTAssertEqual(harness.client.drops[.eventDuplicate], 2)
        XCTAssertNotNil(harness.status(a)?.lastEvent)
        XCTAssertNil(harness.status(b)?.lastEvent, "only its own deliveries count")
    }

    func testTwoSubscriptionsGetTheSameEventOnceEach() {
        let harness = ClientHarness.channel()
        harness.subscribe("t", NostrFilter(kinds: [20_000]), to: a)
        let event = harness.event()
        for _ in 0..<2 {
            harness.deliver(event.event, under: "s", from: a)
            harness.deliver(event.event, under: "t", from: a)
        }
        XCTAssertEqual(harness.events.map(\.subscription), ["s", "t"])
    }

    func testAForgedCopyWithAGenuineIDDoesNotShadowTheGenuineOne() {
        let harness = ClientHarness.channel()
        let genuine = harness.event("genuine")
        var forged = genuine.event
        forged.content = "forged"
        harness.deliver(forged, under: "s", from: a)
        var badSignature = genuine.event
        badSignature.sig = String(repeating: "0", count: 128)
        harness.deliver(badSignature, under: "s", from: a)
        XCTAssertTrue(harness.events.isEmpty)
        XCTAssertEqual(harness.client.drops[.eventSignatureInvalid], 2)
        harness.deliver(genuine.event, under: "s", from: b)
        XCTAssertEqual(harness.events.map(\.event), [genuine])
    }

    func testTheRecentSetForgetsTheOldestAThousandAtATime() {
        var recent = RecentEvents()
        func key(_ index: Int) -> RecentEvents.Key {
            RecentEvents.Key(subscription: 1, event: EventID(hashing: [UInt8]("\(index)".utf8)))
        }
        for index in 0..<4_096 { recent.record(key(index)) }
        recent.record(key(0))
        XCTAssertEqual(recent.count, 4_096)
        XCTAssertTrue(recent.contains(key(0)))
        recent.record(key(4_096))
        XCTAssertEqual(recent.count, 3_072)
        XCTAssertFalse(recent.contains(key(1_024)))
        XCTAssertTrue(recent.contains(key(1_025)))
        XCTAssertTrue(recent.contains(key(4_096)))
    }

    func testReopeningASubscriptionDeliversAgain() {
        let harness = ClientHarness.channel()
        let event = harness.event()
        harness.deliver(event.event, under: "s", from: a)
        harness.perform { $0.unsubscribe("s", at: $1) }
        harness.deliver(event.event, under: "s", from: a)
        XCTAssertEqual(harness.events.count, 1)
        XCTAssertEqual(harness.client.drops[.eventUnrequested], 1)
        harness.subscribe("s", to: a)
        harness.deliver(event.event, under: "s", from: a)
        XCTAssertEqual(harness.events.count, 2)
    }

    func testEventsOutsideTheFilterAreDroppedAndARelayThatKeepsSendingThemIsLeft() {
        let harness = ClientHarness.channel()
        var index = 0
        func deliverForeign() {
            harness.deliver(harness.event("\(index)", geohash: "u4pruye").event, under: "s", from: a)
            index += 1
        }
        for _ in 0..<19 { deliverForeign() }
        XCTAssertEqual(harness.client.drops[.eventOutsideFilter], 19)
        XCTAssertEqual(harness.status(a)?.violations, 19)
        XCTAssertTrue(harness.closes.isEmpty)
        deliverForeign()
        XCTAssertTrue(harness.events.isEmpty)
        XCTAssertEqual(harness.closes.map(\.relay), [a])
        XCTAssertEqual(harness.closes.map(\.code), [1_008])
        XCTAssertEqual(harness.status(a)?.state, .failed)
        XCTAssertEqual(harness.status(a)?.lastFailure, .misbehaving)
        harness.dials.removeAll()
        harness.advance(.seconds(590))
        XCTAssertTrue(harness.dials.isEmpty)
        XCTAssertEqual(harness.status(b)?.state, .connected)
    }

    func testTheRecheckComparesEachPartOfTheFilterByteForByte() throws {
        let harness = ClientHarness.channel()
        let event = harness.event(kind: 20_000, extraTags: [["r", "u4prux"]]).event
        func matches(_ filter: NostrFilter) -> Bool { filter.matches(event) }
        XCTAssertTrue(matches(NostrFilter()))
        XCTAssertTrue(matches(NostrFilter(kinds: [1, 20_000], tags: ["g": ["x", "u4pruyd"], "r": ["u4prux"]])))
        XCTAssertFalse(matches(NostrFilter(kinds: [])))
        XCTAssertFalse(matches(NostrFilter(tags: ["g": ["U4PRUYD"]])))
        XCTAssertFalse(matches(NostrFilter(tags: ["G": ["u4pruyd"]])))
        XCTAssertFalse(matches(NostrFilter(tags: ["g": []])))
        XCTAssertFalse(matches(NostrFilter(tags: ["g": ["u4pruyd"], "x": ["1"]])))
        XCTAssertTrue(matches(NostrFilter(ids: [event.id], authors: [event.pubkey])))
        XCTAssertFalse(matches(NostrFilter(ids: [event.pubkey])))
        XCTAssertFalse(matches(NostrFilter(authors: [event.id])))
        XCTAssertTrue(matches(NostrFilter(since: event.createdAt, until: event.createdAt)))
        XCTAssertFalse(matches(NostrFilter(since: event.createdAt + 1)))
        XCTAssertFalse(matches(NostrFilter(until: event.createdAt - 1)))
    }

    func testEventsOutsideThePeriodAndExpiredOnesAreDroppedWithoutBlamingTheRelay() {
        let harness = ClientHarness.channel()
        harness.deliver(harness.event(age: 3_601).event, under: "s", from: a)
        XCTAssertEqual(harness.client.drops[.eventOutsidePeriod], 1)
        let now = harness.now.wall.unixSeconds
        harness.deliver(harness.event(extraTags: [["expiration", "\(now)"]]).event, under: "s", from: a)
        XCTAssertEqual(harness.client.drops[.eventExpired], 1)
        harness.deliver(harness.event(extraTags: [["expiration", "\(now + 1)"]]).event, under: "s", from: a)
        XCTAssertEqual(harness.events.count, 1)
        XCTAssertEqual(harness.status(a)?.violations, 0)
    }

    /// Chapter 06 §5.6: the envelope inside has an end of its own.
    func testADropIsNotJudgedByItsExpirationTag() {
        let harness = ClientHarness.channel()
        harness.subscribe("drops", NostrFilter(kinds: [EventKind.courierDrop], tags: ["x": ["00"]]), to: a)
        for value in ["1", "\(harness.now.wall.unixSeconds)", "soon"] {
            let drop = harness.event(kind: EventKind.courierDrop, extraTags: [["x", "00"], ["expiration", value]])
            harness.deliver(drop.event, under: "drops", from: a)
            XCTAssertEqual(harness.events.last?.event, drop, value)
        }
        XCTAssertEqual(harness.client.drops[.eventExpired], 0)
    }

    func testLateAnswersToAReplacedFilterAreNotHeldAgainstTheRelay() {
        let harness = ClientHarness.channel()
        harness.advance(.seconds(2))
        harness.subscribe("s", harness.channelFilter("u3"), to: a, b)
        for index in 0..<100 { harness.deliver(harness.event("\(index)").event, under: "s", from: a) }
        XCTAssertTrue(harness.events.isEmpty)
        XCTAssertEqual(harness.status(a)?.violations, 0)
        harness.say("[\"EOSE\",\"s\"]", from: a)
        harness.deliver(harness.event("after").event, under: "s", from: a)
        XCTAssertEqual(harness.status(a)?.violations, 1, "a relay answers in order")
        harness.deliver(harness.event("new", geohash: "u3").event, under: "s", from: a)
        XCTAssertEqual(harness.events.count, 1)
        harness.advance(.seconds(11))
        harness.deliver(harness.event("b").event, under: "s", from: b)
        XCTAssertEqual(harness.status(b)?.violations, 1, "nor is one that never says EOSE excused for ever")
    }

    func testEventsUnderASubscriptionARelayDoesNotHaveAreDropped() {
        let harness = ClientHarness.channel()
        harness.subscribe("t", to: a)
        harness.deliver(harness.event("1").event, under: "t", from: b)
        harness.deliver(harness.event("2").event, under: "nothing", from: a)
        harness.say("[\"CLOSED\",\"s\",\"error: x\"]", from: a)
        harness.deliver(harness.event("3").event, under: "s", from: a)
        XCTAssertTrue(harness.events.isEmpty)
        XCTAssertEqual(harness.client.drops[.eventUnrequested], 3)
        XCTAssertEqual(harness.status(b)?.violations, 1)
        XCTAssertEqual(harness.status(a)?.violations, 1, "what it closed itself may be on its way")
        harness.perform { $0.unsubscribe("t", at: $1) }
        harness.deliver(harness.event("4").event, under: "t", from: a)
        XCTAssertEqual(harness.status(a)?.violations, 1, "so may what was ended")
        harness.advance(.seconds(31))
        harness.deliver(harness.event("5").event, under: "t", from: a)
        harness.deliver(harness.event("6").event, under: "s", from: a)
        XCTAssertEqual(harness.status(a)?.violations, 3, "but not for ever")
        for index in 0..<17 { harness.deliver(harness.event("x\(index)").event, under: "nothing", from: a) }
        XCTAssertEqual(harness.status(a)?.lastFailure, .misbehaving)
    }

    func testOddFramesAreDroppedAndTheSocketIsKept() {
        let harness = ClientHarness.channel()
        let frames: [(String, NostrDrop)] = [
            ("", .frameMalformed), ("{}", .frameMalformed), ("[]", .frameMalformed), ("[1,2]", .frameMalformed),
            ("[\"EVENT\"]", .frameMalformed), ("[\"EVENT\",\"s\"]", .frameMalformed),
            ("[\"EVENT\",\"s\",[]]", .frameMalformed), ("[\"EVENT\",1,{}]", .frameMalformed),
            ("[\"EVENT\",\"s\",{}]", .eventMalformed), ("[\"OK\",\"x\"]", .frameMalformed),
            ("[\"OK\",1,true,\"\"]", .frameMalformed), ("[\"OK\",\"x\",\"true\"]", .frameMalformed),
            ("[\"EOSE\"]", .frameMalformed), ("[\"EOSE\",\"s\"] x", .frameMalformed),
            ("[\"EOSE\",\"zzz\"]", .endOfStoredUnmatched), ("[\"CLOSED\",\"zzz\"]", .closedUnmatched),
            ("[\"NOTICE\"]", .notice), ("[\"AUTH\",\"c\"]", .authIgnored), ("[\"COUNT\",\"s\",{}]", .frameUnknown),
            ("[\"OK\",\"\",false]", .answerUnmatched),
        ]
        for (text, reason) in frames {
            let before = harness.client.drops[reason]
            harness.say(text, from: a)
            XCTAssertEqual(harness.client.drops[reason], before + 1, text)
        }
        harness.say([0x5b, 0x22, 0xff, 0x22, 0x5d], from: a)
        XCTAssertEqual(harness.client.drops[.frameInvalidUTF8], 1)
        harness.say([UInt8](repeating: 0x20, count: 262_145), from: a)
        XCTAssertEqual(harness.client.drops[.frameOversized], 1)
        XCTAssertTrue(harness.closes.isEmpty)
        let event = harness.event()
        harness.deliver(event.event, under: "s", from: a)
        XCTAssertEqual(harness.events.map(\.event), [event])
    }

    func testEventsBeyondTheStructuralLimitsAreDropped() throws {
        let harness = ClientHarness.channel()
        var event = harness.event().event
        event.tags = Array(repeating: ["g", "u4pruyd"], count: 65)
        harness.deliver(event, under: "s", from: a)
        XCTAssertEqual(harness.client.drops[.eventBeyondLimits], 1)
        event = harness.event().event
        event.id = event.id.uppercased()
        harness.deliver(event, under: "s", from: a)
        XCTAssertEqual(harness.client.drops[.eventIDInvalid], 1)
    }

    // MARK: Load

    func testAFloodingRelayIsSlowedByTCPAndDelaysNoOther() {
        let harness = ClientHarness.channel()
        let flood = (0..<200).map { harness.event("flood \($0)").event }
        for event in flood { harness.deliver(event, under: "s", from: a) }
        // Every call has its own turn, so the burst is consumed as it comes.
        XCTAssertEqual(harness.events.count, 200)

        // Beyond its budget of 720 signature checks a relay's frames wait, then reading stops.
        for index in 0..<600 { harness.deliver(harness.event("more \(index)").event, under: "s", from: a) }
        XCTAssertEqual(harness.events.count, 720)
        XCTAssertEqual(harness.reading, [false])
        let quiet = harness.event("quiet")
        harness.deliver(quiet.event, under: "s", from: b)
        XCTAssertEqual(harness.events.last?.event, quiet)

        harness.advance(.milliseconds(84))
        XCTAssertEqual(harness.events.count, 722, "twelve a second")
        harness.advance(.seconds(10))
        XCTAssertEqual(harness.reading, [false, true])
        XCTAssertEqual(harness.client.drops[.frameShed], 0)
        harness.advance(.seconds(10))
        XCTAssertEqual(harness.events.count, 801)
    }

    func testSilenceWhileWeDoNotReadIsNotHeldAgainstTheRelay() {
        let harness = ClientHarness.channel()
        harness.answersPings = false
        exhaust(harness)
        for index in 0..<256 { harness.deliver(harness.event("\(index)").event, under: "s", from: a) }
        XCTAssertEqual(harness.reading, [false])
        // At twelve a second it takes 21 s until reading resumes; only from then on does silence count.
        harness.advance(.seconds(60))
        XCTAssertEqual(harness.reading, [false, true])
        XCTAssertEqual(harness.pings, [b])
        harness.advance(.seconds(5))
        XCTAssertEqual(harness.pings, [b, a])
    }

    func testFramesOfARelayThatCannotBeStoppedAreShedOldestFirst() {
        let harness = ClientHarness.channel()
        exhaust(harness)
        let waiting = (0..<300).map { harness.event("\($0)") }
        for event in waiting { harness.deliver(event.event, under: "s", from: a) }
        XCTAssertEqual(harness.client.drops[.frameShed], 300 - 256)
        harness.advance(.seconds(60))
        XCTAssertEqual(harness.events.map(\.event), Array(waiting.suffix(256)))
    }

    /// Uses the verification budget of relay a up.
    private func exhaust(_ harness: ClientHarness) {
        for index in 0..<720 { harness.deliver(harness.event("spent \(index)").event, under: "s", from: a) }
        harness.events.removeAll()
    }

    private func badlySigned(_ event: NostrEvent) -> NostrEvent {
        var event = event
        event.sig = String(repeating: "1", count: 128)
        return event
    }

    func testOneTurnChecksABoundedNumberOfSignaturesAndTheRestFollowsAtOnce() {
        let harness = ClientHarness.channel()
        let client = harness.client
        guard let socket = harness.socket(a) else { return XCTFail("connected") }
        // Over budget first, so that frames pile up; then enough time for all of them.
        exhaust(harness)
        for index in 0..<64 {
            let json = String(decoding: harness.event("\(index)").json(), as: UTF8.self)
            client.received([UInt8]("[\"EVENT\",\"s\",\(json)]".utf8), on: socket, at: harness.now)
        }
        harness.drain()
        XCTAssertEqual(harness.events.count, 0)
        harness.move(to: harness.now.monotonic + .seconds(30))
        client.timeout(at: harness.now)
        harness.drain()
        XCTAssertEqual(harness.events.count, NostrLimits.verificationsPerTurn)
        XCTAssertLessThanOrEqual(client.nextDeadline ?? .distantFuture, harness.now.monotonic)
        harness.advance(.zero)
        XCTAssertEqual(harness.events.count, 64)
    }

    func testOneTurnParsesABoundedNumberOfBytesAndTheRestFollowsAtOnce() {
        let harness = ClientHarness.channel()
        let client = harness.client
        guard let a = harness.socket(a), let b = harness.socket(b) else { return XCTFail("connected") }
        exhaust(harness)
        // Behind a frame that has to wait for its signature check, four megabytes that mean nothing.
        let waiting = String(decoding: harness.event("y").json(), as: UTF8.self)
        client.received([UInt8]("[\"EVENT\",\"s\",\(waiting)]".utf8), on: a, at: harness.now)
        let notice = [UInt8]("[\"NOTICE\",\"".utf8) + [UInt8](repeating: 0x61, count: 200_000) + [UInt8]("\"]".utf8)
        for _ in 0..<20 { client.received(notice, on: a, at: harness.now) }
        harness.drain()
        XCTAssertEqual(client.drops[.notice], 0)
        harness.move(to: harness.now.monotonic + .seconds(1))
        client.timeout(at: harness.now)
        XCTAssertEqual(client.drops[.notice], 6, "a mebibyte is begun with the sixth")
        XCTAssertLessThanOrEqual(client.nextDeadline ?? .distantFuture, harness.now.monotonic)
        client.received([UInt8]("[\"NOTICE\",\"\"]".utf8), on: b, at: harness.now)
        harness.advance(.zero)
        XCTAssertEqual(client.drops[.notice], 21)
    }

    func testTenThousandHostileFramesNeitherTrapNorGrowAnything() {
        let harness = ClientHarness.channel()
        var random = SeededRandom(seed: 99)
        let genuine = [UInt8](
            "[\"EVENT\",\"s\",\(String(decoding: harness.event("a \\ \" 😀").json(), as: UTF8.self))]".utf8)
        let words = ["EVENT", "OK", "EOSE", "CLOSED", "s", "{", "}", "[", "]", "\"", ",", ":", "\\u", "\\ud83d", "1e9"]
        for round in 0..<10_000 {
            var bytes: [UInt8]
            switch round % 4 {
            case 0: bytes = random.bytes(Int.random(in: 0...200, using: &random))
            case 1:
                bytes = genuine
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            case 2: bytes = Array(genuine.prefix(Int.random(in: 0...genuine.count, using: &random)))
            default:
                bytes = []
                for _ in 0..<Int.random(in: 1...30, using: &random) {
                    bytes += words[Int.random(in: words.indices, using: &random)].utf8
                }
            }
            let relay = round.isMultiple(of: 2) ? a : b
            harness.say(bytes, from: relay)
            guard harness.socket(relay) == nil else { continue }
            harness.perform { $0.retry(at: $1) }
            harness.open(relay)
        }
        harness.advance(.seconds(5))
        XCTAssertLessThanOrEqual(harness.events.count, 1)
        XCTAssertEqual(harness.client.relays(at: harness.now).count, 2)
        XCTAssertGreaterThan(harness.client.drops.total, 9_000)
        XCTAssertGreaterThan(harness.client.failures[.misbehaving], 40)
        XCTAssertLessThanOrEqual(harness.client.recent.count, 1)
    }

    func testTheSameSeedGivesTheSameRun() {
        func run() -> [String] {
            let harness = ClientHarness(defaults: [a, b], seed: 42)
            for _ in 0..<5 {
                harness.fail(a)
                _ = harness.advanceToDial(a)
            }
            return harness.dials.map { "\($0.relay) \($0.at.nanoseconds)" }
        }
        XCTAssertEqual(run(), run())
    }
}

import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §3.4, §3.9, §4.10 and the budgets.
final class DownlinkTests: XCTestCase {
    // MARK: Hold

    func testDownlinkIsHeldBetweenTwoTenthsAndOneAndAHalfSeconds() throws {
        for seed in 0..<40 {
            let rig = Rig(random: UInt64(seed))
            rig.relay(try Author(1).channelMessage())
            rig.run(.milliseconds(199))
            XCTAssertTrue(rig.broadcasts.isEmpty)
            rig.run(.milliseconds(1_301))
            XCTAssertEqual(rig.broadcasts.map(\.direction), [.fromGateway])
            XCTAssertNil(rig.broadcasts.first.flatMap { $0.geohash == "u4pru" ? nil : $0 })
        }
    }

    func testMessagesOfAChannelKeepTheirOrder() throws {
        let author = try Author(1)
        let rig = Rig(random: 9)
        let events = (0..<20).map { author.channelMessage("\($0)") }
        for event in events {
            rig.relay(event)
            rig.run(.milliseconds(100))
        }
        rig.run(.seconds(2))
        XCTAssertEqual(try rig.broadcasts.map { try NostrEvent(json: $0.event) }, events.map(\.event))
    }

    func testEventThatGrewStaleWhileHeldIsNotSent() throws {
        let rig = Rig()
        rig.relay(try Author(1).channelMessage(at: Clock.start - 900))
        rig.now.wall = WallTime(milliseconds: rig.now.wall.milliseconds + 1_000)
        rig.run(.seconds(2))
        XCTAssertTrue(rig.broadcasts.isEmpty)
        XCTAssertEqual(rig.counters.channelDownlinks[.expired], 1)
    }

    // MARK: Budget

    /// Thirty of thirty five go out and the rest by timer alone.
    func test35Events30ThenRestAfterWindowAlsoByTimerAlone() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<30 { rig.relay(author.channelMessage("\(index)")) }
        rig.run(.milliseconds(1_500))
        XCTAssertEqual(rig.broadcasts.count, 30)
        XCTAssertEqual(rig.status.channels.carriers, GatewayStatus.Use(used: 30, limit: 30))
        for index in 30..<35 { rig.relay(author.channelMessage("\(index)")) }
        rig.run(.seconds(58))
        XCTAssertEqual(rig.broadcasts.count, 30)
        XCTAssertEqual(rig.status.channels.pendingDownlinks, GatewayStatus.Use(used: 5, limit: 30))
        rig.run(.seconds(3))
        XCTAssertEqual(rig.broadcasts.count, 35)
    }

    /// Stale backfill and wrong channel cost no budget.
    func testStaleBackfillAndMismatchCostNoBudget() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<100 {
            rig.relay(author.channelMessage("old \(index)", at: Clock.start - 901))
            rig.relay(author.channelMessage("elsewhere \(index)", in: "u4prv"))
            rig.relay(
                author.event(kind: EventKind.presence, tags: [["g", "u4pru"]], "", at: Clock.start - Int64(index)))
        }
        XCTAssertEqual(rig.status.channels.pendingDownlinks.used, 0)
        for index in 0..<30 { rig.relay(author.channelMessage("\(index)")) }
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 30)
    }

    func testThirtyFirstPendingDisplacesTheOldestWhichStaysEligible() throws {
        let author = try Author(1)
        let rig = Rig()
        let events = (0..<31).map { author.channelMessage("\($0)") }
        for event in events { rig.relay(event) }
        XCTAssertEqual(rig.counters.channelDownlinks[.displaced], 1)
        rig.run(.seconds(2))
        XCTAssertFalse(try rig.broadcasts.contains { try NostrEvent(json: $0.event) == events[0].event })
        rig.run(.seconds(70))
        rig.relay(events[0])
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 31)
    }

    /// A count alone does not bound airtime: a carrier of 16 KiB is a train of some 35 fragments on every link.
    func testLargeCarriersAreBoundedByBytes() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<10 {
            rig.relay(author.channelMessage(String(repeating: "a", count: 15_000) + "\(index)"))
        }
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 2)
        rig.run(.seconds(60))
        XCTAssertEqual(rig.broadcasts.count, 4, "nothing is lost, only later")
        for _ in 0..<10 {
            XCTAssertLessThanOrEqual(rig.status.channels.bytes.used, rig.status.channels.bytes.limit)
            rig.run(.seconds(10))
        }
    }

    func testFirstCarrierOfAWindowFitsWhateverItsSize() {
        var budget = AirtimeBudget(carriers: 5, bytes: 1_000)
        let now = Instant(nanoseconds: 0)
        XCTAssertTrue(budget.take(5_000, at: now))
        XCTAssertFalse(budget.take(1, at: now))
        XCTAssertTrue(budget.take(1, at: now + .milliseconds(60_001)))
    }

    func testMessageTooLargeForACarrierIsSkippedAndStallsNothing() throws {
        let author = try Author(1)
        let rig = Rig()
        rig.relay(author.channelMessage(String(repeating: "a", count: 16_384)))
        rig.relay(author.channelMessage("small"))
        rig.relayBridge(
            author.event(
                tags: [["r", "u4pruy"], ["n", String(repeating: "n", count: 300)]],
                String(repeating: "b", count: 16_000)))
        rig.relayBridge(author.bridgeMessage("small"))
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 2)
        XCTAssertEqual(rig.counters.channelDownlinks[.oversize], 1)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.oversize], 1)
    }

    /// Bridge budget is twenty a minute.
    func testBudget20() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<25 { rig.relayBridge(author.bridgeMessage("\(index)")) }
        rig.run(.seconds(59))
        XCTAssertEqual(rig.broadcasts.count, 20)
        XCTAssertEqual(rig.status.bridge.carriers, GatewayStatus.Use(used: 20, limit: 20))
        rig.run(.seconds(4))
        XCTAssertEqual(rig.broadcasts.count, 25)
    }

    func testSwitchingOffDoesNotRefillTheBudget() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<30 { rig.relay(author.channelMessage("\(index)")) }
        rig.run(.seconds(2))
        rig.gateway.stop(at: rig.now)
        rig.gateway.start(at: rig.now)
        rig.relay(author.channelMessage("more"))
        rig.run(.seconds(10))
        XCTAssertEqual(rig.broadcasts.count, 30)
    }

    // MARK: Fairness

    func testBusyChannelDoesNotStarveAQuietOne() throws {
        let author = try Author(1)
        let rig = Rig(.reference(channels: ["u4pru", "9q8yy"]))
        rig.relay(author.channelMessage("quiet 0", in: "9q8yy"), "geo-9q8yy")
        for index in 0..<60 { rig.relay(author.channelMessage("busy \(index)")) }
        for index in 1..<3 { rig.relay(author.channelMessage("quiet \(index)", in: "9q8yy"), "geo-9q8yy") }
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.filter { $0.geohash == "9q8yy" }.count, 3)
    }

    func testChannelsTakeTurnsWhenAirtimeIsShort() {
        var queue = DownlinkQueue()
        let now = Instant(nanoseconds: 0)
        for index in 0..<6 {
            for channel in ["a", "b", "c"] where channel == "a" || index < 2 {
                let carrier = NostrCarrier(direction: .fromGateway, geohash: channel, event: [])
                let id = EventID(hashing: Array("\(channel)\(index)".utf8))
                let downlink = PendingDownlink(
                    id: id, channel: channel, author: "", createdAt: 0, carrier: carrier)
                XCTAssertNil(queue.add(downlink, hold: .zero, at: now))
            }
        }
        var order = ""
        while let next = queue.next(at: now) {
            order += next.channel
            queue.sent(next.id)
        }
        XCTAssertEqual(order, "abcabcaaaa")
    }

    /// Deposits may name any geohash, and each would be a channel that has not had its turn.
    func testEchoesOfManyGeohashesLeaveAFollowedChannelItsShare() throws {
        let rig = Rig(.reference(echo: true))
        for index in 0..<30 { rig.relay(try Author(1).channelMessage("\(index)")) }
        let alphabet = Array("bcdefghjkmnpqrstuvwxyz0123456789")
        for index in 0..<30 {
            let place = "s\(alphabet[index])"
            let depositor = PeerID(value: UInt64(index % 3 + 1))
            rig.deposit(try Author(UInt8(2 + index % 3)).channelMessage(in: place), in: place, from: depositor)
        }
        rig.run(.seconds(10))
        XCTAssertEqual(rig.broadcasts.count, 30)
        XCTAssertGreaterThanOrEqual(rig.broadcasts.filter { $0.geohash == "u4pru" }.count, 10)
        XCTAssertGreaterThanOrEqual(rig.broadcasts.filter { $0.geohash != "u4pru" }.count, 10)
    }

    func testAChannelThatComesAndGoesDoesNotAlwaysGoFirst() {
        var queue = DownlinkQueue()
        let now = Instant(nanoseconds: 0)
        var number = 0
        func add(_ channel: String) {
            number += 1
            let carrier = NostrCarrier(direction: .fromGateway, geohash: channel, event: [])
            let id = EventID(hashing: Array("\(number)".utf8))
            let downlink = PendingDownlink(id: id, channel: channel, author: "", createdAt: 0, carrier: carrier)
            _ = queue.add(downlink, hold: .zero, at: now)
        }
        for _ in 0..<10 { add("busy") }
        var order: [String] = []
        for turn in 0..<16 {
            add("fresh\(turn)")
            guard let next = queue.next(at: now) else { return XCTFail("nothing waits") }
            order.append(next.channel)
            queue.sent(next.id)
        }
        XCTAssertGreaterThanOrEqual(order.filter { $0 == "busy" }.count, 2)
        XCTAssertLessThan(order.firstIndex(of: "busy") ?? .max, 2)
    }

    /// The oldest goes, of the author who has most waiting.
    func testAFloodOfOneAuthorPushesOutItsOwnMessages() throws {
        let rig = Rig()
        let honest = try Author(1).channelMessage("honest")
        rig.relay(honest)
        for index in 0..<40 { rig.relay(try Author(2).channelMessage("\(index)")) }
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 30)
        XCTAssertTrue(rig.broadcasts.contains(honest.carrier(.fromGateway, "u4pru")))
    }

    // MARK: Echo

    func testDepositIsEchoedOnceWithinTheBudget() throws {
        let rig = Rig(.reference(echo: true))
        let event = try Author(1).channelMessage()
        rig.deposit(event)
        XCTAssertEqual(rig.published.count, 1)
        rig.run(.milliseconds(199))
        XCTAssertTrue(rig.broadcasts.isEmpty)
        rig.relay(event)
        rig.deposit(event)
        rig.run(.seconds(300))
        XCTAssertEqual(rig.broadcasts, [event.carrier(.fromGateway, "u4pru")])
        XCTAssertEqual(rig.counters.channelDownlinks[.echoed], 1)
        XCTAssertEqual(rig.counters.channelDownlinks[.sent], 0)
    }

    func testEchoCountsInTheBudget() throws {
        let author = try Author(1)
        let rig = Rig(.reference(echo: true))
        for index in 0..<29 { rig.relay(author.channelMessage("\(index)")) }
        rig.run(.seconds(2))
        rig.deposit(author.channelMessage("one"))
        rig.deposit(author.channelMessage("two"))
        rig.run(.seconds(10))
        XCTAssertEqual(rig.broadcasts.count, 30)
        rig.run(.seconds(60))
        XCTAssertEqual(rig.broadcasts.count, 31)
    }

    func testEchoAlsoServesTheIslandWhileNoRelayIsConnected() throws {
        let rig = Rig(.reference(echo: true), relays: false)
        rig.deposit(try Author(1).channelMessage())
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 1)
        rig.setRelays(true)
        XCTAssertEqual(rig.published.count, 1)
    }

    func testEchoStandsDownWhenAnotherGatewayWasFaster() throws {
        let rig = Rig(.reference(echo: true))
        let event = try Author(1).channelMessage()
        rig.deposit(event)
        rig.run(.milliseconds(150))
        rig.receive(event.carrier(.fromGateway, "u4pru"))
        rig.run(.seconds(60))
        XCTAssertTrue(rig.broadcasts.isEmpty)
        XCTAssertEqual(rig.counters.channelDownlinks[.heardMeanwhile], 1)
    }

    func testBridgeDepositsAreNotEchoed() throws {
        let rig = Rig(.reference(echo: true))
        rig.bridgeDeposit(try Author(1).bridgeMessage())
        rig.run(.seconds(60))
        XCTAssertTrue(rig.broadcasts.isEmpty, "the author's radio message reached the island")
    }

    // MARK: Subscriptions

    func testEventOfAnUnknownSubscriptionGoesNowhere() throws {
        let rig = Rig()
        rig.relay(try Author(1).channelMessage(in: "9q8yy"), "geo-9q8yy")
        rig.relay(try Author(1).channelMessage(), "chat-messages")
        rig.run(.seconds(2))
        XCTAssertTrue(rig.broadcasts.isEmpty)
        XCTAssertEqual(rig.counters.channelDownlinks[.unknownSubscription], 2)
    }

    /// A relay may send anything under a subscription's ID: nothing outside its filter reaches the air.
    func testEventOutsideTheFilterIsNotDownlinked() throws {
        let rig = Rig()
        rig.relay(try Author(1).channelMessage(in: "9q8yy"))
        rig.relay(try Author(1).bridgeMessage())
        rig.relayBridge(try Author(1).channelMessage())
        rig.relayBridge(try Author(1).bridgeMessage(in: "zzzzzz"))
        rig.run(.seconds(2))
        XCTAssertTrue(rig.broadcasts.isEmpty)
    }
}

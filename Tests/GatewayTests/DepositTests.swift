import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §3.2, §3.3, §4.9.
final class DepositTests: XCTestCase {
    func testDepositIsHandedOnUnalteredToTheRelaysOfItsOwnPlace() throws {
        let rig = Rig()
        let event = try Author(1).channelMessage(in: "9q8yy")
        rig.deposit(event, in: "9q8yy")
        XCTAssertEqual(rig.published.map(\.event), [event])
        XCTAssertEqual(rig.published.map(\.geohash), ["9q8yy"])
        XCTAssertEqual(rig.counters.channelDeposits[.published], 1)
    }

    func testVerifiedDepositPublishedAndShown() throws {
        let rig = Rig()
        rig.gateway.view("u4pru", at: rig.now)
        let event = try Author(1).channelMessage("hello")
        rig.deposit(event)
        XCTAssertEqual(rig.published.map(\.event), [event])
        XCTAssertEqual(rig.shown.map(\.id), [event.id])
    }

    func testRefusedDepositNotShown() throws {
        let author = try Author(1)
        let rig = Rig()
        rig.gateway.view("u4pru", at: rig.now)
        for index in 0..<11 { rig.deposit(author.channelMessage("\(index)"), from: .bob) }
        let shown = rig.shown.count
        rig.deposit(author.channelMessage("one too many"), from: .bob)
        rig.receive(
            NostrCarrier(.toGateway, "u4pru", author.channelMessage("x").forged), addressedToUs: true, from: .alice)
        rig.deposit(author.channelMessage("old", at: Clock.start - 901))
        XCTAssertEqual(rig.shown.count, shown)
        XCTAssertFalse(rig.shown.contains { $0.text == "10" })
    }

    // MARK: Tokens

    /// Eleventh deposit in a minute is refused and the window slides.
    func test11thDepositInAMinuteDroppedOtherDepositorUnaffectedWindowSlides() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<11 { rig.deposit(author.channelMessage("\(index)")) }
        XCTAssertEqual(rig.published.count, 10)
        XCTAssertEqual(rig.counters.channelDeposits[.depositorLimit], 1)
        rig.deposit(author.channelMessage("other depositor"), from: .bob)
        XCTAssertEqual(rig.published.count, 11)
        rig.run(.seconds(60))
        rig.deposit(author.channelMessage("at exactly 60 s"))
        XCTAssertEqual(rig.published.count, 11)
        rig.run(.milliseconds(1))
        rig.deposit(author.channelMessage("later"))
        XCTAssertEqual(rig.published.count, 12)
    }

    func testForgedSignatureCostsATokenAndRepeatedEventDoesNot() throws {
        let author = try Author(1)
        let rig = Rig()
        let event = author.channelMessage("first")
        rig.deposit(event)
        for _ in 0..<20 { rig.deposit(event) }
        for index in 0..<9 {
            let forged = author.channelMessage("\(index)").forged
            rig.receive(NostrCarrier(.toGateway, "u4pru", forged), addressedToUs: true, from: .alice)
        }
        XCTAssertEqual(rig.counters.channelDeposits[.forged], 9)
        rig.deposit(author.channelMessage("one too many"))
        XCTAssertEqual(rig.counters.channelDeposits[.depositorLimit], 1)
        XCTAssertEqual(rig.published.count, 1)
    }

    func testBadStructureCostsNoToken() throws {
        let author = try Author(1)
        let rig = Rig()
        for _ in 0..<30 {
            rig.deposit(author.event(kind: 1, tags: [["g", "u4pru"]]))
            rig.deposit(author.event(tags: [["g", "zzzzz"]]))
            rig.deposit(author.channelMessage(at: Clock.start - 901))
        }
        rig.deposit(author.channelMessage("fine"))
        XCTAssertEqual(rig.published.count, 1)
        XCTAssertEqual(rig.counters.channelDeposits[.wrongKind], 30)
        XCTAssertEqual(rig.counters.channelDeposits[.wrongTag], 30)
        XCTAssertEqual(rig.counters.channelDeposits[.stale], 30)
    }

    func testTrackedDepositorsStayBoundedAndIdleOnesAreForgotten() {
        var tokens = DepositTokens()
        let start = Instant(nanoseconds: 0)
        for index in 0..<GatewayLimits.trackedDepositors {
            XCTAssertTrue(tokens.take(for: PeerID(value: UInt64(index)), at: start))
        }
        XCTAssertFalse(tokens.take(for: .alice, at: start + .seconds(60)), "all are busy: a new one is refused")
        XCTAssertEqual(tokens.depositors, GatewayLimits.trackedDepositors)
        XCTAssertTrue(tokens.take(for: .alice, at: start + .milliseconds(60_001)))
        XCTAssertEqual(tokens.depositors, 1)
    }

    // MARK: Queue

    /// Sixth queued deposit of one depositor is refused.
    func test6thQueuedPerDepositorRefused() throws {
        let author = try Author(1)
        let rig = Rig(relays: false)
        for index in 0..<6 { rig.deposit(author.channelMessage("\(index)")) }
        XCTAssertEqual(rig.status.channels.queuedDeposits, GatewayStatus.Use(used: 5, limit: 20))
        XCTAssertEqual(rig.counters.channelDeposits[.depositorQueueFull], 1)
    }

    /// Twenty first deposit evicts the oldest.
    func test21stEvictsOldest() throws {
        let author = try Author(1)
        let rig = Rig(relays: false)
        let events = (0..<21).map { author.channelMessage("\($0)") }
        for (index, event) in events.enumerated() { rig.deposit(event, from: PeerID(value: UInt64(index / 5))) }
        XCTAssertEqual(rig.status.channels.queuedDeposits.used, 20)
        XCTAssertEqual(rig.counters.channelDeposits[.displaced], 1)
        rig.setRelays(true)
        XCTAssertEqual(rig.published.map(\.event), Array(events.dropFirst()), "in order")
        rig.setRelays(false)
        rig.deposit(events[0], from: .bob)
        XCTAssertEqual(rig.status.channels.queuedDeposits.used, 1, "an evicted one may come again")
    }

    /// Flush happens on the edge only.
    func testFlushOnReconnect() throws {
        let rig = Rig(relays: false)
        let events = try (1...3 as ClosedRange<UInt8>).map { try Author($0).channelMessage("\($0)") }
        let bridged = try Author(4).bridgeMessage("bridged")
        for event in events { rig.deposit(event) }
        rig.bridgeDeposit(bridged)
        rig.setRelays(false)
        rig.run(.seconds(30))
        XCTAssertTrue(rig.published.isEmpty)
        rig.setRelays(true)
        XCTAssertEqual(rig.published.map(\.event), events + [bridged], "in the order they came")
        rig.setRelays(true)
        rig.setRelays(false)
        rig.setRelays(true)
        XCTAssertEqual(rig.published.count, 4)
        XCTAssertEqual(rig.status.channels.queuedDeposits.used + rig.status.bridge.queuedDeposits.used, 0)
    }

    /// Relays refuse ephemeral events past 60 s: publishing one is silent loss, so it is dropped where it is counted.
    func testQueuedEventOlderThanAMinuteIsDroppedAtFlush() throws {
        for (wait, isPublished) in [(60.0, true), (61.0, false)] {
            let rig = Rig(relays: false)
            rig.deposit(try Author(1).channelMessage())
            rig.bridgeDeposit(try Author(1).bridgeMessage())
            rig.run(.seconds(wait))
            rig.setRelays(true)
            XCTAssertEqual(rig.published.count, isPublished ? 2 : 0, "after \(wait) s")
            XCTAssertEqual(rig.counters.channelDeposits[.expired], isPublished ? 0 : 1)
            XCTAssertEqual(rig.counters.bridgeDeposits[.expired], isPublished ? 0 : 1)
        }
    }

    func testAdvertisementDoesNotFlapWithRelays() {
        let rig = Rig()
        XCTAssertEqual(rig.advertised.count, 1)
        for _ in 0..<3 {
            rig.setRelays(false)
            rig.setRelays(true)
        }
        XCTAssertEqual(rig.advertised.count, 1)
    }

    // MARK: Bridge

    func testBridgeDepositMayBeForAnyCellAndPresence() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage(in: "9q8yyk")
        rig.bridgeDeposit(event, in: "9q8yyk")
        rig.bridgeDeposit(try Author(1).presence())
        XCTAssertEqual(rig.published.map(\.geohash), ["9q8yyk", "u4pruy"])
    }

    func testDepositPublishedQueuedLimited() throws {
        let author = try Author(1)
        let online = Rig()
        for index in 0..<11 { online.bridgeDeposit(author.bridgeMessage("\(index)")) }
        XCTAssertEqual(online.published.count, 10)
        XCTAssertEqual(online.counters.bridgeDeposits[.depositorLimit], 1)
        let offline = Rig(relays: false)
        for index in 0..<6 { offline.bridgeDeposit(author.bridgeMessage("\(index)")) }
        XCTAssertEqual(offline.status.bridge.queuedDeposits.used, 5)
        offline.setRelays(true)
        XCTAssertEqual(offline.published.count, 5)
    }

    func testBridgeDepositorLimitsAreThoseOfTheGatewayAndSeparate() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<11 { rig.bridgeDeposit(author.bridgeMessage("\(index)")) }
        XCTAssertEqual(rig.published.count, 10)
        rig.deposit(author.channelMessage())
        XCTAssertEqual(rig.published.count, 11)
    }

    func testForgedBridgeDepositCostsTokenAndVerification() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<11 {
            let forged = author.bridgeMessage("\(index)").forged
            rig.receive(NostrCarrier(.toBridge, "u4pruy", forged), addressedToUs: true, from: .alice)
        }
        XCTAssertEqual(rig.counters.bridgeDeposits[.forged], 10)
        XCTAssertEqual(rig.counters.bridgeDeposits[.depositorLimit], 1)
    }
}

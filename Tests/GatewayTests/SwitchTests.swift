import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §1.2, §3.3, §4.12 and §20.1: switches, the clock gate, and what is advertised.
final class SwitchTests: XCTestCase {
    func testBothBitsAndTheCellAreAdvertisedAtOnce() {
        let rig = Rig()
        XCTAssertEqual(
            rig.advertised, [GatewayAdvertisement(capabilities: [.gateway, .bridge], cell: "u4pruy")])
    }

    /// Stopping withdraws bits and subscriptions.
    func testOffClosesAndClears() {
        let rig = Rig()
        rig.gateway.stop(at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.advertised.last, GatewayAdvertisement.none)
        XCTAssertEqual(Set(rig.unsubscribed), ["geo-u4pru", "bridge-rendezvous"])
        rig.gateway.stop(at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.advertised.count, 2, "an unchanged announce is not repeated")
        rig.gateway.start(at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.advertised.last, rig.advertised.first)
        XCTAssertEqual(rig.subscribed.map(\.id), ["geo-u4pru", "bridge-rendezvous", "geo-u4pru", "bridge-rendezvous"])
    }

    /// Bridge bit needs a cell.
    /// A box has no way to find out where it is, so that the fix is requested of the operator: `config check` says so.
    func testNoCellFixRequested() {
        let rig = Rig(.reference(cell: nil))
        XCTAssertEqual(rig.advertised, [GatewayAdvertisement(capabilities: [.gateway], cell: nil)])
        XCTAssertEqual(rig.subscribed.map(\.id), ["geo-u4pru"])
    }

    func testOnlyTheJobsDoneAreAdvertised() throws {
        let bridgeOnly = Rig(.reference(jobs: [.bridge]))
        XCTAssertEqual(bridgeOnly.advertised.first?.capabilities, [.bridge])
        bridgeOnly.deposit(try Author(1).channelMessage())
        XCTAssertTrue(bridgeOnly.published.isEmpty)
        XCTAssertEqual(bridgeOnly.counters.channelDeposits[.switchedOff], 1)
        let downlinkOnly = Rig(.reference(jobs: [.downlink]))
        XCTAssertTrue(downlinkOnly.advertised.isEmpty)
        XCTAssertEqual(downlinkOnly.subscribed.map(\.id), ["geo-u4pru"])
    }

    /// The switch of a box is its configuration: a process that starts again with it does what the one before did.
    func testSwitchPersists() throws {
        for jobs in [.all, [.bridge], [.downlink], []] as [GatewayConfiguration.Jobs] {
            let (before, after) = (Rig(.reference(jobs: jobs)), Rig(.reference(jobs: jobs), random: 2))
            XCTAssertEqual(before.advertised, after.advertised)
            XCTAssertEqual(before.subscribed.map(\.id), after.subscribed.map(\.id))
        }
    }

    // MARK: Clock

    func testNothingIsAdvertisedOrPublishedBeforeTheClockIsTrusted() throws {
        let rig = Rig(.reference(echo: true, presence: true), start: false)
        rig.gateway.start(at: rig.now)
        rig.setRelays(true)
        rig.deposit(try Author(1).channelMessage())
        rig.bridgeDeposit(try Author(1).bridgeMessage())
        rig.relay(try Author(2).channelMessage())
        rig.relayBridge(try Author(2).bridgeMessage())
        XCTAssertEqual(
            rig.gateway.say("hi", inChannel: "u4pru", nickname: nil, gateway: .bob, at: rig.now), .clockUntrusted)
        XCTAssertEqual(
            rig.gateway.bridgeOwnMessage(
                "hi", sender: .us, radioTime: rig.now.wall, nickname: nil, bridgePeer: .bob, at: rig.now),
            .clockUntrusted)
        rig.run(.seconds(600))
        XCTAssertTrue(rig.advertised.isEmpty && rig.published.isEmpty && rig.broadcasts.isEmpty)
        XCTAssertTrue(rig.subscribed.isEmpty && rig.deposited.isEmpty)
        XCTAssertEqual(rig.counters.channelDeposits[.clockUntrusted], 1)
        XCTAssertEqual(rig.counters.bridgeDeposits[.clockUntrusted], 1)
        rig.gateway.setClockTrusted(true, at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.advertised.count, 1)
        XCTAssertEqual(rig.subscribed.map(\.id), ["geo-u4pru", "bridge-rendezvous"])
    }

    func testLosingTheClockWithdrawsEverything() throws {
        let rig = Rig()
        rig.gateway.setClockTrusted(false, at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.advertised.last, GatewayAdvertisement.none)
        XCTAssertEqual(rig.unsubscribed.count, 2)
        XCTAssertFalse(rig.status.isClockTrusted)
        rig.deposit(try Author(1).channelMessage())
        XCTAssertTrue(rig.published.isEmpty)
    }

    // MARK: What switching off clears

    /// Switching off clears queues and tokens but no i ds.
    func testSwitchOffClearsQueues() throws {
        let author = try Author(1)
        let rig = Rig(relays: false)
        let heard = try Author(2).channelMessage("heard")
        rig.receive(heard.carrier(.fromGateway, "u4pru"))
        for index in 0..<5 {
            rig.deposit(author.channelMessage("\(index)"))
            rig.bridgeDeposit(author.bridgeMessage("\(index)"))
        }
        rig.relay(author.channelMessage("held"))
        rig.relayBridge(author.bridgeMessage("held"))
        rig.gateway.stop(at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.status.channels.queuedDeposits.used + rig.status.bridge.queuedDeposits.used, 0)
        XCTAssertEqual(rig.status.channels.pendingDownlinks.used + rig.status.bridge.pendingDownlinks.used, 0)
        XCTAssertTrue(rig.status.participants.isEmpty)
        XCTAssertEqual(rig.counters.channelDeposits[.cleared], 5)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.cleared], 1)
        XCTAssertNil(rig.gateway.nextDeadline)

        rig.gateway.start(at: rig.now)
        rig.setRelays(true)
        XCTAssertTrue(rig.published.isEmpty)
        rig.deposit(heard, from: .bob)
        XCTAssertEqual(rig.counters.channelDeposits[.repeated], 1, "what was heard stays heard")
        for index in 0..<10 { rig.deposit(author.channelMessage("again \(index)")) }
        XCTAssertEqual(rig.published.count, 10, "fresh tokens")
    }

    /// Deposits are refused while off.
    func testOffNothing() throws {
        let rig = Rig()
        rig.gateway.stop(at: rig.now)
        rig.deposit(try Author(1).channelMessage())
        rig.bridgeDeposit(try Author(1).bridgeMessage())
        rig.relay(try Author(2).channelMessage())
        rig.relayBridge(try Author(2).bridgeMessage())
        rig.relayBridge(try Author(2).presence())
        rig.run(.minutes(10))
        XCTAssertTrue(rig.published.isEmpty && rig.broadcasts.isEmpty && rig.deposited.isEmpty)
        XCTAssertTrue(rig.shown.isEmpty && rig.status.participants.isEmpty)
        XCTAssertEqual(rig.counters.channelDeposits[.switchedOff], 1)
        XCTAssertEqual(rig.counters.bridgeDeposits[.switchedOff], 1)
        XCTAssertNil(rig.gateway.nextDeadline)
    }

    /// Broadcasts are received while off.
    func testFromBridgeAcceptedWithSwitchOff() throws {
        let rig = Rig(start: false)
        rig.gateway.view("u4pru", at: rig.now)
        let channel = try Author(1).channelMessage()
        let bridge = try Author(1).bridgeMessage()
        rig.receive(channel.carrier(.fromGateway, "u4pru"))
        rig.receive(bridge.carrier(.fromBridge, "u4pruy"))
        XCTAssertEqual(rig.shown.map(\.id), [channel.id, bridge.id])
    }

    // MARK: Channels

    func testSubscriptionsAreThoseOfAPhone() throws {
        let rig = Rig()
        let channel = try XCTUnwrap(rig.subscribed.first { $0.id == "geo-u4pru" })
        XCTAssertEqual(
            channel.filter,
            NostrFilter(
                kinds: [20_000, 20_001], tags: ["g": ["u4pru"]], since: Clock.start - 3_600, limit: 200))
        XCTAssertEqual(channel.geohash, "u4pru")
        XCTAssertFalse(channel.fallsBackToDefaultRelays)
        let bridge = try XCTUnwrap(rig.subscribed.first { $0.id == "bridge-rendezvous" })
        XCTAssertEqual(
            bridge.filter,
            NostrFilter(
                kinds: [20_000, 20_001],
                tags: [
                    "r": [
                        "u4pruy", "u4pruz", "u4prvp", "u4prvn", "u4prvj", "u4pruv", "u4prut", "u4pruw", "u4prux",
                    ]
                ], since: Clock.start - 900, limit: 200))
        XCTAssertEqual(bridge.geohash, "u4pruy")
        XCTAssertTrue(bridge.fallsBackToDefaultRelays)
    }

    func testExtraCellsAreAskedForAtTheirOwnRelaysAndDownlinked() throws {
        let rig = Rig(.reference(extraCells: ["9q8yyk", "u4pruz", "9q8yyk"]))
        let extra = rig.subscribed.filter { $0.id.hasPrefix("bridge-rendezvous-") }
        XCTAssertEqual(extra.map(\.geohash), ["9q8yyk"], "one in the ring already, one named twice")
        XCTAssertEqual(extra.first?.filter.tags, ["r": ["9q8yyk"]])
        rig.relay(try Author(1).bridgeMessage(in: "9q8yyk"), "bridge-rendezvous-9q8yyk")
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.map(\.geohash), ["9q8yyk"])
    }

    func testCellIsConfiguredInSixLowerCaseCharacters() {
        XCTAssertNil(RendezvousCell("u4pru"))
        XCTAssertNil(RendezvousCell("U4PRUY"))
        XCTAssertNil(RendezvousCell("u4prua"))
        XCTAssertEqual(RendezvousCell("u4pruydq")?.geohash, "u4pruy")
    }

    // MARK: Presence

    func testAnUnattendedBoxPublishesNoPresence() {
        let rig = Rig()
        rig.run(.minutes(20))
        XCTAssertTrue(rig.published.isEmpty)
    }

    func testPresenceIsPublishedEveryFourMinutesAndNotFasterThanEveryThirtySeconds() throws {
        let rig = Rig(.reference(presence: true))
        XCTAssertEqual(rig.published.count, 1)
        for _ in 0..<5 {
            rig.setRelays(false)
            rig.setRelays(true)
        }
        XCTAssertEqual(rig.published.count, 1)
        rig.run(.seconds(480))
        XCTAssertEqual(rig.published.count, 3)
        let event = try XCTUnwrap(rig.published.last?.event)
        XCTAssertEqual(event.event.kind, EventKind.presence)
        XCTAssertEqual(event.event.tags, [["r", "u4pruy"]])
        rig.relayBridge(event)
        XCTAssertTrue(rig.status.participants.isEmpty, "we are no participant of our own")
        rig.setRelays(false)
        rig.run(.seconds(480))
        XCTAssertEqual(rig.published.count, 3)
    }
}

import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Two gateways on one island, in one virtual time: what one broadcasts the other hears 50 ms later.
final class TwoGatewayTests: XCTestCase {
    private final class Island {
        let gateways: [Rig]
        private var inFlight = DeadlineQueue<(carrier: NostrCarrier, from: Int)>()
        private(set) var heard: [NostrCarrier] = []
        private var now = Clock.now()
        static let delay = Interval.milliseconds(50)

        init(_ configuration: GatewayConfiguration, seed: UInt64) {
            gateways = [Rig(configuration, random: seed), Rig(configuration, random: seed &+ 1_000)]
            for (index, rig) in gateways.enumerated() {
                rig.onBroadcast = { [weak self, weak rig] carrier in
                    guard let self, let rig else { return }
                    self.heard.append(carrier)
                    self.inFlight.add((carrier, index), due: rig.now.monotonic + Island.delay)
                }
            }
        }

        func run(_ span: Interval) {
            let end = now.advanced(by: span)
            while now.monotonic < end.monotonic {
                let due = ([inFlight.nextDeadline] + gateways.map(\.gateway.nextDeadline)).compactMap { $0 }.min()
                let next = min(max(due ?? end.monotonic, now.monotonic), end.monotonic)
                now = now.advanced(by: next - now.monotonic)
                for rig in gateways { rig.run(now.monotonic - rig.now.monotonic) }
                while let flight = inFlight.takeDue(at: now.monotonic) {
                    gateways[1 - flight.from].receive(flight.carrier)
                }
            }
        }
    }

    func testOnlyOneOfTwoGatewaysBroadcastsAnEventBothGot() throws {
        var broadcasts = 0
        for seed in 0..<100 {
            let island = Island(.reference(), seed: UInt64(seed))
            let event = try Author(1).channelMessage("\(seed)")
            for rig in island.gateways { rig.relay(event) }
            island.run(.seconds(3))
            broadcasts += island.heard.count
            XCTAssertGreaterThanOrEqual(island.heard.count, 1)
        }
        // Holds less than the 50 ms of travel apart cannot be told apart: about one in thirteen.
        XCTAssertLessThanOrEqual(broadcasts, 120)
    }

    /// Only one of two gateways broadcasts a bridged message.
    func testOtherGatewaysBroadcastCancelsOurs() throws {
        let island = Island(.reference(), seed: 4)
        let event = try Author(1).bridgeMessage()
        for rig in island.gateways { rig.relayBridge(event) }
        island.run(.seconds(3))
        XCTAssertEqual(island.heard.map(\.direction), [.fromBridge])
        let other = try XCTUnwrap(island.gateways.first { $0.broadcasts.isEmpty })
        XCTAssertEqual(other.counters.bridgeDownlinks[.heardMeanwhile], 1)
        other.relayBridge(event)
        island.run(.seconds(3))
        XCTAssertEqual(island.heard.count, 1, "nor when the relay sends it again")
    }

    func testDepositAtOneGatewayIsToldToTheIslandOnce() throws {
        let island = Island(.reference(echo: true), seed: 11)
        let event = try Author(1).channelMessage()
        island.gateways[0].deposit(event)
        XCTAssertEqual(island.gateways[0].published.count, 1)
        island.run(.milliseconds(100))
        for rig in island.gateways { rig.relay(event) }
        island.run(.seconds(10))
        XCTAssertEqual(island.heard.count, 1)
        XCTAssertTrue(island.gateways[1].published.isEmpty)
    }

    func testDepositsAtBothGatewaysAreBothAccepted() throws {
        let island = Island(.reference(echo: true), seed: 2)
        island.gateways[0].deposit(try Author(1).channelMessage("one"))
        island.gateways[1].deposit(try Author(2).channelMessage("two"))
        island.run(.seconds(10))
        XCTAssertEqual(island.gateways.map(\.published.count), [1, 1])
        XCTAssertEqual(island.heard.count, 2)
    }

    /// Two islands, two gateways, one cell (chapter 06 §17.3), and no loop between them through the relay.
    func testTwoIslandsHearEachOtherOnce() throws {
        let here = Rig(random: 1)
        let there = Rig(random: 2)
        let event = try Author(1).bridgeMessage()
        here.bridgeDeposit(event)
        for _ in 0..<3 {
            for rig in [here, there] { rig.relayBridge(event) }
            here.run(.seconds(5))
            there.run(.seconds(5))
        }
        XCTAssertEqual(here.published.count, 1)
        XCTAssertTrue(here.broadcasts.isEmpty && there.published.isEmpty)
        XCTAssertEqual(there.broadcasts.map(\.direction), [.fromBridge])
        XCTAssertEqual(there.shown.map(\.id), [event.id])
    }
}

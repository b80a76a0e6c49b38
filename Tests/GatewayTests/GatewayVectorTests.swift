import Basics
import Nostr
import TestSupport
import Wire
import XCTest

@testable import Gateway

final class GatewayVectorTests: XCTestCase {
    /// State carried from rate-002 to rate-003, as the vectors say.
    private var rated: Rig?

    func testTheGatewayDecidesAsTheReferenceDoes() throws {
        try Vectors("gateway.json").run { vector in
            switch vector.kind {
            case "deposit": try deposit(vector)
            case "mesh_broadcast": try meshBroadcast(vector)
            case "downlink": try downlink(vector)
            case "loop": try loop(vector)
            case "rate": try rate(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func rig(_ vector: VectorCase, relays: Bool = true) throws -> Rig {
        let rig = Rig(
            .reference(jobs: [.uplink, .downlink], cell: nil), relays: relays,
            at: Clock.now(unix: Int64(try vector.int("nowUnix"))))
        if !vector.isNull("viewing") { rig.gateway.view(try vector.string("viewing"), at: rig.now) }
        return rig
    }

    private func deposit(_ vector: VectorCase) throws {
        let isConnected = try vector.bool("relaysConnected")
        let rig = try rig(vector, relays: isConnected)
        if let carrier = NostrCarrier(payload: try vector.bytes("carrier")) {
            rig.receive(carrier, addressedToUs: true, from: .alice)
        }
        XCTAssertEqual(rig.published.map(\.event.id.hex), try vector.strings("published"), vector.name)
        XCTAssertEqual(rig.status.channels.queuedDeposits.used, try vector.array("queued").count, vector.name)
        XCTAssertEqual(rig.shown.map(\.id.hex), try vector.strings("shown"), vector.name)
        guard !isConnected else { return }
        let queued = try vector.strings("queued")
        rig.setRelays(true)
        // What waited is published at once, unless it is past the age at which relays refuse it.
        let isPublishable = rig.counters.channelDeposits[.expired] == 0
        XCTAssertEqual(rig.published.map(\.event.id.hex), isPublishable ? queued : [], vector.name)
    }

    private func meshBroadcast(_ vector: VectorCase) throws {
        let rig = try rig(vector)
        if let carrier = NostrCarrier(payload: try vector.bytes("carrier")) { rig.receive(carrier) }
        XCTAssertEqual(rig.shown.map(\.id.hex), try vector.strings("shown"), vector.name)
        rig.run(.seconds(120))
        XCTAssertTrue(rig.broadcasts.isEmpty && rig.published.isEmpty, vector.name)
    }

    /// Straight at the service: the vectors also use geohashes that no configuration admits.
    private func downlink(_ vector: VectorCase) throws {
        var now = Clock.now(unix: Int64(try vector.int("nowUnix")))
        let geohash = try vector.string("geohash")
        var surroundings = GatewaySurroundings(random: SeededRandom(seed: 3))
        var channels = ChannelGateway(.reference())
        channels.start(at: now, effects: &surroundings.effects)
        let json = try JSONSerialization.data(withJSONObject: vector.object("event").members)
        let event = try? NostrEvent(json: [UInt8](json))
        if let verified = event.flatMap({ VerifiedEvent(verifying: $0) }) {
            channels.relayEvent(verified, in: geohash, &surroundings, at: now)
        }
        var carriers: [NostrCarrier] = []
        // The vectors' clock stands still, and only our hold lies between arrival and sending.
        now.monotonic = now.monotonic + GatewayLimits.longestHold
        channels.timeout(&surroundings, at: now)
        while let effect = surroundings.effects.popFirst() {
            if case .broadcast(let carrier) = effect { carriers.append(carrier) }
        }
        XCTAssertEqual(carriers.count, try vector.int("rebroadcast"), vector.name)
        let direction = try vector.optionalInt("direction").flatMap { NostrCarrier.Direction(rawValue: UInt8($0)) }
        XCTAssertEqual(carriers.first?.direction, direction, vector.name)
        guard let carrier = carriers.first else { return }
        XCTAssertEqual(carrier.geohash, geohash)
        XCTAssertEqual(try NostrEvent(json: carrier.event), event, "\(vector.name): carried unchanged")
    }

    private func loop(_ vector: VectorCase) throws {
        let story = try GatewayStory(of: vector)
        let rig = Rig(relays: !story.isOffline)
        let event = try Author(1).channelMessage()
        rig.play(story, in: .channel("u4pru")) { event }
        rig.run(.seconds(120))
        try rig.checkTotals(of: rig.status.channels, rebroadcasts: "rebroadcast", vector)
    }

    private func rate(_ vector: VectorCase) throws {
        let story = try GatewayStory(of: vector)
        let rig = try story.goesOn ? XCTUnwrap(rated) : Rig(relays: !story.isOffline)
        let author = try Author(2)
        var number = 0
        rig.play(story, in: .channel("u4pru")) {
            number += 1
            return author.channelMessage("\(vector.name) \(number)", at: rig.now.wall.unixSeconds)
        }
        rated = rig
        try rig.checkTotals(of: rig.status.channels, rebroadcasts: "rebroadcast", vector)
    }

    func testNamesOfCasesAreUnderstoodAsSentences() {
        func steps(_ name: String) -> [GatewayStory.Step] { GatewayStory(name, label: "rate").steps }
        XCTAssertEqual(steps("rate-007 3 deposits twice from 2 peers"), [.deposit(count: 6, peers: 2)])
        XCTAssertEqual(
            steps("12 deposits in one minute, then two more deposits 61 s later, reconnect"),
            [.deposit(count: 12, peers: 1), .pause(seconds: 61), .deposit(count: 2, peers: 1), .reconnected])
        XCTAssertEqual(steps("relay copy first, radio copy after"), [.relayed(count: 1), .heard])
        XCTAssertEqual(steps("fromBridge broadcast, relay copy"), [.heard, .relayed(count: 1)])
        XCTAssertEqual(steps("nothing of note"), [])
        XCTAssertTrue(GatewayStory("then 4 offline deposits", label: "rate").goesOn)
        XCTAssertTrue(GatewayStory("then 4 offline deposits", label: "rate").isOffline)
    }
}

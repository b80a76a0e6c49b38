import Basics
import Nostr
import TestSupport
import Wire
import XCTest

@testable import Gateway

final class GatewayVectorTests: XCTestCase {
    /// State carried from rate-002 to rate-003, as the vectors say.
    private var rated: Rig?

    func testGatewayVectors() throws {
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
        let rig = Rig(relays: relays, at: Clock.now(unix: Int64(try vector.int("nowUnix"))))
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
        let event = try NostrEvent(json: [UInt8](json))
        if let verified = VerifiedEvent(verifying: event) {
            channels.relayEvent(verified, in: geohash, &surroundings, at: now)
        }
        var carriers: [NostrCarrier] = []
        // The vectors' clock stands still, and only our hold lies between arrival and sending.
        now.monotonic = now.monotonic + GatewayLimits.longestHold
        channels.timeout(&surroundings, at: now)
        while let effect = surroundings.effects.next() {
            if case .broadcast(let carrier) = effect { carriers.append(carrier) }
        }
        XCTAssertEqual(carriers.count, try vector.int("rebroadcast"), vector.name)
        let direction = try vector.optionalInt("direction").flatMap { NostrCarrier.Direction(rawValue: UInt8($0)) }
        XCTAssertEqual(carriers.first?.direction, direction, vector.name)
        guard let carrier = carriers.first else { return }
        XCTAssertEqual(carrier.geohash, geohash)
        XCTAssertEqual(try NostrEvent(json: carrier.event), event, "\(vector.name): carried unchanged")
    }

    /// These kinds carry no input: their names say what to do.
    private func loop(_ vector: VectorCase) throws {
        let rig = Rig()
        let event = try Author(1).channelMessage()
        if vector.name.contains("broadcast toGateway") {
            rig.receive(event.carrier(.toGateway, "u4pru"), addressedToUs: false, from: .alice)
        } else if vector.name.contains("same deposit twice then relay echo") {
            rig.deposit(event)
            rig.deposit(event, from: .bob)
            rig.relay(event)
        } else if vector.name.contains("learned from mesh") {
            rig.receive(event.carrier(.fromGateway, "u4pru"))
            rig.deposit(event)
            rig.relay(event)
        } else {
            throw vector.unknownKind
        }
        rig.run(.seconds(120))
        XCTAssertEqual(rig.published.count, try vector.int("published"), vector.name)
        if let count = try vector.optionalInt("rebroadcast") {
            XCTAssertEqual(rig.broadcasts.count, count, vector.name)
        }
    }

    private func rate(_ vector: VectorCase) throws {
        let author = try Author(2)
        let words = vector.name.split(separator: " ").dropFirst()
        let count = try XCTUnwrap(words.lazy.compactMap { Int($0) }.first)
        let events = (0..<count).map { author.channelMessage("\(vector.name) \($0)") }
        if words.contains("offline") {
            let rig = Rig(relays: false)
            for event in events { rig.deposit(event) }
            rated = rig
        } else if words.first == "then" {
            let rig = try XCTUnwrap(rated)
            for (index, event) in events.enumerated() {
                rig.deposit(event, from: PeerID(value: 1_000 + UInt64(index)))
            }
        } else if words.contains("deposits") {
            let rig = Rig()
            for event in events {
                rig.deposit(event)
                rig.run(.milliseconds(59_000 / count))
            }
            rated = rig
        } else if words.contains("relay") {
            let rig = Rig()
            for event in events {
                rig.relay(event)
                rig.run(.milliseconds(55_000 / count))
            }
            rig.run(.seconds(2))
            rated = rig
        } else {
            throw vector.unknownKind
        }
        guard let rig = rated else { return }
        if let published = try vector.optionalInt("published") {
            XCTAssertEqual(rig.published.count, published, vector.name)
        }
        if let queued = try vector.optionalInt("queued") {
            XCTAssertEqual(rig.status.channels.queuedDeposits.used, queued, vector.name)
        }
        if let rebroadcast = try vector.optionalInt("rebroadcast") {
            XCTAssertEqual(rig.broadcasts.count, rebroadcast, vector.name)
        }
    }
}

import Basics
import Crypto
import Nostr
import TestSupport
import Wire
import XCTest

@testable import Gateway

final class BridgeVectorTests: XCTestCase {
    /// State of the case before, for one that goes on from it.
    private var rated: Rig?

    func testTheBridgeDecidesAsTheReferenceDoes() throws {
        try Vectors("bridge.json").run { vector in
            switch vector.kind {
            case "subscription": try subscription(vector)
            case "mesh_broadcast": try meshBroadcast(vector)
            case "deposit": try deposit(vector)
            case "loop": try loop(vector)
            case "rate": try rate(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func rig(_ vector: VectorCase, relays: Bool = true) throws -> Rig {
        let seed = try vector.optionalBytes("deviceSeed").flatMap { DeviceSeed($0) }
        return Rig(
            .reference(jobs: .bridge, cell: try vector.string("cell")), seed: seed, relays: relays,
            at: Clock.now(unix: Int64(try vector.int("nowUnix"))))
    }

    private func verifiedEvent(_ vector: VectorCase) throws -> VerifiedEvent? {
        let json = try JSONSerialization.data(withJSONObject: vector.object("event").members)
        return (try? NostrEvent(json: [UInt8](json))).flatMap { VerifiedEvent(verifying: $0) }
    }

    private func checkShown(_ rig: Rig, _ vector: VectorCase) throws {
        guard let expected = try vector.optionalObject("shown") else {
            return XCTAssertEqual(rig.shown, [], vector.name)
        }
        XCTAssertEqual(rig.shown.count, 1, vector.name)
        let shown = try XCTUnwrap(rig.shown.first)
        XCTAssertEqual(shown.id.hex, try expected.string("messageID"), vector.name)
        XCTAssertEqual(shown.text, try expected.string("content"), vector.name)
        XCTAssertEqual(shown.nickname, try expected.optionalString("participantNickname"), vector.name)
        XCTAssertEqual(shown.radioHint, try expected.optionalString("radioMessageIDHint"), vector.name)
        XCTAssertEqual(shown.displayName, try expected.string("senderNickname"), vector.name)
        XCTAssertEqual(shown.pubkey, try expected.string("senderPubkey"), vector.name)
        XCTAssertEqual(shown.time, Int64(try expected.int("timestampUnix")), vector.name)
    }

    private func subscription(_ vector: VectorCase) throws {
        XCTAssertTrue(vector.isNull("carrierTLVs"), vector.name)
        let rig = try rig(vector)
        if let event = try verifiedEvent(vector) { rig.relayBridge(event) }
        try checkShown(rig, vector)
        XCTAssertEqual(rig.status.participants.map(\.displayName), try vector.strings("participants"), vector.name)
        rig.holdPasses()
        let isRebroadcast = try vector.bool("rebroadcast")
        XCTAssertEqual(rig.broadcasts.map(\.direction), isRebroadcast ? [.fromBridge] : [], vector.name)
    }

    private func meshBroadcast(_ vector: VectorCase) throws {
        let rig = try rig(vector)
        if let carrier = NostrCarrier(payload: try vector.bytes("carrier")) { rig.receive(carrier) }
        try checkShown(rig, vector)
        rig.run(.seconds(120))
        XCTAssertEqual(!rig.broadcasts.isEmpty, try vector.bool("rebroadcast"), vector.name)
    }

    private func deposit(_ vector: VectorCase) throws {
        let rig = try rig(vector, relays: try vector.bool("relaysConnected"))
        let isAddressed = vector.isNull("directedToUs") ? true : try vector.bool("directedToUs")
        if let carrier = NostrCarrier(payload: try vector.bytes("carrier")) {
            rig.receive(carrier, addressedToUs: isAddressed, from: .alice)
        }
        XCTAssertEqual(rig.published.map(\.event.id.hex), try vector.strings("published"), vector.name)
        XCTAssertEqual(rig.status.bridge.queuedDeposits.used, try vector.int("queued"), vector.name)
        XCTAssertTrue(rig.shown.isEmpty, "\(vector.name): the island has the author's own radio message")
    }

    private func loop(_ vector: VectorCase) throws {
        let story = try story(vector)
        let rig = try rig(vector, relays: !story.isOffline)
        let cell = try vector.string("cell")
        let fresh = try Author(4).bridgeMessage(in: cell, at: rig.now.wall.unixSeconds)
        let event = vector.isNull("event") ? fresh : try XCTUnwrap(verifiedEvent(vector))
        rig.play(story, in: .cell(cell)) { event }
        rig.run(.seconds(120))
        try checkTotals(rig, vector)
    }

    private func rate(_ vector: VectorCase) throws {
        let story = try story(vector)
        let rig = try story.goesOn ? XCTUnwrap(rated) : Rig(relays: !story.isOffline)
        let author = try Author(4)
        var number = 0
        rig.play(story, in: .cell("u4pruy")) {
            number += 1
            return author.bridgeMessage("\(vector.name) \(number)", at: rig.now.wall.unixSeconds)
        }
        rated = rig
        try checkTotals(rig, vector)
    }

    private func story(_ vector: VectorCase) throws -> GatewayStory {
        let story = try GatewayStory(of: vector)
        return try vector.optionalInt("deposits").map(story.depositing) ?? story
    }

    private func checkTotals(_ rig: Rig, _ vector: VectorCase) throws {
        try rig.checkTotals(of: rig.status.bridge, rebroadcasts: "rebroadcasts", vector)
        if !vector.isNull("shown") { XCTAssertEqual(!rig.shown.isEmpty, try vector.bool("shown"), vector.name) }
    }
}

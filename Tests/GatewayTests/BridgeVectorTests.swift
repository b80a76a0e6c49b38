import Basics
import Crypto
import Nostr
import TestSupport
import Wire
import XCTest

@testable import Gateway

final class BridgeVectorTests: XCTestCase {
    func testBridgeVectors() throws {
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
            .reference(cell: try vector.string("cell")), seed: seed, relays: relays,
            at: Clock.now(unix: Int64(try vector.int("nowUnix"))))
    }

    private func verifiedEvent(_ vector: VectorCase) throws -> VerifiedEvent? {
        let json = try JSONSerialization.data(withJSONObject: vector.object("event").members)
        return VerifiedEvent(verifying: try NostrEvent(json: [UInt8](json)))
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
        let rig = try rig(vector)
        let event = try XCTUnwrap(verifiedEvent(vector))
        let cell = try vector.string("cell")
        if vector.name.contains("radio first, then relay copy and deposit") {
            rig.receive(event.carrier(.fromBridge, cell))
            rig.relayBridge(event)
            rig.bridgeDeposit(event, in: cell)
        } else if vector.name.contains("deposit published, relay echo") {
            rig.bridgeDeposit(event, in: cell)
            rig.relayBridge(event)
            XCTAssertEqual(!rig.shown.isEmpty, try vector.bool("shown"))
        } else {
            throw vector.unknownKind
        }
        rig.run(.seconds(120))
        XCTAssertEqual(rig.published.count, try vector.int("published"), vector.name)
        XCTAssertEqual(rig.broadcasts.count, try vector.int("rebroadcasts"), vector.name)
    }

    private func rate(_ vector: VectorCase) throws {
        let author = try Author(4)
        let isOnline = !vector.isNull("published")
        let rig = Rig(relays: isOnline)
        for index in 0..<(try vector.int("deposits")) { rig.bridgeDeposit(author.bridgeMessage("message \(index)")) }
        if isOnline {
            XCTAssertEqual(rig.published.count, try vector.int("published"), vector.name)
        } else {
            XCTAssertEqual(rig.status.bridge.queuedDeposits.used, try vector.int("queued"), vector.name)
        }
    }
}

import Basics
import TestSupport
import XCTest

@testable import Wire

final class PacketIDVectorTests: XCTestCase {
    /// The media ID is a payload matter: TextFormTests runs it.
    private static let checkedElsewhere: Set<String> = ["media_id"]

    func testIdentifiersAreTheReferences() throws {
        try Vectors("packet_ids.json").run { vector in
            switch vector.kind {
            case "sync_id":
                let packet = try packet(vector)
                XCTAssertEqual(packet.id.bytes, try vector.bytes("id"), vector.name)
                XCTAssertEqual(PacketID(packet.id.bytes), packet.id, vector.name)
                let frame = try Frame(packet.encoded())
                XCTAssertEqual(frame.withView { PacketID($0) }, packet.id, vector.name)
            case "ingress_id":
                let packet = try packet(vector)
                XCTAssertEqual(messageIDText(packet), try vector.string("id"), vector.name)
                let frame = try Frame(packet.encoded())
                XCTAssertEqual(frame.withView { messageIDText($0) }, try vector.string("id"), vector.name)
            case "stable_id":
                let id = StableMessageID.make(
                    sender: try XCTUnwrap(PeerID(hex: vector.string("senderIDHex"))),
                    timestamp: WallTime(milliseconds: try vector.uint64("timestampMs")),
                    content: try vector.string("content"))
                XCTAssertEqual(id, try vector.string("id"), vector.name)
            case let kind where Self.checkedElsewhere.contains(kind): break
            default: throw vector.unknownKind
            }
        }
    }

    private func packet(_ vector: VectorCase) throws -> Packet {
        Packet(
            version: 2, type: MessageType(rawValue: UInt8(try vector.int("type"))),
            timestamp: WallTime(milliseconds: try vector.uint64("timestamp")),
            senderID: try XCTUnwrap(PeerID(vector.bytes("senderID"))), payload: try vector.bytes("payload"))
    }
}

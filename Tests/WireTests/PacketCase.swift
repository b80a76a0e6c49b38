import Basics
import TestSupport
import XCTest

@testable import Wire

extension VectorCase {
    /// The `packet` member as the encoder's input. IDs that are not 8 bytes are normalised the way the wire form
    /// prescribes (chapter 01 §2.4), because `PeerID` cannot hold them.
    func packet() throws -> Packet {
        Packet(
            version: UInt8(try int("version")), type: MessageType(rawValue: UInt8(try int("type"))),
            ttl: UInt8(try int("ttl")), timestamp: WallTime(milliseconds: try uint64("timestamp")),
            senderID: try PeerID(normalizing: bytes("senderID")),
            recipientID: try optionalBytes("recipientID").map { try PeerID(normalizing: $0) },
            route: isNull("route") ? [] : try bytesList("route").map { try PeerID(hop: $0) },
            payload: try bytes("payload"), signature: try optionalBytes("signature"),
            isSyncResponse: try bool("isRSR"))
    }
}

extension PeerID {
    struct EmptyHop: Error {}

    init(normalizing bytes: [UInt8]) throws {
        self = try XCTUnwrap(PeerID((bytes + Array(repeating: 0, count: 8)).prefix(8)))
    }

    /// A route hop of zero length cannot be encoded.
    init(hop bytes: [UInt8]) throws {
        guard !bytes.isEmpty else { throw EmptyHop() }
        try self.init(normalizing: bytes)
    }
}

/// Bytes written in hex, spaces allowed for legibility.
func hex(_ text: String) -> [UInt8] { Hex.decode(text.filter { !$0.isWhitespace }) ?? [] }

extension Array where Element == UInt8 {
    init(repeating byte: UInt8, times count: Int) { self.init(repeating: byte, count: count) }
}

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

/// Bytes written in hex, with spaces for legibility and `*n` behind a byte for a run of it: `5a*64`.
func octets(_ text: String, file: StaticString = #filePath, line: UInt = #line) -> [UInt8] {
    text.split(whereSeparator: \.isWhitespace).flatMap { word -> [UInt8] in
        let parts = word.split(separator: "*")
        let bytes = hex(String(parts[0]), file: file, line: line)
        guard parts.count == 2, let last = bytes.last, let times = Int(parts[1]) else { return bytes }
        return bytes + Array(repeating: last, count: times - 1)
    }
}

/// SHA-256 in counter mode, the incompressible filler of chapter 01 §17.7.
func filler(_ count: Int) -> [UInt8] {
    var bytes = [UInt8]()
    var counter: UInt32 = 0
    while bytes.count < count {
        var block = [UInt8]()
        block.append(bigEndian: counter)
        bytes += SHA256.hash(block)
        counter += 1
    }
    return Array(bytes.prefix(count))
}

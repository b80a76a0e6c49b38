import Basics
import TestSupport
import XCTest

@testable import Wire

final class AnnounceV2Tests: XCTestCase {
    func testAnnouncesOfTheSecondKindDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("announce_v2.json").run { vector in
            switch vector.kind {
            case "encode", "encode_reject":
                let announce = try self.announce(vector.object("announce"))
                XCTAssertEqual(announce.encoded(), try vector.optionalBytes("encoded"), vector.name)
            case "accept", "reject":
                let expected = try vector.optionalObject("announce").map(self.announce)
                XCTAssertEqual(AnnounceV2(payload: try vector.bytes("payload")), expected, vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func announce(_ fields: VectorCase) throws -> AnnounceV2 {
        AnnounceV2(
            epoch: try fields.uint32("epoch"), tagBlock: try fields.bytes("tagBlock"),
            capabilities: try fields.optionalUInt64("capabilities").map(Capabilities.init(rawValue:)),
            bridgeGeohash: try fields.optionalString("bridgeGeohash"))
    }
}

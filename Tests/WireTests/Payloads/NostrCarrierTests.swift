import Basics
import TestSupport
import XCTest

@testable import Wire

final class NostrCarrierTests: XCTestCase {
    /// `eventParses` and `eventValid` speak of the event inside: GatewayTests.CarriedEventTests checks them.
    func testCarriersDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("nostr_carrier.json").run { vector in
            switch vector.kind {
            case "encode":
                let carrier = try self.carrier(vector, event: Array(vector.string("eventJSON").utf8))
                let encoded = try vector.bytes("encoded")
                XCTAssertEqual(carrier.encoded(), encoded, vector.name)
                XCTAssertEqual(NostrCarrier(payload: encoded), carrier, vector.name)
            case "encode_reject", "encode_large":
                let byte = try UInt8(vector.int("eventByteValue"))
                let event = [UInt8](repeating: byte, count: try vector.int("eventBytes"))
                let encoded = try self.carrier(vector, event: event).encoded()
                XCTAssertEqual(encoded?.count, try vector.optionalInt("encodedLength"), vector.name)
            case "accept":
                let expected = try self.carrier(vector, event: vector.bytes("eventJSON"))
                XCTAssertEqual(NostrCarrier(payload: try vector.bytes("payload")), expected, vector.name)
            case "reject":
                XCTAssertNil(NostrCarrier(payload: try vector.bytes("payload")), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func carrier(_ vector: VectorCase, event: [UInt8]) throws -> NostrCarrier {
        let direction = try XCTUnwrap(NostrCarrier.Direction(rawValue: UInt8(vector.int("direction"))))
        return NostrCarrier(direction: direction, geohash: try vector.string("geohash"), event: event)
    }

    /// Chapter 01 §17.12.
    func testTheCarrierOfTheExampleIsEncodedAsWritten() {
        let carrier = NostrCarrier(direction: .fromGateway, geohash: "u4pruy", event: Array(#"{"id":"x"}"#.utf8))
        let payload = hex("0100010202000675347072757903000a7b226964223a2278227d")
        XCTAssertEqual(carrier.encoded(), payload)
        XCTAssertEqual(NostrCarrier(payload: payload), carrier)
    }

    func testSizesOutsideTheirLimitsReject() {
        let event = [UInt8](repeating: 0x7b, count: 16_384)
        XCTAssertNotNil(NostrCarrier(direction: .toGateway, geohash: "u", event: event).encoded())
        XCTAssertNil(NostrCarrier(direction: .toGateway, geohash: "u", event: event + [0]).encoded())
        XCTAssertNil(NostrCarrier(payload: hex("010001010200017503") + hex("4001") + event + [0]))
        XCTAssertNil(NostrCarrier(payload: hex("0100010102000175030000")))
    }
}

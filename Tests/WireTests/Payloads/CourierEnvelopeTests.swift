import Basics
import TestSupport
import XCTest

@testable import Wire

final class CourierEnvelopeTests: XCTestCase {
    func testEnvelopesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("courier.json").run { vector in
            switch vector.kind {
            case "encode", "encode_reject":
                let envelope = try self.envelope(vector.object("envelope"))
                let encoded = try vector.optionalBytes("encoded")
                XCTAssertEqual(envelope.encoded(), encoded, vector.name)
                if let encoded { XCTAssertEqual(CourierEnvelope(payload: encoded), envelope, vector.name) }
            case "accept", "reject":
                let expected = try vector.optionalObject("envelope").map(self.envelope)
                XCTAssertEqual(CourierEnvelope(payload: try vector.bytes("payload")), expected, vector.name)
            case "expired":
                let envelope = CourierEnvelope(
                    recipientTag: [], expiry: try vector.wallTime("expiry"), ciphertext: [])
                let now = self.time(try vector.double("nowUnixSeconds"))
                XCTAssertEqual(envelope.isExpired(at: now), try vector.bool("expired"), vector.name)
            case "epoch_day":
                let day = CourierEnvelope.day(at: self.time(try vector.double("unixSeconds")))
                XCTAssertEqual(day, try vector.uint32("day"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func envelope(_ fields: VectorCase) throws -> CourierEnvelope {
        CourierEnvelope(
            recipientTag: try fields.bytes("recipientTag"), expiry: try fields.wallTime("expiry"),
            ciphertext: try fields.bytes("ciphertext"), copies: UInt8(try fields.int("copies")),
            prekeyID: try fields.optionalUInt32("prekeyID"))
    }

    /// Times before 1970, which the wire cannot express, are its earliest.
    private func time(_ unixSeconds: Double) -> WallTime {
        WallTime(milliseconds: UInt64(max(0, unixSeconds * 1_000)))
    }

    /// Chapter 01 §17.9.
    func testTheEnvelopeOfTheExampleIsEncodedAsWritten() {
        let envelope = CourierEnvelope(
            recipientTag: hex("015b88cdb372eb671deb12053b964f9a"),
            expiry: WallTime(milliseconds: Example.time.milliseconds + 86_400_000),
            ciphertext: [UInt8](repeating: 0xc0, count: 32), copies: 4, prekeyID: 7)
        let payload = hex(
            """
            010010015b88cdb372eb671deb12053b964f9a020008000001977947387b030020c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0
            c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c00400010405000400000007
            """)
        XCTAssertEqual(envelope.encoded(), payload)
        XCTAssertEqual(CourierEnvelope(payload: payload), envelope)
        XCTAssertEqual(CourierEnvelope.day(at: Example.time), 20_254)
    }

    func testCiphertextIsBoundedBothWays() {
        var envelope = CourierEnvelope(
            recipientTag: [UInt8](repeating: 1, count: 16), expiry: Example.time,
            ciphertext: [UInt8](repeating: 2, count: 16_384))
        XCTAssertNotNil(envelope.encoded().flatMap(CourierEnvelope.init(payload:)))
        envelope.ciphertext.append(2)
        XCTAssertNil(envelope.encoded())
        let head = hex("010010") + envelope.recipientTag + hex("02000800000197794738 7b")
        XCTAssertNil(CourierEnvelope(payload: head + hex("034001") + envelope.ciphertext))
    }

    func testDayOfTheLatestTimeDoesNotTrap() {
        XCTAssertEqual(CourierEnvelope.day(at: WallTime(milliseconds: .max)), .max)
    }
}

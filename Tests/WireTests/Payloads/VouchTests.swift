import Basics
import TestSupport
import XCTest

@testable import Wire

final class VouchTests: XCTestCase {
    func testVouchesDecodeAndEncodeAsTheReferenceDoes() throws {
        let vectors = try Vectors("vouch.json")
        vectors.run { vector in
            switch vector.kind {
            case "attestation":
                let attestation = try self.attestation(vector.object("fields"))
                let encoded = try vector.bytes("encoded")
                XCTAssertEqual(attestation.signedBytes, try vector.bytes("signableBytes"), vector.name)
                XCTAssertEqual(attestation.encoded(), encoded, vector.name)
                XCTAssertEqual(VouchAttestation(payload: encoded), attestation, vector.name)
            case "accept", "reject":
                let expected = try vector.optionalObject("fields").map(self.attestation)
                XCTAssertEqual(VouchAttestation(payload: try vector.bytes("payload")), expected, vector.name)
            case "expiry":
                let timestamp = try vector.uint64("timestampMs")
                let attestation = VouchAttestation(
                    fingerprint: [], signingPublicKey: [], timestamp: WallTime(milliseconds: timestamp), signature: [])
                let now = Int64(timestamp) + Int64(try vector.int("ageSeconds")) * 1_000
                let isCurrent = attestation.isCurrent(at: WallTime(milliseconds: UInt64(now)))
                XCTAssertEqual(isCurrent, try !vector.bool("expired"), vector.name)
            case "list":
                let attestations = try self.attestations(vector)
                XCTAssertEqual(attestations.count, try vector.int("count"), vector.name)
                XCTAssertEqual(VouchBatch.encoded(attestations), try vector.bytes("encoded"), vector.name)
            case "list_reject":
                let count = try vector.optionalInt("count") ?? 0
                XCTAssertNil(VouchBatch.encoded(.init(repeating: Self.example, count: count)), vector.name)
            case "list_decode":
                XCTAssertEqual(
                    VouchBatch.attestations(in: try vector.bytes("payload")), try self.attestations(vector),
                    vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func attestations(_ vector: VectorCase) throws -> [VouchAttestation] {
        try vector.bytesList("attestations").map { try XCTUnwrap(VouchAttestation(payload: $0)) }
    }

    private func attestation(_ fields: VectorCase) throws -> VouchAttestation {
        VouchAttestation(
            fingerprint: try fields.bytes("voucheeFingerprint"),
            signingPublicKey: try fields.bytes("voucheeSigningKey"), timestamp: try fields.wallTime("timestampMs"),
            signature: try fields.bytes("signature"))
    }

    private static let example = VouchAttestation(
        fingerprint: Example.B.fingerprint, signingPublicKey: Example.B.signingPublicKey, timestamp: Example.time,
        signature: hex(
            """
            69dcb915451583b7e62e4f1c6c3113ba5fd250bed824969e8a412c664864579c82e4fc013afff263d85babee873b6131
            cce6a4342582badd53311677a1890f0f
            """))

    /// Chapter 01 §17.14.
    func testTheVouchOfTheExampleIsEncodedAsWritten() {
        let batch = hex(
            """
            0100900120bc841db8fea3efd84555a7f8eeb925033c90c9d5034b1a4c48a6c87de3c0ebde0220882d0ea3b2864e7a58
            7f3e698cea4459998312e655e05fa5e8b5119d8baac8cd0308000001977420dc7b044069dcb915451583b7e62e4f1c6c
            3113ba5fd250bed824969e8a412c664864579c82e4fc013afff263d85babee873b6131cce6a4342582badd53311677a1
            890f0f
            """)
        XCTAssertEqual(VouchBatch.encoded([Self.example]), batch)
        XCTAssertEqual(VouchBatch.attestations(in: batch), [Self.example])
        XCTAssertEqual(
            Self.example.signedBytes,
            hex(
                """
                626974636861742d766f7563682d7631bc841db8fea3efd84555a7f8eeb925033c90c9d5034b1a4c48a6c87de3c0ebde
                882d0ea3b2864e7a587f3e698cea4459998312e655e05fa5e8b5119d8baac8cd000001977420dc7b
                """))
    }

    func testSixteenAttestationsFitABatch() throws {
        let full = [VouchAttestation](repeating: Self.example, count: 16)
        XCTAssertEqual(VouchBatch.attestations(in: try XCTUnwrap(VouchBatch.encoded(full))), full)
    }
}

import Basics
import TestSupport
import XCTest

@testable import Wire

final class PrekeyBundleTests: XCTestCase {
    func testBundlesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("prekeys.json").run { vector in
            switch vector.kind {
            case "signed":
                let bundle = try self.bundle(vector.object("bundle"))
                let encoded = try vector.bytes("encoded")
                XCTAssertEqual(bundle.signedBytes, try vector.bytes("signableBytes"), vector.name)
                XCTAssertEqual(bundle.encoded(), encoded, vector.name)
                XCTAssertEqual(PrekeyBundle(payload: encoded), bundle, vector.name)
            case "encode_reject":
                XCTAssertNil(try self.bundle(vector.object("bundle")).encoded(), vector.name)
            case "accept", "reject":
                let expected = try vector.optionalObject("bundle").map(self.bundle)
                XCTAssertEqual(PrekeyBundle(payload: try vector.bytes("payload")), expected, vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func bundle(_ fields: VectorCase) throws -> PrekeyBundle {
        PrekeyBundle(
            noisePublicKey: try fields.bytes("noiseStaticPublicKey"),
            prekeys: try fields.objects("prekeys").map {
                PrekeyBundle.Prekey(id: try $0.uint32("id"), publicKey: try $0.bytes("publicKey"))
            },
            generatedAt: try fields.wallTime("generatedAt"), signature: try fields.bytes("signature"))
    }

    /// Chapter 01 §17.10.
    func testTheBundleOfTheExampleIsEncodedAsWritten() {
        let bundle = PrekeyBundle(
            noisePublicKey: Example.A.noisePublicKey,
            prekeys: [
                PrekeyBundle.Prekey(id: 1, publicKey: Array(0x10...0x2f)),
                PrekeyBundle.Prekey(id: 2, publicKey: Array(0x30...0x4f)),
            ],
            generatedAt: Example.time,
            signature: hex(
                """
                e3b4a1b43e285e3b3cc8d92626fedf0ada9d84323a7fdd63b21e88002621192e767bd278a5f9bc5231a8de0d4359d1a4
                5b721a12d6be6a6218f3d3c818a3ea02
                """))
        let payload = hex(
            """
            01002007a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c02004800000001101112131415
            161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f00000002303132333435363738393a3b3c3d3e3f4041
            42434445464748494a4b4c4d4e4f030008000001977420dc7b040040e3b4a1b43e285e3b3cc8d92626fedf0ada9d8432
            3a7fdd63b21e88002621192e767bd278a5f9bc5231a8de0d4359d1a45b721a12d6be6a6218f3d3c818a3ea02
            """)
        XCTAssertEqual(bundle.encoded(), payload)
        XCTAssertEqual(PrekeyBundle(payload: payload), bundle)
        XCTAssertEqual(
            bundle.signedBytes,
            hex(
                """
                18626974636861742d7072656b65792d62756e646c652d763107a37cbc142093c8b755dc1b10e86cb426374ad16aa853
                ed0bdfc0b2b86d1c7c0200000001101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f0000
                0002303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f000001977420dc7b
                """))
    }

    func testRepeatedIDIsNeitherEmittedNorSigned() {
        let prekey = PrekeyBundle.Prekey(id: 1, publicKey: Array(0x10...0x2f))
        let bundle = PrekeyBundle(
            noisePublicKey: Example.A.noisePublicKey, prekeys: [prekey, prekey], generatedAt: Example.time,
            signature: [UInt8](repeating: 0, count: 64))
        XCTAssertNil(bundle.encoded())
        XCTAssertNil(bundle.signedBytes)
    }
}

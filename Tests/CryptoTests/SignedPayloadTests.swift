import Basics
import Crypto
import TestSupport
import Wire
import XCTest

final class SignedPayloadTests: XCTestCase {
    func testBundlesAreSignedAndVerifiedAsTheReferenceDoes() throws {
        try Vectors("prekeys.json").run { vector in
            switch vector.kind {
            case "signed":
                let key = try XCTUnwrap(SigningKey(seed: vector.bytes("ed25519Seed")))
                XCTAssertEqual(key.publicKey.bytes, try vector.bytes("signingPublicKey"), vector.name)
                let fields = try vector.object("bundle")
                let prekeys = try fields.objects("prekeys").map {
                    PrekeyBundle.Prekey(id: UInt32(try $0.int("id")), publicKey: try $0.bytes("publicKey"))
                }
                var bundle = PrekeyBundle(
                    noisePublicKey: try fields.bytes("noiseStaticPublicKey"), prekeys: prekeys,
                    generatedAt: WallTime(milliseconds: try fields.uint64("generatedAt")), signature: [])
                let signedBytes = try XCTUnwrap(bundle.signedBytes)
                XCTAssertEqual(signedBytes, try vector.bytes("signableBytes"), vector.name)
                bundle.signature = key.sign(signedBytes)
                XCTAssertEqual(bundle.signature, try fields.bytes("signature"), vector.name)
                XCTAssertEqual(bundle.encoded(), try vector.bytes("encoded"), vector.name)
                XCTAssertNotNil(Verified(bundle, under: key.publicKey), vector.name)
            case "verify":
                let key = try SigningPublicKey(vector.bytes("signingPublicKey"))
                let bundle = try PrekeyBundle(payload: vector.bytes("encoded"))
                let isValid = bundle.flatMap { bundle in key.flatMap { Verified(bundle, under: $0) } } != nil
                XCTAssertEqual(isValid, try vector.bool("valid"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    func testPostsAreSignedAndVerifiedAsTheReferenceDoes() throws {
        try Vectors("board.json").run { vector in
            switch vector.kind {
            case "post", "tombstone":
                let key = try XCTUnwrap(SigningKey(seed: vector.bytes("ed25519Seed")))
                let fields = try vector.object("fields")
                let board = try XCTUnwrap(BoardPayload(payload: vector.bytes("encoded")), vector.name)
                XCTAssertEqual(key.publicKey.bytes, try fields.bytes("authorSigningKey"), vector.name)
                XCTAssertEqual(board.signedBytes, try vector.bytes("signingBytes"), vector.name)
                XCTAssertEqual(key.sign(board.signedBytes), try fields.bytes("signature"), vector.name)
                XCTAssertEqual(Verified(board)?.signer, key.publicKey, vector.name)
            case "verify":
                let isValid = try BoardPayload(payload: vector.bytes("payload")).flatMap { Verified($0) } != nil
                XCTAssertEqual(isValid, try vector.bool("valid"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    func testVouchesAreSignedAndVerifiedAsTheReferenceDoes() throws {
        try Vectors("vouch.json").run { vector in
            switch vector.kind {
            case "attestation":
                let key = try XCTUnwrap(SigningKey(seed: vector.bytes("voucherSeed")))
                XCTAssertEqual(key.publicKey.bytes, try vector.bytes("voucherSigningKey"), vector.name)
                let fields = try vector.object("fields")
                var attestation = VouchAttestation(
                    fingerprint: try fields.bytes("voucheeFingerprint"),
                    signingPublicKey: try fields.bytes("voucheeSigningKey"),
                    timestamp: WallTime(milliseconds: try fields.uint64("timestampMs")), signature: [])
                XCTAssertEqual(attestation.signedBytes, try vector.bytes("signableBytes"), vector.name)
                attestation.signature = key.sign(attestation.signedBytes)
                XCTAssertEqual(attestation.signature, try fields.bytes("signature"), vector.name)
                XCTAssertEqual(attestation.encoded(), try vector.bytes("encoded"), vector.name)
            case "verify":
                let key = try SigningPublicKey(vector.bytes("voucherSigningKey"))
                let attestation = try VouchAttestation(payload: vector.bytes("encoded"))
                let isValid = attestation.flatMap { payload in key.flatMap { Verified(payload, under: $0) } } != nil
                XCTAssertEqual(isValid, try vector.bool("valid"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    // MARK: Verification of peers

    func testCodesAndResponsesAreSignedAndVerifiedAsTheReferenceDoes() throws {
        try Vectors("verification.json").run { vector in
            switch vector.kind {
            case "qr": try checkCode(vector)
            case "qr_scan":
                let now = WallTime(milliseconds: UInt64(try vector.int("nowUnix")) * 1_000)
                let code = VerificationCode(text: try vector.string("text"))
                let verified = code.flatMap { $0.isCurrent(at: now) ? Verified($0) : nil }
                XCTAssertEqual(verified != nil, try vector.bool("accepted"), vector.name)
                if let verified { try check(verified.payload, against: vector.object("fields"), vector.name) }
            case "response":
                let key = try XCTUnwrap(SigningKey(seed: vector.bytes("ed25519Seed")))
                var response = VerificationResponse(
                    noiseKeyHex: try vector.string("noiseKeyHex"), nonce: try vector.bytes("nonceA"), signature: [])
                response.signature = key.sign(response.signedBytes)
                let payload = NoisePayload(type: .verifyResponse, body: try XCTUnwrap(response.encoded()))
                XCTAssertEqual(payload.encoded(), try vector.bytes("payload"), vector.name)
            case "response_verify":
                let key = try SigningPublicKey(vector.bytes("signerPublicKey"))
                let response = VerificationResponse(
                    noiseKeyHex: try vector.string("noiseKeyHex"), nonce: try vector.bytes("nonceA"),
                    signature: try vector.bytes("signature"))
                let isValid = key.flatMap { Verified(response, under: $0) } != nil
                XCTAssertEqual(isValid, try vector.bool("valid"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkCode(_ vector: VectorCase) throws {
        let key = try XCTUnwrap(SigningKey(seed: vector.bytes("ed25519Seed")))
        let noise = try XCTUnwrap(NoiseStaticKey(privateKey: vector.bytes("noisePrivateKey")))
        let fields = try vector.object("fields")
        var code = VerificationCode(
            noiseKeyHex: noise.publicKey.hex, signingKeyHex: key.publicKey.hex,
            nickname: try vector.string("nickname"), timestamp: Int64(try vector.int("nowUnix")),
            nonce: try fields.string("nonce"), signatureHex: "", npub: try vector.optionalString("npub"))
        code.signatureHex = Hex.encode(key.sign(code.signedBytes))
        XCTAssertEqual(Base64URL.decode(code.nonce), try vector.bytes("nonceBytes"), vector.name)
        try check(code, against: fields, vector.name)
        XCTAssertEqual(VerificationCode(text: try vector.string("text")), code, vector.name)
        XCTAssertEqual(VerificationCode(text: code.text), code, vector.name)
        XCTAssertEqual(Verified(code)?.signer, key.publicKey, vector.name)
    }

    private func check(_ code: VerificationCode, against fields: VectorCase, _ name: String) throws {
        XCTAssertEqual(code.signedBytes, try fields.bytes("canonicalBytes"), name)
        XCTAssertEqual(code.nonce, try fields.string("nonce"), name)
        XCTAssertEqual(code.nickname, try fields.string("nick"), name)
        XCTAssertEqual(code.noiseKey, try fields.bytes("noise"), name)
        XCTAssertEqual(code.signingKey, try fields.bytes("sign"), name)
        XCTAssertEqual(code.signature, try fields.bytes("sig"), name)
        XCTAssertEqual(code.npub, try fields.optionalString("npub"), name)
        XCTAssertEqual(code.timestamp, Int64(try fields.int("ts")), name)
        XCTAssertEqual(code.version, Int64(try fields.int("v")), name)
    }

    // MARK: What no vector shows

    func testSelfSignedPayloadsOfAnotherKeyAreRefused() throws {
        let a = try Examples.a().signing
        let b = try Examples.b().signing
        var tombstone = BoardTombstone(
            postID: [UInt8](repeating: 1, count: 16), authorSigningKey: a.publicKey.bytes, deletedAt: Examples.time,
            signature: [])
        tombstone.signature = b.sign(tombstone.signedBytes)
        XCTAssertNil(Verified(BoardPayload.tombstone(tombstone)))
        XCTAssertNotNil(Verified(BoardPayload.tombstone(tombstone), under: b.publicKey))
        tombstone.signature = a.sign(tombstone.signedBytes)
        XCTAssertNotNil(Verified(BoardPayload.tombstone(tombstone)))
        tombstone.authorSigningKey = []
        XCTAssertNil(Verified(BoardPayload.tombstone(tombstone)))
    }
}

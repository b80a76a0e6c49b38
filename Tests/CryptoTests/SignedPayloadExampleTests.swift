import Basics
import Crypto
import Wire
import XCTest

/// The signatures inside payloads of chapter 01 §17.10 to §17.16, byte for byte.
final class SignedPayloadExampleTests: XCTestCase {
    private let zeroToFifteen = [UInt8](0...15)

    func testPrekeyBundle() throws {
        let a = try Examples.a()
        var bundle = PrekeyBundle(
            noisePublicKey: a.noise.publicKey.bytes,
            prekeys: [
                PrekeyBundle.Prekey(id: 1, publicKey: Array(0x10...0x2f)),
                PrekeyBundle.Prekey(id: 2, publicKey: Array(0x30...0x4f)),
            ], generatedAt: Examples.time, signature: [])
        bundle.signature = a.signing.sign(try XCTUnwrap(bundle.signedBytes))
        XCTAssertEqual(
            bundle.signature,
            hex(
                """
                e3b4a1b43e285e3b3cc8d92626fedf0ada9d84323a7fdd63b21e88002621192e767bd278a5f9bc5231a8de0d4359d1a4
                5b721a12d6be6a6218f3d3c818a3ea02
                """))
        XCTAssertNotNil(Verified(bundle, under: a.signing.publicKey))
        XCTAssertNil(Verified(bundle, under: try Examples.b().signing.publicKey))
    }

    func testBoard() throws {
        let a = try Examples.a().signing
        let postID = [UInt8](0xb0...0xbf)
        var post = BoardPost(
            postID: postID, geohash: "u4pruy", content: "water at the north gate until 18:00",
            authorSigningKey: a.publicKey.bytes, authorNickname: "anna", createdAt: Examples.time,
            expiresAt: WallTime(milliseconds: Examples.time.milliseconds + 86_400_000), flags: BoardPost.urgentFlag,
            signature: [])
        post.signature = a.sign(post.signedBytes)
        XCTAssertEqual(
            post.signature,
            hex(
                """
                7e40d7f754b764991363eb37eb275f8fee8ee0bc257059834e52df98b7cdcfe4d9ba6d54f0dd05d567939be4dd46f1d9
                026567fd4a1db2781a8bd09242004d0c
                """))
        var tombstone = BoardTombstone(
            postID: postID, authorSigningKey: a.publicKey.bytes,
            deletedAt: WallTime(milliseconds: Examples.time.milliseconds + 1_000), signature: [])
        tombstone.signature = a.sign(tombstone.signedBytes)
        XCTAssertEqual(
            tombstone.signature,
            hex(
                """
                688f8697da9895786f3baedb3c64ae389f3a7d7c2915b7fde52077d3742d208fed2db24c7aef3101e8a61c0ff1def8b9
                b41a27344f9c983aac57a4e1fe11e801
                """))
        XCTAssertEqual(Verified(BoardPayload.post(post))?.signer, a.publicKey)
        XCTAssertEqual(Verified(BoardPayload.tombstone(tombstone))?.signer, a.publicKey)
    }

    func testVerificationResponseAndCode() throws {
        let a = try Examples.a()
        let b = try Examples.b()
        var response = VerificationResponse(
            noiseKeyHex: b.noise.publicKey.hex, nonce: zeroToFifteen, signature: [])
        response.signature = b.signing.sign(response.signedBytes)
        XCTAssertEqual(
            response.signature,
            hex(
                """
                cbc811faf508e961671309d4d9fc5a8a106104554c9066e0050c3ae9ead9c94a7e0db69ae5aef4f81c37849775a8dab9
                a4a0d956d349d3424c2c434dc7244605
                """))
        let code = VerificationCode(
            noiseKeyHex: a.noise.publicKey.hex, signingKeyHex: a.signing.publicKey.hex, nickname: "gateway-pi",
            timestamp: 1_750_000_000, nonce: "AAECAwQFBgcICQoLDA0ODw", signatureHex: "")
        XCTAssertEqual(
            a.signing.sign(code.signedBytes),
            hex(
                """
                572ac1257b343229cdc8b76b5f4b0885bb2a958a97d1a6fe6e0987e5b8dddc9901982c23e4c9b1eb664fcc2a2e70e029
                930cff5db94f230e32c266096a3b9104
                """))
    }

    func testVouch() throws {
        let a = try Examples.a()
        let b = try Examples.b()
        var vouch = VouchAttestation(
            fingerprint: b.fingerprint.bytes, signingPublicKey: b.signing.publicKey.bytes, timestamp: Examples.time,
            signature: [])
        vouch.signature = a.signing.sign(vouch.signedBytes)
        XCTAssertEqual(
            vouch.signature,
            hex(
                """
                69dcb915451583b7e62e4f1c6c3113ba5fd250bed824969e8a412c664864579c82e4fc013afff263d85babee873b6131
                cce6a4342582badd53311677a1890f0f
                """))
        XCTAssertNotNil(Verified(vouch, under: a.signing.publicKey))
    }

    /// Chapter 02 §13.7, whose identities have one byte repeated as private keys.
    func testVouchOfTheNoiseExamples() throws {
        let fingerprint = hex("65cf5c9b1de5d41f758cb67f2d05f3e316a203fcb56351d9e3f158e02962c74d")
        let voucher = try XCTUnwrap(SigningKey(seed: [UInt8](repeating: 0x55, count: 32)))
        let vouchee = try XCTUnwrap(SigningKey(seed: [UInt8](repeating: 0x66, count: 32)))
        let vouch = VouchAttestation(
            fingerprint: fingerprint, signingPublicKey: vouchee.publicKey.bytes,
            timestamp: WallTime(milliseconds: 1_784_000_000_000), signature: [])
        XCTAssertEqual(
            voucher.sign(vouch.signedBytes),
            hex(
                """
                90171e8ffa2c3c1eeb6488c9a0e9c53c84e3dc503e7cefd40f16b935aeba1698547481008f06f841f487f462eebc25f2
                2813a7a99d92f0a28ddea7054d20b102
                """))
    }

    func testGroupStateAndMessage() throws {
        let a = try Examples.a()
        let b = try Examples.b()
        let groupID = [UInt8](0xd0...0xdf)
        let key = [UInt8](0x90...0xaf)
        func member(_ identity: NodeIdentity, _ nickname: String) -> GroupMember {
            GroupMember(
                fingerprint: identity.fingerprint.bytes, signingKey: identity.signing.publicKey.bytes,
                nickname: nickname)
        }
        var state = GroupState(
            groupID: groupID, name: "crew", key: key, epoch: 3, members: [member(a, "anna"), member(b, "bob")],
            creatorFingerprint: a.fingerprint.bytes, signature: [])
        state.signature = a.signing.sign(try XCTUnwrap(state.signedBytes))
        XCTAssertEqual(
            state.signature,
            hex(
                """
                9750161a5e6546daf3e0f7f11f363cb4eeb11b670775c9ab44e9b08c268a197aa28d2d09bdc2e14b786d7885614f4178
                4e5c91151896809e432f3618d78e5d05
                """))
        XCTAssertEqual(Verified(state)?.signer, a.signing.publicKey)

        var message = GroupMessage(
            messageID: "6F1B0C3E-0000-4000-8000-000000000001", senderSigningKey: a.signing.publicKey.bytes,
            senderNickname: "anna", timestamp: Examples.time, content: "meet at 9", signature: [])
        message.signature = a.signing.sign(message.signedBytes(groupID: groupID, epoch: 3))
        let secret = SecretBytes(copying: key)
        let envelope = message.sealed(
            groupID: groupID, epoch: 3, key: secret, nonce: [UInt8](repeating: 0, count: 12))
        XCTAssertEqual(
            envelope?.encoded(),
            hex(
                """
                010010d0d1d2d3d4d5d6d7d8d9dadbdcdddedf0200040000000303000c0000000000000000000000000400bb9ab6d7a3
                129a8aa88956b4f54efb055114f149f5dedb5106abcc2b67113d8766976205c760fb011275225814d8e3b91c1168c9c3
                813130fb82af5753fd660ed2913fed434ef5ffbc5b55e1f3319173340296800e3b5cf986928d74dafad7a97228648edc
                ad25dec61f3b6876f36c1e5e553cf7849750ead5ad6043657d05739f47d62b6897683450434c08d81871bffea19aafc0
                7ff52d62cc123e5c0001ef50789ac5a0049f023368b93d08b03aa4c3139bff5b92763ce104a20a
                """))
        let opened = try OpenedGroupMessage(try XCTUnwrap(envelope), key: secret)
        XCTAssertEqual(opened.message, message)
        XCTAssertEqual(opened.sender, a.signing.publicKey)
    }
}

import Basics
import Crypto
import TestSupport
import Wire
import XCTest

final class GroupCipherTests: XCTestCase {
    func testGroupMessagesAndStatesOpenAndAreRefusedAsTheReferencesAre() throws {
        try Vectors("groups.json").run { vector in
            switch vector.kind {
            case "state": try checkState(vector)
            case "state_accept":
                let state = try XCTUnwrap(GroupState(body: vector.bytes("payload")), vector.name)
                XCTAssertEqual(Verified(state) != nil, try vector.bool("creatorSignatureValid"), vector.name)
            case "message": try checkMessage(vector)
            case "open_reject":
                let envelope = try XCTUnwrap(GroupEnvelope(payload: vector.bytes("payload")), vector.name)
                let expected: [String: GroupMessageRejection] = [
                    "decryptionFailed": .decryptionFailed, "malformedPayload": .malformedPayload,
                    "badSenderSignature": .badSenderSignature,
                ]
                let key = SecretBytes(copying: try vector.bytes("key"))
                let result = try XCTUnwrap(expected[vector.string("result")])
                XCTAssertThrowsError(try OpenedGroupMessage(envelope, key: key), vector.name) { error in
                    XCTAssertEqual(error as? GroupMessageRejection, result, vector.name)
                }
            default: throw vector.unknownKind
            }
        }
    }

    private func checkState(_ vector: VectorCase) throws {
        let creator = try XCTUnwrap(SigningKey(seed: vector.bytes("creatorSeed")))
        let members = try vector.objects("members").map {
            GroupMember(
                fingerprint: try $0.bytes("fingerprint"), signingKey: try $0.bytes("signingKey"),
                nickname: try $0.string("nickname"))
        }
        var state = GroupState(
            groupID: try vector.bytes("groupID"), name: try vector.string("groupName"), key: try vector.bytes("key"),
            epoch: UInt32(try vector.int("epoch")), members: members,
            creatorFingerprint: try vector.bytes("creatorFingerprint"), signature: [])
        let signedBytes = try XCTUnwrap(state.signedBytes)
        XCTAssertEqual(signedBytes, try vector.bytes("signingContent"), vector.name)
        state.signature = creator.sign(signedBytes)
        XCTAssertEqual(state.signature, try vector.bytes("signature"), vector.name)
        XCTAssertEqual(state.encoded(), try vector.bytes("encoded"), vector.name)
        XCTAssertEqual(Verified(state)?.signer, creator.publicKey, vector.name)
    }

    private func checkMessage(_ vector: VectorCase) throws {
        let sender = try XCTUnwrap(SigningKey(seed: vector.bytes("senderSeed")))
        let groupID = try vector.bytes("groupID")
        let epoch = UInt32(try vector.int("epoch"))
        let key = SecretBytes(copying: try vector.bytes("key"))
        var message = GroupMessage(
            messageID: try vector.string("messageID"), senderSigningKey: sender.publicKey.bytes,
            senderNickname: try vector.string("senderNickname"),
            timestamp: WallTime(milliseconds: try vector.uint64("timestampMs")),
            content: try vector.string("content"), signature: [])
        let signedBytes = message.signedBytes(groupID: groupID, epoch: epoch)
        XCTAssertEqual(signedBytes, try vector.bytes("signingContent"), vector.name)
        message.signature = sender.sign(signedBytes)
        let envelope = message.sealed(groupID: groupID, epoch: epoch, key: key, nonce: try vector.bytes("nonce"))
        XCTAssertEqual(envelope?.encoded(), try vector.bytes("payload"), vector.name)
        let opened = try OpenedGroupMessage(try XCTUnwrap(envelope), key: key)
        XCTAssertEqual(opened.message, message, vector.name)
    }

    func testUnsealableMessagesAreRefused() {
        let message = GroupMessage(
            messageID: "1", senderSigningKey: [UInt8](repeating: 1, count: 32), senderNickname: "",
            timestamp: Examples.time,
            content: "", signature: [UInt8](repeating: 1, count: 64))
        let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        let groupID = [UInt8](repeating: 1, count: 16)
        let nonce = [UInt8](repeating: 1, count: 12)
        XCTAssertNotNil(message.sealed(groupID: groupID, epoch: 1, key: key, nonce: nonce))
        XCTAssertNil(message.sealed(groupID: groupID, epoch: 1, key: key, nonce: []))
        XCTAssertNil(message.sealed(groupID: groupID, epoch: 1, key: SecretBytes(copying: [1]), nonce: nonce))
        var unsigned = message
        unsigned.signature = []
        XCTAssertNil(unsigned.sealed(groupID: groupID, epoch: 1, key: key, nonce: nonce))
    }
}

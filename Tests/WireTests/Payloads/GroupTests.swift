import Basics
import TestSupport
import XCTest

@testable import Wire

final class GroupTests: XCTestCase {
    func testGroupsDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("groups.json").run { vector in
            switch vector.kind {
            case "state": try self.checkState(vector)
            case "state_accept", "state_reject":
                let state = GroupState(body: try vector.bytes("payload"))
                XCTAssertEqual(state?.members.count, try vector.optionalInt("memberCount"), vector.name)
                XCTAssertEqual(
                    state?.members.map(\.nickname),
                    vector.isNull("nicknames") ? nil : try vector.strings("nicknames"), vector.name)
            case "roster", "roster_reject":
                let blob = GroupRoster.encoded(try vector.objects("members").map(self.member))
                XCTAssertEqual(blob, try vector.optionalBytes("blob"), vector.name)
                let decoded = blob.flatMap { $0.withUnsafeBytes { GroupRoster.members(in: $0) } }
                XCTAssertEqual(
                    decoded?.map(\.nickname),
                    vector.isNull("decodedNicknames") ? nil : try vector.strings("decodedNicknames"), vector.name)
            case "envelope_accept", "envelope_reject":
                let payload = try vector.bytes("payload")
                let envelope = GroupEnvelope(payload: payload)
                XCTAssertEqual(envelope?.epoch, try vector.optionalUInt32("epoch"), vector.name)
                XCTAssertEqual(envelope?.nonce, try vector.optionalBytes("nonce"), vector.name)
                XCTAssertEqual(envelope?.ciphertext, try vector.optionalBytes("ciphertext"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func member(_ fields: VectorCase) throws -> GroupMember {
        GroupMember(
            fingerprint: try fields.bytes("fingerprint"), signingKey: try fields.bytes("signingKey"),
            nickname: try fields.string("nickname"))
    }

    private func checkState(_ vector: VectorCase) throws {
        let members = try vector.objects("members").map(member)
        let state = GroupState(
            groupID: try vector.bytes("groupID"), name: try vector.string("groupName"), key: try vector.bytes("key"),
            epoch: try vector.uint32("epoch"), members: members,
            creatorFingerprint: try vector.bytes("creatorFingerprint"), signature: try vector.bytes("signature"))
        XCTAssertEqual(GroupRoster.encoded(members), try vector.bytes("rosterBlob"), vector.name)
        XCTAssertEqual(state.signedBytes, try vector.bytes("signingContent"), vector.name)
        let encoded = try vector.bytes("encoded")
        XCTAssertEqual(state.encoded(), encoded, vector.name)
        XCTAssertEqual(GroupState(body: encoded)?.signedBytes, state.signedBytes, vector.name)
    }

    /// Chapter 01 §17.15.
    func testMessageExample() throws {
        let message = GroupMessage(
            messageID: "6F1B0C3E-0000-4000-8000-000000000001", senderSigningKey: Example.A.signingPublicKey,
            senderNickname: "anna", timestamp: Example.time, content: "meet at 9",
            signature: hex(
                """
                38f45f61de6d220a4445bd2e9afcd0186544b4bf3c973992bac11ff6525f4c02d2c142c1a94effd2f06cb68dc4a4ab3c
                be75a9a5921a171d55411a8874bdf800
                """))
        let plaintext = hex(
            """
            01002436463142304333452d303030302d343030302d383030302d303030303030303030303031020020e7f162a10bec
            559afea195e4dce84b69568d5d2cb0963eb446c0685e2b17f2f0030004616e6e61040008000001977420dc7b0500096d
            656574206174203906004038f45f61de6d220a4445bd2e9afcd0186544b4bf3c973992bac11ff6525f4c02d2c142c1a9
            4effd2f06cb68dc4a4ab3cbe75a9a5921a171d55411a8874bdf800
            """)
        XCTAssertEqual(message.encoded(), plaintext)
        XCTAssertEqual(GroupMessage(plaintext: plaintext), message)
        XCTAssertEqual(
            message.signedBytes(groupID: Array(0xd0...0xdf), epoch: 3),
            hex(
                """
                626974636861742d67726f75702d6d73672d7631d0d1d2d3d4d5d6d7d8d9dadbdcdddedf000000033646314230433345
                2d303030302d343030302d383030302d303030303030303030303031000001977420dc7b6d6565742061742039
                """))
    }

    private static let members = [
        GroupMember(
            fingerprint: Example.A.fingerprint, signingKey: Example.A.signingPublicKey, nickname: "anna"),
        GroupMember(fingerprint: Example.B.fingerprint, signingKey: Example.B.signingPublicKey, nickname: "bob"),
    ]

    private static let state = GroupState(
        groupID: Array(0xd0...0xdf), name: "crew", key: Array(0x90...0xaf), epoch: 3, members: members,
        creatorFingerprint: Example.A.fingerprint,
        signature: hex(
            """
            9750161a5e6546daf3e0f7f11f363cb4eeb11b670775c9ab44e9b08c268a197aa28d2d09bdc2e14b786d7885614f4178
            4e5c91151896809e432f3618d78e5d05
            """))

    /// Chapter 01 §17.15.
    func testStateExample() throws {
        XCTAssertEqual(
            GroupRoster.encoded(Self.members),
            hex(
                """
                02aaa8fff703b50b2297f4f6e13508f72420d96fd01ebb84cb074449caaef64041e7f162a10bec559afea195e4dce84b
                69568d5d2cb0963eb446c0685e2b17f2f004616e6e61bc841db8fea3efd84555a7f8eeb925033c90c9d5034b1a4c48a6
                c87de3c0ebde882d0ea3b2864e7a587f3e698cea4459998312e655e05fa5e8b5119d8baac8cd03626f62
                """))
        XCTAssertEqual(
            Self.state.signedBytes,
            hex(
                """
                626974636861742d67726f75702d7631d0d1d2d3d4d5d6d7d8d9dadbdcdddedf000000032fbbda77576b2760b5856621
                fecfbdff45828fed7dacd206ed9615e4e9de8d8209820118afc7738644acee03a4df98f5ea414bbc1e1a46c1768a004a
                3c3be89e9cae07a2e9ceea5b88602d99f1bb35f228663649628b7a3281ac9c8203e6043a
                """))
        XCTAssertEqual(GroupState(body: try XCTUnwrap(Self.state.encoded())), Self.state)
        XCTAssertEqual(Self.state.creatorSigningKey, Example.A.signingPublicKey)
    }

    /// Chapter 01 §1.1.
    func testIllSizedEpochCancelsAGoodOneInAnEnvelopeOnly() throws {
        let envelope = GroupEnvelope(
            groupID: Array(0xd0...0xdf), epoch: 3, nonce: [UInt8](repeating: 0, count: 12), ciphertext: [1])
        let payload = try XCTUnwrap(envelope.encoded())
        XCTAssertEqual(GroupEnvelope(payload: payload + hex("03000100")), envelope, "a nonce is only skipped")
        XCTAssertNil(GroupEnvelope(payload: payload + hex("02000103")))
        XCTAssertEqual(GroupState(body: try XCTUnwrap(Self.state.encoded()) + hex("04000103")), Self.state)
    }

    func testOverlongNicknameDecodesButIsNotWhatTheCreatorSigned() throws {
        let nickname = [UInt8](repeating: 0x6e, count: 65)
        let roster =
            [1] + Example.A.fingerprint + Example.A.signingPublicKey + [UInt8(nickname.count)] + nickname
        var writer = TLVWriter(.tlv16)
        writer.append(5, roster)
        let body = try XCTUnwrap(Self.state.encoded()) + XCTUnwrap(writer.encoded)
        let state = try XCTUnwrap(GroupState(body: body))
        XCTAssertEqual(state.members.first?.nickname.utf8.count, 65)
        let signed = try XCTUnwrap(state.signedBytes)
        XCTAssertNotEqual(Array(signed[68..<100]), SHA256.hash(roster))
    }

    func testGroupKeyDoesNotShowInPrints() {
        var dumped = ""
        dump(Self.state, to: &dumped)
        for text in [dumped, "\(Self.state)", String(reflecting: Self.state)] {
            XCTAssertFalse(text.contains("144"), "the first byte of the key")
        }
    }
}

import Basics
import TestSupport
import XCTest

@testable import Wire

final class BoardTests: XCTestCase {
    func testPostsAndTombstonesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("board.json").run { vector in
            switch vector.kind {
            case "post", "tombstone":
                let board = try self.board(vector.object("fields"), isPost: vector.kind == "post")
                let encoded = try vector.bytes("encoded")
                XCTAssertEqual(board.signedBytes, try vector.bytes("signingBytes"), vector.name)
                XCTAssertEqual(board.encoded(), encoded, vector.name)
                XCTAssertEqual(BoardPayload(payload: encoded), board, vector.name)
            case "accept", "reject":
                let expected = try vector.optionalObject("fields").map {
                    try self.board($0, isPost: $0.string("wireKind") == "post")
                }
                XCTAssertEqual(BoardPayload(payload: try vector.bytes("payload")), expected, vector.name)
            case "urgent":
                let payload = try vector.bytes("payload")
                let isUrgent = payload.withUnsafeBytes { BoardPayload.isUrgent(peeking: $0) }
                XCTAssertEqual(isUrgent, try vector.bool("urgent"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func board(_ fields: VectorCase, isPost: Bool) throws -> BoardPayload {
        if isPost {
            return .post(
                BoardPost(
                    postID: try fields.bytes("postID"), geohash: try fields.string("geohash"),
                    content: try fields.string("content"), authorSigningKey: try fields.bytes("authorSigningKey"),
                    authorNickname: try fields.string("authorNickname"), createdAt: try fields.wallTime("createdAt"),
                    expiresAt: try fields.wallTime("expiresAt"), flags: UInt8(try fields.int("flags")),
                    signature: try fields.bytes("signature")))
        }
        return .tombstone(
            BoardTombstone(
                postID: try fields.bytes("postID"), authorSigningKey: try fields.bytes("authorSigningKey"),
                deletedAt: try fields.wallTime("deletedAt"), signature: try fields.bytes("signature")))
    }

    private static let post = BoardPost(
        postID: Array(0xb0...0xbf), geohash: "u4pruy", content: "water at the north gate until 18:00",
        authorSigningKey: Example.A.signingPublicKey, authorNickname: "anna", createdAt: Example.time,
        expiresAt: WallTime(milliseconds: Example.time.milliseconds + 86_400_000), flags: 1,
        signature: hex(
            """
            7e40d7f754b764991363eb37eb275f8fee8ee0bc257059834e52df98b7cdcfe4d9ba6d54f0dd05d567939be4dd46f1d9
            026567fd4a1db2781a8bd09242004d0c
            """))

    /// Chapter 01 §17.11.
    func testPostExample() {
        let post = BoardPayload.post(Self.post)
        let payload = hex(
            """
            01000101020010b0b1b2b3b4b5b6b7b8b9babbbcbdbebf03000675347072757904002377617465722061742074686520
            6e6f727468206761746520756e74696c2031383a3030050020e7f162a10bec559afea195e4dce84b69568d5d2cb0963e
            b446c0685e2b17f2f0060004616e6e61070008000001977420dc7b080008000001977947387b090001010a00407e40d7
            f754b764991363eb37eb275f8fee8ee0bc257059834e52df98b7cdcfe4d9ba6d54f0dd05d567939be4dd46f1d9026567
            fd4a1db2781a8bd09242004d0c
            """)
        XCTAssertEqual(post.encoded(), payload)
        XCTAssertEqual(BoardPayload(payload: payload), post)
        XCTAssertEqual(
            post.signedBytes,
            hex(
                """
                10626974636861742d626f6172642d7631b0b1b2b3b4b5b6b7b8b9babbbcbdbebf000675347072757900237761746572
                20617420746865206e6f727468206761746520756e74696c2031383a3030e7f162a10bec559afea195e4dce84b69568d
                5d2cb0963eb446c0685e2b17f2f00004616e6e61000001977420dc7b000001977947387b01
                """))
    }

    /// Chapter 01 §17.11.
    func testTombstoneExample() {
        let tombstone = BoardPayload.tombstone(
            BoardTombstone(
                postID: Array(0xb0...0xbf), authorSigningKey: Example.A.signingPublicKey,
                deletedAt: WallTime(milliseconds: Example.time.milliseconds + 1_000),
                signature: hex(
                    """
                    688f8697da9895786f3baedb3c64ae389f3a7d7c2915b7fde52077d3742d208fed2db24c7aef3101e8a61c0ff1def8b9
                    b41a27344f9c983aac57a4e1fe11e801
                    """)))
        let payload = hex(
            """
            01000102020010b0b1b2b3b4b5b6b7b8b9babbbcbdbebf050020e7f162a10bec559afea195e4dce84b69568d5d2cb096
            3eb446c0685e2b17f2f00b0008000001977420e0630a0040688f8697da9895786f3baedb3c64ae389f3a7d7c2915b7fd
            e52077d3742d208fed2db24c7aef3101e8a61c0ff1def8b9b41a27344f9c983aac57a4e1fe11e801
            """)
        XCTAssertEqual(tombstone.encoded(), payload)
        XCTAssertEqual(BoardPayload(payload: payload), tombstone)
        XCTAssertEqual(
            tombstone.signedBytes,
            hex(
                "14626974636861742d626f6172642d64656c2d7631b0b1b2b3b4b5b6b7b8b9babbbcbdbebf000001977420e063"))
    }

    func testPostOutsideItsLimitsIsNotEmitted() {
        let breaches: [(String, (inout BoardPost) -> Void)] = [
            ("empty content", { $0.content = "" }),
            ("content of 513 bytes", { $0.content = String(repeating: "a", count: 513) }),
            ("geohash of 13", { $0.geohash = "u4pruydqqvj8x" }), ("geohash letter", { $0.geohash = "u4a" }),
            ("nickname of 65 bytes", { $0.authorNickname = String(repeating: "a", count: 65) }),
            ("no lifetime", { $0.expiresAt = $0.createdAt }),
            ("over 7 days", { $0.expiresAt = WallTime(milliseconds: $0.createdAt.milliseconds + 604_800_001) }),
            ("short ID", { $0.postID.removeLast() }), ("short key", { $0.authorSigningKey.removeLast() }),
            ("short signature", { $0.signature.removeLast() }),
        ]
        XCTAssertNotNil(Self.post.encoded())
        for (name, breach) in breaches {
            var post = Self.post
            breach(&post)
            XCTAssertNil(post.encoded(), name)
        }
    }

    /// Chapter 04 §11.1: extra fields in a tombstone are ignored, but no text may be over-long.
    func testTombstoneWithTheTextsOfAPost() throws {
        let tombstone = try XCTUnwrap(
            BoardTombstone(
                postID: Self.post.postID, authorSigningKey: Self.post.authorSigningKey, deletedAt: Example.time,
                signature: Self.post.signature
            ).encoded())
        XCTAssertNotNil(BoardPayload(payload: tombstone + hex("040001ff") + hex("03000141")))
        XCTAssertNil(BoardPayload(payload: tombstone + hex("03000d") + [UInt8](repeating: 0x75, count: 13)))
    }

    func testUrgentBoardPostIsReadFromItsFlagsFieldAlone() {
        let urgent: [UInt8] = [0x01, 0, 1, 1, 0x09, 0, 1, 0x01]
        let plain: [UInt8] = [0x01, 0, 1, 1, 0x09, 0, 1, 0xfe]
        let wrongLength: [UInt8] = [0x09, 0, 2, 1, 1, 0x09, 0, 1, 0x01]
        let overlong: [UInt8] = [0x01, 0xff, 0xff, 1]
        XCTAssertTrue(urgent.withUnsafeBytes(BoardPayload.isUrgent))
        XCTAssertFalse(plain.withUnsafeBytes(BoardPayload.isUrgent))
        XCTAssertTrue(wrongLength.withUnsafeBytes(BoardPayload.isUrgent))
        XCTAssertFalse(overlong.withUnsafeBytes(BoardPayload.isUrgent))
        XCTAssertFalse([UInt8]().withUnsafeBytes(BoardPayload.isUrgent))
    }
}

import Basics
import TestSupport
import XCTest

@testable import Wire

final class NoisePayloadTests: XCTestCase {
    func testPayloadsDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("noise_payloads.json").run { vector in
            switch vector.kind {
            case "private_message_encode", "private_message_encode_reject":
                let message = PrivateMessage(
                    messageID: try vector.string("messageID"), content: try vector.string("content"))
                let typed = message.encoded().map { NoisePayload(type: .privateMessage, body: $0).encoded() }
                XCTAssertEqual(message.encoded(), try vector.optionalBytes("encoded"), vector.name)
                XCTAssertEqual(typed, try vector.optionalBytes("typed"), vector.name)
            case "private_message_accept", "private_message_reject":
                let message = PrivateMessage(body: try vector.bytes("payload"))
                XCTAssertEqual(message?.messageID, try vector.optionalString("messageID"), vector.name)
                XCTAssertEqual(message?.content, try vector.optionalString("content"), vector.name)
            case "typed": try self.checkReceipt(vector)
            case "typed_decode", "typed_decode_reject":
                let payload = NoisePayload(payload: try vector.bytes("payload"))
                XCTAssertEqual(payload.map { Int($0.type.rawValue) }, try vector.optionalInt("type"), vector.name)
                XCTAssertEqual(payload?.body, try vector.optionalBytes("body"), vector.name)
            case "private_file": try self.checkFile(vector)
            case "embedded_dm": try self.checkEmbedded(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkReceipt(_ vector: VectorCase) throws {
        let messageID = try vector.string("messageID")
        let receipt: NoisePayload =
            vector.name.contains("read receipt")
            ? .readReceipt(messageID: messageID) : .delivered(messageID: messageID)
        let encoded = try vector.bytes("encoded")
        XCTAssertEqual(receipt.encoded(), encoded, vector.name)
        XCTAssertEqual(NoisePayload(payload: encoded)?.receiptMessageID, messageID, vector.name)
    }

    private func checkFile(_ vector: VectorCase) throws {
        let file = FileTransfer(
            fileName: try vector.string("fileName"), mimeType: try vector.string("mimeType"),
            content: try vector.bytes("content"))
        let body = try XCTUnwrap(file.encoded())
        let encoded = try vector.bytes("encoded")
        XCTAssertEqual(NoisePayload(type: .privateFile, body: body).encoded(), encoded, vector.name)
        let alias = try XCTUnwrap(NoisePayload(payload: [0x09] + encoded.dropFirst()))
        XCTAssertEqual(alias.type, .privateFile, vector.name)
        XCTAssertEqual(FileTransfer(payload: alias.body), file, vector.name)
    }

    private func checkEmbedded(_ vector: VectorCase) throws {
        let messageID = try vector.string("messageID")
        let type = try XCTUnwrap(NoisePayloadType(rawValue: UInt8(vector.int("noisePayloadType"))))
        let body =
            try type == .privateMessage
            ? XCTUnwrap(PrivateMessage(messageID: messageID, content: vector.string("content")).encoded())
            : Array(messageID.utf8)
        let embedded = EmbeddedPacket(
            senderID: try XCTUnwrap(PeerIDText(vector.string("sender")).peerID),
            recipientID: try vector.optionalString("recipient").map { try XCTUnwrap(PeerIDText($0).peerID) },
            timestamp: try vector.wallTime("timestamp"), payload: NoisePayload(type: type, body: body))
        let text = try vector.string("text")
        XCTAssertEqual(EmbeddedPacket(text: text), embedded, vector.name)
        XCTAssertEqual(embedded.text, text, vector.name)
        let frame = try XCTUnwrap(Base64URL.decode(text.dropFirst("bitchat1:".count)))
        XCTAssertEqual(Packet(decoding: frame), try vector.object("packet").packet(), vector.name)
    }

    /// Chapter 01 §17.13.
    func testPayloadsOfTheExamplesAreEncodedAsWritten() throws {
        let message = try XCTUnwrap(PrivateMessage(messageID: "m1", content: "hi").encoded())
        XCTAssertEqual(NoisePayload(type: .privateMessage, body: message).encoded(), hex("0100026d3101026869"))
        XCTAssertEqual(NoisePayload.delivered(messageID: "m1").encoded(), hex("036d31"))
        XCTAssertEqual(NoisePayload.readReceipt(messageID: "m1").encoded(), hex("026d31"))

        let state = AuthenticatedPeerState(
            capabilities: [.gateway, .bridge], signingPublicKey: Example.A.signingPublicKey)
        XCTAssertEqual(
            NoisePayload(type: .authenticatedPeerState, body: try XCTUnwrap(state.encoded())).encoded(),
            hex("21010101840220e7f162a10bec559afea195e4dce84b69568d5d2cb0963eb446c0685e2b17f2f0"))

        let file = FileTransfer(fileName: "a.txt", mimeType: "text/plain", content: [1, 2, 3])
        let bytes = hex("20010005612e7478740200040000000303000a746578742f706c61696e0400000003010203")
        XCTAssertEqual(NoisePayload(type: .privateFile, body: try XCTUnwrap(file.encoded())).encoded(), bytes)
        XCTAssertEqual(NoisePayload(payload: [0x09] + bytes.dropFirst()), NoisePayload(payload: bytes))
    }

    /// Chapter 05 §17.6.
    func testEmbeddedPacketExamples() throws {
        let sender = PeerID(value: 0x0123_4567_89ab_cdef)
        let time = WallTime(milliseconds: 1_700_000_000_000)
        let message = NoisePayload(
            type: .privateMessage, body: try XCTUnwrap(PrivateMessage(messageID: "m1", content: "hi").encoded()))
        let examples: [(NoisePayload, PeerID?, String)] = [
            (message, nil, "77932b50eebc7bb88d0a8adf3732153da31cc6f0bf7d40650807a66c3690060d"),
            (
                message, PeerID(value: 0xfedc_ba98_7654_3210),
                "509b4ce78b4c62a042273935969337bc156675305dcbd45f908aaa48d55ddeb9"
            ),
            (
                .delivered(messageID: "m1"), nil,
                "d6fcd57512939c9fa905d5b6a3fb951ef2648dc7a1409707bde26a9ad3efd73c"
            ),
        ]
        for (payload, recipient, digest) in examples {
            let embedded = EmbeddedPacket(
                senderID: sender, recipientID: recipient, timestamp: time, payload: payload)
            let text = try XCTUnwrap(embedded.text)
            XCTAssertEqual(text.utf8.count, 351)
            XCTAssertEqual(Hex.encode(SHA256.hash(Array(text.utf8))), digest)
            XCTAssertEqual(EmbeddedPacket(text: text), embedded)
        }
    }

    func testTextThatEmbedsNoTypedPayloadIsRefused() throws {
        let message = Packet(type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: [1, 2])
        let other = "bitchat1:" + Base64URL.encode(try message.encoded(padded: true))
        let reserved = Packet(type: .noiseEncrypted, timestamp: Example.time, senderID: Example.A.peerID, payload: [4])
        let unknown = "bitchat1:" + Base64URL.encode(try reserved.encoded(padded: true))
        for text in ["", "hello", "bitchat1:", "bitchat1:A", "bitchat1:AREH", "Bitchat1:AREH", other, unknown] {
            XCTAssertNil(EmbeddedPacket(text: text), text)
        }
        XCTAssertTrue(EmbeddedPacket.isEmbedded(other))
        XCTAssertFalse(EmbeddedPacket.isEmbedded("verify:" + other))
        let tooLong = "bitchat1:" + String(repeating: "A", count: 1_573_017)
        XCTAssertNil(EmbeddedPacket(text: tooLong))
    }

    /// Chapter 05 §13.3.
    func testFavoriteNoticesAreRecognisedByTheirBeginning() {
        let texts: [String: FavoriteNotice?] = [
            "[FAVORITED]": FavoriteNotice(isFavorite: true), "[FAVORITED]:": FavoriteNotice(isFavorite: true),
            "[FAVORITED]:npub1x": FavoriteNotice(isFavorite: true, npub: "npub1x"),
            "[UNFAVORITED]:npub1x:more": FavoriteNotice(isFavorite: false, npub: "npub1x"),
            "hello [FAVORITED]": nil, "[favorited]": nil, "": nil,
        ]
        for (text, notice) in texts { XCTAssertEqual(FavoriteNotice(content: text), notice, text) }
        for notice in texts.values {
            if let notice { XCTAssertEqual(FavoriteNotice(content: notice.content), notice) }
        }
    }
}

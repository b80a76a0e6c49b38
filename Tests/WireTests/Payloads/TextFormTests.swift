import Basics
import TestSupport
import XCTest

@testable import Wire

final class TextFormTests: XCTestCase {
    func testNamesOfPeersAreReadAsTheReferenceDoes() throws {
        try Vectors("peer_ids.json").run { vector in
            switch vector.kind {
            case "parse": try self.checkParse(vector)
            case "special":
                let pubkey = try vector.string("pubkey")
                XCTAssertEqual("\(PeerIDText.bridge(pubkey: pubkey))", try vector.string("bridge"), vector.name)
                XCTAssertEqual(
                    "\(PeerIDText.geoDirectMessage(pubkey: pubkey))", try vector.string("geoDM"), vector.name)
                XCTAssertEqual("\(PeerIDText.geoChat(pubkey: pubkey))", try vector.string("geoChat"), vector.name)
                let group = PeerIDText.group(try vector.bytes("groupID"))
                XCTAssertEqual("\(group)", try vector.string("group"), vector.name)
                XCTAssertEqual(group.groupID, try vector.bytes("groupID"), vector.name)
            case "routing":
                XCTAssertEqual(
                    PeerID(try vector.bytes("bytes"))?.hex, try vector.optionalString("peerID"), vector.name)
            case "hex":
                XCTAssertEqual(
                    TolerantHex.decode(try vector.string("text")), try vector.optionalBytes("bytes"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkParse(_ vector: VectorCase) throws {
        let id = PeerIDText(try vector.string("text"))
        XCTAssertEqual(id.description, try vector.string("id"), vector.name)
        XCTAssertEqual(id.prefix.rawValue, try vector.string("prefix"), vector.name)
        XCTAssertEqual(id.bare, try vector.string("bare"), vector.name)
        XCTAssertEqual(id.isValid, try vector.bool("isValid"), vector.name)
        XCTAssertEqual(id.isShort, try vector.bool("isShort"), vector.name)
        XCTAssertEqual(id.isNoiseKey, try vector.bool("isNoiseKeyHex"), vector.name)
        XCTAssertEqual(id.prefix == .bridge, try vector.bool("isBridge"), vector.name)
        XCTAssertEqual(id.prefix == .geoChat, try vector.bool("isGeoChat"), vector.name)
        XCTAssertEqual(id.prefix == .geoDirectMessage, try vector.bool("isGeoDM"), vector.name)
        XCTAssertEqual(id.short.description, try vector.string("short"), vector.name)
        XCTAssertEqual(id.routingBytes, try vector.optionalBytes("routingData"), vector.name)
        XCTAssertEqual(id.groupID.map { Hex.encode($0) }, try vector.optionalString("groupID"), vector.name)
    }

    func testBase64URLIsCodedAndRefusedAsTheReferenceDoes() throws {
        try Vectors("encodings.json").run { vector in
            switch vector.kind {
            case "base64url_encode":
                let data = try vector.bytes("data")
                let text = try vector.string("text")
                XCTAssertEqual(Base64URL.encode(data), text, vector.name)
                XCTAssertEqual(Base64URL.decode(text), data, vector.name)
            case "base64url_decode":
                XCTAssertEqual(
                    Base64URL.decode(try vector.string("text")), try vector.optionalBytes("data"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    func testBase64URLRefusesWhiteSpaceAndForeignCharacters() {
        for text in ["AAAA ", "AAAA\n", " AAAA", "AA=A", "AA\u{e9}A", "="] {
            XCTAssertEqual(Base64URL.decode(text), text == "=" ? [] : nil, text)
        }
    }

    func testBase64URLRoundTripsEveryByteAtEveryOffset() {
        for length in 0..<6 {
            for byte in UInt8.min...UInt8.max {
                let bytes = [UInt8](repeating: byte, count: length)
                XCTAssertEqual(Base64URL.decode(Base64URL.encode(bytes)), bytes)
            }
        }
    }

    func testTolerantHexTrimsTheWhiteSpaceOfStableIDs() {
        XCTAssertEqual(TolerantHex.decode("\u{3000}\u{200b}0xAb\u{2029}"), [0xab])
        XCTAssertNil(TolerantHex.decode("\u{feff}ab"))
    }

    /// Chapter 01 §1.2: a pair is two digits, or `+` and one.
    func testTolerantHexRefusesOtherSigns() {
        XCTAssertEqual(TolerantHex.decode("+f"), [0x0f])
        for text in ["-0", "-1", "f+", "++", "0x+", "\u{ff11}\u{ff12}"] { XCTAssertNil(TolerantHex.decode(text), text) }
    }

    func testShortFormOfANoiseKeyIsItsPeerID() {
        let key = Hex.encode(Example.A.noisePublicKey)
        XCTAssertEqual(PeerIDText("noise:" + key).short, PeerIDText(Example.A.peerID))
        XCTAssertEqual(PeerIDText(key).peerID, Example.A.peerID)
    }

    func testMediaIDsAreTheReferences() throws {
        try Vectors("packet_ids.json").run { vector in
            switch vector.kind {
            case "media_id":
                let sender = PeerIDText(try vector.string("sender")).peerID
                let recipient = PeerIDText(try vector.string("recipient")).peerID
                let fileName = try vector.string("fileName")
                let id = sender.flatMap { sender in
                    recipient.flatMap { PrivateMediaID.make(sender: sender, recipient: $0, fileName: fileName) }
                }
                XCTAssertEqual(id, try vector.optionalString("id"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    /// Chapter 01 §17.16.
    func testMediaIDExamples() {
        let names = [
            "img_6F1B0C3E-0000-4000-8000-000000000001.jpg": "media-14b6ac09697152e4e4f89c7c94728038",
            "voice_f0f1f2f3f4f5f6f7.m4a": "media-61d1270e036cda0838e55da588fc5a88",
        ]
        for (name, id) in names {
            XCTAssertEqual(
                PrivateMediaID.make(sender: Example.A.peerID, recipient: Example.B.peerID, fileName: name), id)
        }
    }
}

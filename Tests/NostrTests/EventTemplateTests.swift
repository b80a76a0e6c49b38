import Basics
import Crypto
import Nostr
import TestSupport
import Wire
import XCTest

final class EventTemplateTests: XCTestCase {
    func testBuildersGiveTheAppsEvents() throws {
        let vectors = try Vectors("nostr_events.json")
        XCTAssertEqual(vectors.cases.filter { $0.kind == "builder" }.count, 42)
        vectors.run { vector in
            guard vector.kind == "builder" else { return }
            let key = try XCTUnwrap(NostrSecretKey(vector.bytes("privateKey")))
            let event = try template(vector).event(
                author: key.publicKey, createdAt: Int64(vector.int("nowUnix")))
            var expected = try vector.object("event").nostrEvent()
            XCTAssertNotNil(VerifiedEvent(verifying: expected), vector.name)
            expected.sig = nil
            XCTAssertEqual(event, expected, vector.name)
        }
    }

    private func template(_ vector: VectorCase) throws -> EventTemplate {
        switch vector.name.split(separator: " ", maxSplits: 1).last {
        case "geohash message":
            return .channelMessage(
                geohash: try vector.string("geohash"), nickname: try vector.string("nickname"),
                text: try vector.string("content"), isTeleported: try vector.bool("teleported"))
        case "geohash presence": return .channelPresence(geohash: try vector.string("geohash"))
        case "bridge message":
            let sender = try XCTUnwrap(PeerID(hex: vector.string("meshSenderID")))
            return .bridgeMessage(
                cell: try vector.string("cell"), nickname: try vector.string("nickname"),
                text: try vector.string("content"),
                origin: (sender, WallTime(milliseconds: try vector.uint64("meshTimestampMs"))))
        case "bridge presence": return .bridgePresence(cell: try vector.string("cell"))
        case "courier drop":
            return .courierDrop(
                envelope: try vector.bytes("envelope"), recipientTag: try vector.bytes("recipientTag"),
                expiresAt: Int64(try vector.int("expiresAtUnix")))
        case "location note":
            return .locationNote(
                geohash: try vector.string("geohash"), nickname: try vector.string("nickname"),
                text: try vector.string("content"), expiresAt: try vector.optionalInt("expiresAtUnix").map(Int64.init),
                isUrgent: try vector.bool("urgent"))
        case "deletion": return .deletion(of: try XCTUnwrap(EventID(hex: vector.string("eventID"))))
        default: throw VectorError.unknownKind(vector.name)
        }
    }

    /// RFC 4648 §10.
    func testBase64OfDropContents() {
        let examples = ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "foobar": "Zm9vYmFy"]
        for (plain, encoded) in examples {
            XCTAssertEqual(Base64.encode([UInt8](plain.utf8)), encoded)
            XCTAssertEqual(Base64.decode(encoded), [UInt8](plain.utf8))
        }
        XCTAssertEqual(Base64.encode([0xfb, 0xff, 0xfe]), "+//+")
        for wrong in ["Zg", "Zg=", "Zh==", "Zg==Zg==", "====", "Z===", "Zm9v\n", "Zm9-", "Zm 9", "=m9v"] {
            XCTAssertNil(Base64.decode(wrong), wrong)
        }
    }
}

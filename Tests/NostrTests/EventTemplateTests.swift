import Basics
import Crypto
import Nostr
import TestSupport
import Wire
import XCTest

final class EventTemplateTests: XCTestCase {
    func testBuildersGiveTheAppsEvents() throws {
        let vectors = try Vectors("nostr_events.json")
        XCTAssertTrue(vectors.cases.contains { $0.kind == "builder" })
        vectors.run { vector in
            guard vector.kind == "builder" else { throw vector.unknownKind }
            let key = try XCTUnwrap(NostrSecretKey(vector.bytes("privateKey")))
            var random = SeededRandom(seed: 1)
            let signed = VerifiedEvent.signed(
                try template(vector), createdAt: Int64(try vector.int("nowUnix")), key: key, using: &random)
            var event = try XCTUnwrap(signed?.event)
            event.sig = nil
            var expected = try vector.object("event").nostrEvent()
            XCTAssertNotNil(VerifiedEvent(verifying: expected), vector.name)
            expected.sig = nil
            XCTAssertEqual(event, expected, vector.name)
        }
    }

    /// Which event is built shows in the members that apply.
    private func template(_ vector: VectorCase) throws -> EventTemplate {
        if let id = try vector.optionalString("eventID") { return .deletion(of: try XCTUnwrap(EventID(hex: id))) }
        if let envelope = try vector.optionalBytes("envelope") {
            return .courierDrop(
                envelope: envelope, recipientTag: try vector.bytes("recipientTag"),
                expiresAt: Int64(try vector.int("expiresAtUnix")))
        }
        let isSpoken = !vector.isNull("content")
        if let cell = try vector.optionalString("cell") {
            guard isSpoken else { return .bridgePresence(cell: cell) }
            let sender = try XCTUnwrap(PeerID(hex: vector.string("meshSenderID")))
            return .bridgeMessage(
                cell: cell, nickname: try vector.optionalString("nickname") ?? "", text: try vector.string("content"),
                origin: (sender, WallTime(milliseconds: try vector.uint64("meshTimestampMs"))))
        }
        let geohash = try vector.string("geohash")
        guard isSpoken else { return .channelPresence(geohash: geohash) }
        let nickname = try vector.optionalString("nickname") ?? ""
        guard vector.isNull("urgent") else {
            return .locationNote(
                geohash: geohash, nickname: nickname, text: try vector.string("content"),
                expiresAt: try vector.optionalInt("expiresAtUnix").map(Int64.init),
                isUrgent: try vector.bool("urgent"))
        }
        return .channelMessage(
            geohash: geohash, nickname: nickname, text: try vector.string("content"),
            isTeleported: try vector.bool("teleported"))
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

import Basics
import TestSupport
import XCTest

@testable import Wire

final class RichMessageTests: XCTestCase {
    private static let fallbackID = "fallback"

    func testMessagesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("messages.json").run { vector in
            switch vector.kind {
            case "encode":
                let encoded = try vector.bytes("encoded")
                XCTAssertEqual(try self.message(vector.object("message")).encoded(), encoded, vector.name)
                if let decoded = try vector.optionalObject("decoded") {
                    let message = RichMessage(payload: encoded, fallbackID: Self.fallbackID)
                    XCTAssertEqual(message, try self.message(decoded), vector.name)
                }
            case "accept", "reject":
                let message = RichMessage(payload: try vector.bytes("payload"), fallbackID: Self.fallbackID)
                XCTAssertEqual(message, try vector.optionalObject("message").map(self.message), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func message(_ fields: VectorCase) throws -> RichMessage {
        RichMessage(
            id: try fields.optionalString("id") ?? Self.fallbackID, sender: try fields.string("sender"),
            content: try fields.string("content"), timestamp: try fields.wallTime("timestampMs"),
            isRelay: try fields.bool("isRelay"), isPrivate: try fields.bool("isPrivate"),
            isBridged: try fields.bool("isBridged"), originalSender: try fields.optionalString("originalSender"),
            recipientNickname: try fields.optionalString("recipientNickname"),
            senderPeerID: try fields.optionalString("senderPeerID"),
            mentions: fields.isNull("mentions") ? nil : try fields.strings("mentions"))
    }

    /// Chapter 01 §15: the time passes through a double.
    func testTimesAboveWhatADoubleHoldsAreRoundedAndNeverTrap() {
        let tail = hex("00 00 0000")
        let odd = RichMessage(payload: hex("00 0020000000000001") + tail, fallbackID: "")
        XCTAssertEqual(odd?.timestamp.milliseconds, 1 << 53)
        let largest = RichMessage(payload: hex("00 ffffffffffffffff") + tail, fallbackID: "")
        XCTAssertEqual(largest?.timestamp.milliseconds, .max)
    }
}

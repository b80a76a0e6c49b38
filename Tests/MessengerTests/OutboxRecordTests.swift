import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// What waits to be sent outlives an upgrade.
final class OutboxRecordTests: XCTestCase {
    func testARecordOfTheFirstVersionIsStillRead() throws {
        let (bob, carl) = (try Samples.key(0x22).publicKey, try Samples.key(0x33).publicKey)
        var bytes: [UInt8] = [1, 2] + bob.bytes
        bytes += [0, 0, 0x01, 0x9F, 0x5E, 0x26, 0x6C, 0x00]
        bytes += [0, 0, 0, 7]
        bytes += [3, 1] + carl.bytes + Array("hello".utf8)
        let record = try XCTUnwrap(OutboxRecord(messageID: "an-id", decoding: bytes))
        XCTAssertEqual(
            record,
            OutboxRecord(
                messageID: "an-id", recipient: bob, content: "hello", number: 7,
                writtenAt: WallTime(milliseconds: 0x019F_5E26_6C00), state: .carried, attempts: 3, couriers: [carl],
                sealed: nil))
        XCTAssertEqual(OutboxRecord(messageID: "an-id", decoding: record.encoded()), record)
        for version in [0, 3, 255] as [UInt8] {
            bytes[0] = version
            XCTAssertNil(OutboxRecord(messageID: "an-id", decoding: bytes))
        }
    }
}

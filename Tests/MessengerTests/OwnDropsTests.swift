import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// Own mail left at relays (chapter 06 §5.3, §5.7).
final class OwnDropsTests: XCTestCase {
    private let now = Samples.time

    private func drops(_ relays: DropRelays) -> OwnDrops {
        var drops = OwnDrops()
        _ = drops.set(relays)
        return drops
    }

    private func bob() throws -> NoisePublicKey { try Samples.b().noise.publicKey }

    private func envelope() throws -> CourierEnvelope {
        CourierEnvelope(
            recipientTag: CourierTag.tag(for: try bob(), day: 1), expiry: now.later(hours: 24), ciphertext: [1])
    }

    func testTheWorkedExampleOfAKey() throws {
        let recipient = try XCTUnwrap(NoisePublicKey(Array(0x20...0x3f)))
        XCTAssertEqual(
            OwnDrops.key(messageID: "6F9619FF-8B86-D011-B42D-00CF4FC964FF", recipient: recipient),
            "v2:4d658e8726adec149ba015fecb6c79fbec23e7dc41e8a6a1cdf8f2ede5f73961")
    }

    /// Switched off nothing begins.
    func testOffNothing() throws {
        var drops = OwnDrops()
        XCTAssertNil(drops.begin(messageID: "m", to: try bob(), at: now))
    }

    /// A message is under way once and a failure frees it.
    func testRejectionLeavesRetryable() throws {
        var drops = drops(.connected)
        let ticket = try XCTUnwrap(drops.begin(messageID: "m", to: try bob(), at: now))
        XCTAssertNil(drops.begin(messageID: "m", to: try bob(), at: now))
        XCTAssertNil(drops.ended(ticket, isConfirmed: false, at: now))
        let second = try XCTUnwrap(drops.begin(messageID: "m", to: try bob(), at: now))
        XCTAssertNil(drops.ended(ticket, isConfirmed: true, at: now), "an answer to the attempt before")
        XCTAssertNotNil(drops.ended(second, isConfirmed: true, at: now))
        XCTAssertNil(drops.begin(messageID: "m", to: try bob(), at: now.later(hours: 23)))
        XCTAssertNotNil(drops.begin(messageID: "m", to: try bob(), at: now.later(hours: 24)))
    }

    /// One message id for two people is two messages.
    func testIDsScopedByRecipient() throws {
        var drops = drops(.connected)
        let first = try XCTUnwrap(drops.begin(messageID: "m", to: try bob(), at: now))
        _ = drops.ended(first, isConfirmed: true, at: now)
        XCTAssertNotNil(drops.begin(messageID: "m", to: try Samples.a().noise.publicKey, at: now))
    }

    /// A bare message id of an earlier version counts for everybody for a day.
    func testLegacyIDsWildcardFor24H() throws {
        var drops = drops(.connected)
        drops.restore([PublishedDrop(key: "m", at: now)])
        XCTAssertNil(drops.begin(messageID: "m", to: try bob(), at: now.later(hours: 23)))
        XCTAssertNil(drops.begin(messageID: "m", to: try Samples.a().noise.publicKey, at: now))
        XCTAssertNotNil(drops.begin(messageID: "m", to: try bob(), at: now.later(hours: 24)))
    }

    func testOfflineQueueAndFlush() throws {
        var drops = drops(.disconnected)
        for number in 0..<3 {
            let ticket = try XCTUnwrap(drops.begin(messageID: "\(number)", to: try bob(), at: now))
            XCTAssertFalse(drops.submit(ticket, try envelope()))
        }
        let flushed = drops.set(.connected)
        XCTAssertEqual(flushed.map(\.ticket.messageID), ["0", "1", "2"])
        for (ticket, _) in flushed { XCTAssertNotNil(drops.ended(ticket, isConfirmed: true, at: now)) }
        XCTAssertEqual(drops.publishedCount, 3)
    }

    /// Without a relay twenty wait and the oldest makes room and may begin again.
    func testEvictedStaysRetryable() throws {
        var drops = drops(.disconnected)
        for number in 0..<21 {
            let ticket = try XCTUnwrap(drops.begin(messageID: "\(number)", to: try bob(), at: now))
            XCTAssertFalse(drops.submit(ticket, try envelope()))
        }
        XCTAssertEqual(drops.waitingCount, 20)
        XCTAssertNil(drops.begin(messageID: "1", to: try bob(), at: now))
        XCTAssertNotNil(drops.begin(messageID: "0", to: try bob(), at: now))
        XCTAssertEqual(drops.publishedCount, 0)
        let flushed = drops.set(.connected)
        XCTAssertEqual(flushed.map(\.ticket.messageID), (1...20).map(String.init))
        XCTAssertEqual(drops.set(.connected).count, 0)
    }

    /// Switching off ends what waits and what is under way.
    func testSwitchOffCancels() throws {
        var drops = drops(.connected)
        let ticket = try XCTUnwrap(drops.begin(messageID: "m", to: try bob(), at: now))
        _ = drops.set(.off)
        _ = drops.set(.connected)
        XCTAssertNil(drops.ended(ticket, isConfirmed: true, at: now))
        XCTAssertEqual(drops.publishedCount, 0)
        XCTAssertNotNil(drops.begin(messageID: "m", to: try bob(), at: now))
    }

    /// What is too large is not tried for a day and the list is bounded.
    func testOversizeSuppressedBoundedAndExpiring() throws {
        var drops = drops(.connected)
        for number in 0..<600 {
            let ticket = try XCTUnwrap(drops.begin(messageID: "\(number)", to: try bob(), at: now))
            drops.reject(ticket, at: now)
        }
        XCTAssertEqual(drops.rejectedCount, 512)
        XCTAssertNil(drops.begin(messageID: "599", to: try bob(), at: now.later(hours: 23)))
        XCTAssertNotNil(drops.begin(messageID: "599", to: try bob(), at: now.later(hours: 24)))
    }
}

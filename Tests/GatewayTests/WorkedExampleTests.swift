import Basics
import Crypto
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §19.
final class WorkedExampleTests: XCTestCase {
    private let seed = DeviceSeed([UInt8](0..<32))

    /// Cell and ring.
    func testRingOf9() throws {
        let cell = RendezvousCell(latitude: 57.64911, longitude: 10.40744)
        XCTAssertEqual(cell.geohash, "u4pruy")
        XCTAssertEqual(
            cell.ring,
            ["u4pruy", "u4pruz", "u4prvp", "u4prvn", "u4prvj", "u4pruv", "u4prut", "u4pruw", "u4prux"])
        let atDateLine = try XCTUnwrap(RendezvousCell("xbpbpb"))
        XCTAssertEqual(Array(atDateLine.ring[1...3]), ["xbpbpc", "800001", "800000"])
    }

    func testRendezvousIdentity() throws {
        let seed = try XCTUnwrap(seed)
        let bridgeKey = seed.bridge(cell: "u4pruy").publicKey.hex
        XCTAssertEqual(bridgeKey, "94ea4d35fb35a3487b07f4465f77e902411be809d0960ce104b1ad1b98412f2d")
        XCTAssertEqual(
            seed.channel("u4pruy").publicKey.hex, "c4607abb02b2f7fb2b775f7137fde98182397684ca00c993793f574178977c66",
            "unlinkable from the bridge identity of the same cell")
    }

    /// Bridge message.
    func testOwnMessageTags() throws {
        var random = ZeroRandom()
        let event = try XCTUnwrap(
            PhoneBridge(seed: XCTUnwrap(seed)).message(
                " hello mesh\n", cell: XCTUnwrap(RendezvousCell("u4pruy")), sender: .us,
                radioTime: WallTime(milliseconds: 1_750_000_000_123), nickname: "alice",
                at: WallTime(milliseconds: 1_750_000_000_987), using: &random))
        XCTAssertEqual(
            event.event.tags,
            [
                ["r", "u4pruy"], ["n", "alice"],
                ["m", "b83f94d81dcdd1b0c0048f6645995dd4", "0011223344556677", "1750000000123"],
            ])
        XCTAssertEqual(event.event.content, "hello mesh")
        XCTAssertEqual(event.id.hex, "6c3387a7ff2c9e639955b669f70df06595011699ef42ea07b2d8397a87b13521")
        XCTAssertEqual(
            event.event.sig,
            "0fe9c8f42a6e8a8ed1b6db7ac8c21b5db5d7d80b7d6d892c2ce55bc51ced6289999477859dd53324493025839319cb90"
                + "97d58973a5072cae07fa1af6e217c4f5")
        XCTAssertEqual(event.json().count, 460)
        let payload = try XCTUnwrap(event.carrier(.toBridge, "u4pruy").encoded())
        XCTAssertEqual(payload.count, 476)
        XCTAssertEqual(Hex.encode(payload.prefix(20)), "010001030200067534707275790301cc7b226964")
        XCTAssertEqual(
            Hex.encode(SHA256.hash(payload)), "78e86d6b6ef5e68bda70cc3b47b189477a1384192a2b56ed36080c5866b61c30")
        XCTAssertEqual(DisplayName.of(nickname: "alice", pubkey: event.author.hex), "alice#2f2d")
    }

    func testBridgePresence() throws {
        var random = ZeroRandom()
        let event = try XCTUnwrap(
            PhoneBridge(seed: XCTUnwrap(seed)).presence(
                cell: "u4pruy", at: WallTime(milliseconds: 1_750_000_000_000), using: &random))
        XCTAssertEqual(event.event.tags, [["r", "u4pruy"]])
        XCTAssertEqual(event.event.content, "")
        XCTAssertEqual(event.id.hex, "661cc0a01aff093f3e50eaaeef19ade845ace0930fd3c0f81e4e21f29508c13f")
    }

    /// §19.7: 35 events at t = 0, of which 30 go out at once and 5 when the window has passed.
    func testBudgetTiming() throws {
        var budget = AirtimeBudget(carriers: GatewayLimits.channelCarriers)
        let start = Instant(nanoseconds: 1_000_000_000)
        XCTAssertEqual((0..<35).filter { _ in budget.take(500, at: start) }.count, 30)
        XCTAssertEqual(budget.nextTry(at: start), start + .seconds(60))
        XCTAssertFalse(budget.take(500, at: start + .seconds(60)), "at exactly 60 s the old ones still count")
        let retry = budget.nextTry(at: start + .seconds(60))
        XCTAssertEqual(retry, start + .seconds(60) + .milliseconds(50))
        XCTAssertEqual((0..<5).filter { _ in budget.take(500, at: retry) }.count, 5)
    }
}

/// 32 zero bytes of auxiliary randomness, as the worked signatures were made with.
struct ZeroRandom: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0 }
}

import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §5.8: what was dealt with is remembered for 24 hours, so many events and as many envelopes.
final class DropMemoryTests: XCTestCase {
    private let now = Clock.now().wall
    private let bob = Correspondent(2)

    private func event(_ number: Int) throws -> EventID {
        try XCTUnwrap(EventID(hex: Hex.encode(SHA256.hash(Array("\(number)".utf8)))))
    }

    private func letter(_ number: Int) -> MailID {
        MailID(
            CourierEnvelope(
                recipientTag: [UInt8](repeating: 1, count: 16), expiry: now, ciphertext: Array("\(number)".utf8)))
    }

    private func filled() throws -> (memory: DropMemory, kept: [DealtDrop]) {
        var memory = DropMemory()
        var kept: [DealtDrop] = []
        for number in 0..<CourierLimits.rememberedDrops {
            if let event = memory.insert(try event(number), at: now) { kept.append(event) }
            if let letter = memory.insert(letter(number), at: now) { kept.append(letter) }
        }
        return (memory, kept)
    }

    func testEventsAndEnvelopesDoNotPushEachOtherOut() throws {
        var (memory, kept) = try filled()
        XCTAssertEqual(kept.count, 2 * CourierLimits.rememberedDrops)
        var restored = DropMemory()
        restored.restore(kept)
        for number in 0..<CourierLimits.rememberedDrops {
            for memory in [memory, restored] {
                XCTAssertTrue(memory.contains(try event(number), at: now), "\(number)")
                XCTAssertTrue(memory.contains(letter(number), at: now), "\(number)")
            }
        }
        XCTAssertNil(memory.insert(try event(0), at: now), "known")
        _ = memory.insert(try event(CourierLimits.rememberedDrops), at: now)
        XCTAssertFalse(memory.contains(try event(0), at: now), "the oldest went")
        XCTAssertTrue(memory.contains(letter(0), at: now))
        let aDayLater = WallTime(milliseconds: now.milliseconds + 86_400_000)
        XCTAssertFalse(memory.contains(try event(CourierLimits.rememberedDrops), at: aDayLater))
    }

    /// A relay tells all of a busy day again.
    func testThreeHundredDeliveredDropsAreKnownWhenToldAgain() throws {
        let rig = CourierRig()
        let drops = try (0..<300).map { number in
            var mail = bob.mail(0, copies: 1, at: rig.now.wall)
            mail.ciphertext += Array("\(number)".utf8)
            return try rig.drop(mail)
        }
        for drop in drops {
            rig.meet(bob, .proven)
            rig.tell(drop)
            rig.advance(by: CourierLimits.visitPause)
        }
        let delivered = rig.handed.count
        XCTAssertEqual(delivered, 300)
        for drop in drops { rig.tell(drop) }
        XCTAssertEqual(rig.handed.count, delivered)
        XCTAssertEqual(rig.count(.dropRepeated), 300)
    }
}

import Basics
import XCTest

@testable import Radio

/// Every request, at every boundary of handles and lengths, against what the Core Specification says.
final class ATTConformanceTests: XCTestCase {
    /// Both ends of everything in the table, and of handles as such.
    private let handles = [0, 1, 2, 3, 5, 6, 7, 8, 9, 0x0A, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0xFFFE, 0xFFFF]
    private let mtus = [23, 24, 64, 517]

    private func le(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    private func peer(mtu: Int) -> BearerUnderTest {
        let peer = BearerUnderTest(.incoming)
        if mtu != 23 { XCTAssertEqual(peer.answer(to: [0x02] + le(mtu)), "03 05 02") }
        return peer
    }

    private func forEachRange(_ check: (BearerUnderTest, ATTReference, Int, Int) -> Void) {
        for mtu in mtus {
            let peer = peer(mtu: mtu)
            for start in handles { for end in handles { check(peer, ATTReference(mtu: mtu), start, end) } }
        }
    }

    /// Every type there is in the table, in both forms, and some that are not.
    private var types: [[UInt8]] {
        let there = Set(ATTReference.rows.map(\.type))
        let absent = ["01 28", "2a 2b", "3a 2b", "00 00", "ff ff"].map { bytes($0) } + [bytes(serviceHex)]
        return (there + absent).flatMap { $0.count == 2 ? [$0, ATTReference.long($0)] : [$0] }
    }

    func testFindInformationAtEveryBoundary() {
        forEachRange { peer, reference, start, end in
            let request = [0x04] + le(start) + le(end)
            peer.expect(reference.findInformation(start, end), to: request)
        }
    }

    func testFindByTypeValueAtEveryBoundary() {
        let values = ["00 18", "01 18", "0f 18", serviceHex, characteristicHex, "", "00", "00 18 00"].map { bytes($0) }
        forEachRange { peer, reference, start, end in
            for type in ["00 28", "01 28", "03 28", "00 2a"].map({ bytes($0) }) {
                for value in values {
                    let request = [0x06] + le(start) + le(end) + type + value
                    let expected = reference.findByTypeValue(start, end, type: type, value: value)
                    peer.expect(expected, to: request)
                }
            }
        }
    }

    func testReadByTypeAtEveryBoundary() {
        forEachRange { peer, reference, start, end in
            for type in types {
                let request = [0x08] + le(start) + le(end) + type
                let expected = reference.readByType(start, end, type: type)
                peer.expect(expected, to: request)
            }
        }
    }

    func testReadByGroupTypeAtEveryBoundary() {
        forEachRange { peer, reference, start, end in
            for type in types {
                let request = [0x10] + le(start) + le(end) + type
                let expected = reference.readByGroupType(start, end, type: type)
                peer.expect(expected, to: request)
            }
        }
    }

    func testReadsAtEveryHandleAndOffset() {
        for mtu in mtus {
            let peer = peer(mtu: mtu)
            let reference = ATTReference(mtu: mtu)
            for handle in handles {
                let request = [0x0A] + le(handle)
                peer.expect(reference.read(handle), to: request)
                for offset in [0, 1, 2, 3, 5, 6, 7, 8, 16, 17, 19, 20, 512, 0xFFFF] {
                    let request = [0x0C] + le(handle) + le(offset)
                    peer.expect(reference.readBlob(handle, offset), to: request)
                }
            }
        }
    }

    func testWritesAtEveryHandleAndLength() {
        for mtu in mtus {
            let peer = peer(mtu: mtu)
            for handle in handles {
                for length in [0, 1, 2, 3, 20, 21, 511, 512, 513, 669] {
                    // Zeros: no frame, and a configuration that stays as it is.
                    let request = [0x12] + le(handle) + [UInt8](repeating: 0, count: length)
                    let refusal = ATTReference(mtu: mtu).refusal(ofWriting: length, to: handle)
                    let expected = refusal.map { [0x01, 0x12] + le(handle) + [$0] } ?? [0x13]
                    peer.expect(expected, to: request)
                    XCTAssertEqual(peer.effects(of: [0x52] + request.dropFirst()), [], "a command is never answered")
                }
            }
        }
    }

    func testPreparedWritesAtEveryHandleAndLength() {
        for mtu in mtus {
            for handle in handles {
                for length in [0, 1, 2, 3, 18, 19, 512].filter({ $0 + 5 <= mtu }) {
                    let peer = peer(mtu: mtu)
                    let request = [0x16] + le(handle) + [0, 0] + [UInt8](repeating: 0, count: length)
                    switch ATTReference(mtu: mtu).refusal(ofWriting: length, to: handle) {
                    case let refusal? where refusal != 0x0D:
                        XCTAssertEqual(peer.answer(to: request), hex([0x01, 0x16] + le(handle) + [refusal]))
                        XCTAssertEqual(peer.answer(to: "18 01"), "19", "nothing was queued")
                    case let refusal:
                        // A wrong length shows when the parts are joined.
                        XCTAssertEqual(peer.answer(to: request), hex([0x17] + request.dropFirst()))
                        let expected = refusal.map { [0x01, 0x18] + le(handle) + [$0] } ?? [0x19]
                        XCTAssertEqual(peer.answer(to: "18 01"), hex(expected))
                    }
                }
            }
        }
    }

    /// The lengths each request may have; any other is an invalid PDU. Its handle is not believed then.
    func testEveryOtherLengthIsAnInvalidPDU() {
        let lengths: [UInt8: (Int) -> Bool] = [
            0x02: { $0 == 3 }, 0x04: { $0 == 5 }, 0x06: { $0 >= 7 }, 0x08: { $0 == 7 || $0 == 21 },
            0x0A: { $0 == 3 }, 0x0C: { $0 == 5 }, 0x10: { $0 == 7 || $0 == 21 }, 0x12: { $0 >= 3 },
            0x16: { $0 >= 5 && $0 <= 23 }, 0x18: { $0 == 2 },
        ]
        for (opcode, isRight) in lengths {
            for length in Array(1...30) + [517, 672] where !isRight(length) {
                let request = [opcode] + [UInt8](repeating: 1, count: length - 1)
                let peer = BearerUnderTest(.incoming)
                XCTAssertEqual(peer.answer(to: request), hex([0x01, opcode, 0, 0, 0x04]), hex(request))
                XCTAssertEqual(peer.bearer.counters[.requestRefused], 1)
            }
        }
        for flags in UInt8(2)...255 {
            XCTAssertEqual(BearerUnderTest(.incoming).answer(to: [0x18, flags]), "01 18 00 00 04")
        }
    }

    func testEveryOpcodeIsAnsweredOrNotAsItsKindSays() {
        let supported: Set<UInt8> = [0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x10, 0x12, 0x16, 0x18]
        // What a server says, and a confirmation.
        let unanswered: Set<UInt8> = [
            0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x1B, 0x1D, 0x1E, 0x21, 0x23,
        ]
        for opcode in UInt8.min...UInt8.max where !supported.contains(opcode) {
            for length in [1, 2, 3, 5, 7, 21, 600] {
                let peer = BearerUnderTest(.incoming)
                let answer = peer.answer(to: [opcode] + [UInt8](repeating: 0, count: length - 1))
                if unanswered.contains(opcode) || opcode & 0x40 != 0 {
                    XCTAssertEqual(answer, opcode == 0x1D && length >= 3 ? "1e" : "", "\(opcode)")
                } else {
                    XCTAssertEqual(answer, hex([0x01, opcode, 0, 0, 0x06]))
                }
                XCTAssertGreaterThan(peer.bearer.counters.total, 0, "\(opcode) is counted")
            }
        }
    }

    func testNoErrorThatRaisesAPairingDialogIsEverGiven() {
        var random = SeededRandom(seed: 21)
        for _ in 0..<5_000 {
            let opcode = [0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20].randomElement(
                using: &random)
            var request = [UInt8(opcode ?? 0)]
            for _ in 0..<Int.random(in: 0..<24, using: &random) {
                request.append(UInt8.random(in: 0...0x14, using: &random))
            }
            for effect in BearerUnderTest(.incoming).effects(of: request) {
                guard case .transmitResponse(let pdu) = effect, pdu.first == 0x01 else { continue }
                XCTAssertEqual(pdu.count, 5)
                XCTAssertFalse([0x05, 0x08, 0x0C, 0x0F].contains(pdu[4]), hex(request))
            }
        }
    }

    func testAnswersNeverExceedTheMTU() {
        for mtu in mtus {
            let peer = peer(mtu: mtu)
            for opcode in [UInt8(0x04), 0x06, 0x08, 0x10] {
                for tail in types + [bytes("00 28 00 18"), []] {
                    for effect in peer.effects(of: [opcode, 1, 0, 0xFF, 0xFF] + tail) {
                        guard case .transmitResponse(let pdu) = effect else { return XCTFail("\(effect)") }
                        XCTAssertLessThanOrEqual(pdu.count, mtu)
                    }
                }
            }
        }
    }
}

import Basics
import Wire
import XCTest

@testable import Radio

/// Bytes written as in the specification: pairs of digits, spaces anywhere.
func bytes(_ hex: String, file: StaticString = #filePath, line: UInt = #line) -> [UInt8] {
    guard let bytes = Hex.decode(hex.filter { $0 != " " }) else {
        XCTFail("no hex: \(hex)", file: file, line: line)
        return []
    }
    return bytes
}

/// The same, as failures show it.
func hex(_ bytes: some Sequence<UInt8>) -> String { bytes.map { Hex.encode([$0]) }.joined(separator: " ") }

/// Chapter 03 A1, as it travels.
let serviceHex = "5c 4b 3a 2c 1d 8e 3f 9b 5a 4c 9e 4a 2d 5e 7b f4"
let characteristicHex = "5d 4c 3b 2a 1f 0e 9d 8c 5b 4a f6 e5 d4 c3 b2 a1"
/// Chapter 03 D2.
let frameHex = "01 02 07 00 00 01 8b cf e5 68 7b 00 00 0a 00 11 22 33 44 55 66 77 68 65 6c 6c 6f 20 6d 65 73 68"

/// An unpadded frame of exactly this many bytes, at least 22.
func frame(of length: Int, fill: UInt8 = 0x61) -> [UInt8] {
    var frame = bytes("01 02 07 00 00 01 8b cf e5 68 7b 00") + [UInt8((length - 22) >> 8), UInt8((length - 22) & 0xFF)]
    frame += bytes("00 11 22 33 44 55 66 77")
    return frame + Array(repeating: fill, count: length - 22)
}

/// One bearer under test, and everything it has asked for.
final class BearerUnderTest {
    let bearer: AttributeBearer
    var now = Instant.zero
    /// Since they were last taken.
    private(set) var effects: [BearerEffect] = []

    init(_ role: LinkRole, service: BluetoothUUID = .meshService) {
        bearer = AttributeBearer(role: role, service: service)
        bearer.start(at: now)
        drain()
    }

    func drain() { while let effect = bearer.nextEffect() { effects.append(effect) } }

    /// Everything asked for since the last call.
    func take() -> [BearerEffect] {
        defer { effects = [] }
        return effects
    }

    func receive(_ pdu: [UInt8]) {
        pdu.withUnsafeBytes { bearer.receive($0, at: now) }
        drain()
    }

    /// Everything a PDU leads to.
    func effects(of pdu: [UInt8]) -> [BearerEffect] {
        _ = take()
        receive(pdu)
        return take()
    }

    func effects(of pdu: String) -> [BearerEffect] { effects(of: bytes(pdu)) }

    /// The answer to a PDU in hex; empty if there is none.
    func answer(to pdu: [UInt8]) -> String {
        effects(of: pdu).compactMap { if case .transmitResponse(let pdu) = $0 { hex(pdu) } else { nil } }
            .joined(separator: " | ")
    }

    /// Whether a PDU draws exactly this answer: quicker than comparing text, for long tables.
    func expect(
        _ answer: [UInt8], to pdu: [UInt8], _ what: @autoclosure () -> String = "", file: StaticString = #filePath,
        line: UInt = #line
    ) {
        let effects = effects(of: pdu)
        if effects.first != .transmitResponse(answer) {
            XCTFail("\(hex(pdu)) \(what()): \(effects), not \(hex(answer))", file: file, line: line)
        }
    }

    func answer(to pdu: String) -> String { answer(to: bytes(pdu)) }

    /// Lets time pass, with every deadline on the way.
    func advance(_ span: Interval) {
        let end = now + span
        while let due = bearer.nextDeadline, due <= end {
            now = max(now, due)
            bearer.timeout(at: now)
            drain()
        }
        now = end
    }

    var frames: [[UInt8]] { effects.compactMap { if case .frame(let frame) = $0 { frame } else { nil } } }
}

extension BearerEffect {
    static func response(_ hex: String) -> BearerEffect { .transmitResponse(bytes(hex)) }
    static func request(_ hex: String) -> BearerEffect { .transmitRequest(bytes(hex)) }
}

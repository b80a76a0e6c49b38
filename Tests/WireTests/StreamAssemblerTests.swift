import Basics
import XCTest

@testable import Wire

final class StreamAssemblerTests: XCTestCase {
    private let f1 = hex("01020700000000000001110000040011223344556677deadbeef")
    private let f2 = hex("01020700000000000002220000020011223344556677cafe")

    /// One input chunk and what it delivers.
    private struct Step {
        let chunk: [UInt8]
        let seconds: Double
        let frames: [[UInt8]]
    }

    private func step(_ chunk: [UInt8], at seconds: Double, _ frames: [UInt8]...) -> Step {
        Step(chunk: chunk, seconds: seconds, frames: frames)
    }

    private func check(_ steps: [Step], _ receive: (UnsafeRawBufferPointer, Instant) -> [[UInt8]], line: UInt = #line) {
        for (number, step) in steps.enumerated() {
            let frames = step.chunk.withUnsafeBytes { receive($0, .zero + .seconds(step.seconds)) }
            XCTAssertEqual(frames, step.frames, "step \(number)", line: line)
        }
    }

    private func check(reference steps: [Step], line: UInt = #line) -> Tally<StreamDamage> {
        var assembler = StreamAssembler()
        check(
            steps,
            { chunk, now in
                var frames = [[UInt8]]()
                assembler.receive(chunk, at: now) { frames.append([UInt8]($0)) }
                return frames
            }, line: line)
        XCTAssertEqual(assembler.bufferedBytes, 0, line: line)
        return assembler.damage
    }

    private func check(recommended steps: [Step], line: UInt = #line) -> Tally<StreamDamage> {
        var assembler = NotificationAssembler()
        check(
            steps,
            { chunk, now in
                var frames = [[UInt8]]()
                assembler.receive(chunk, at: now) { frames.append([UInt8]($0)) }
                return frames
            }, line: line)
        XCTAssertEqual(assembler.bufferedBytes, 0, line: line)
        return assembler.damage
    }

    // MARK: Chapter 03 D4

    func testTraceA() {
        let steps = [step(Array(f1[..<20]), at: 0), step(Array(f1[20...]) + f2, at: 0.01, f1, f2)]
        XCTAssertEqual(check(reference: steps).total, 0)
        XCTAssertEqual(check(recommended: steps).total, 0)
    }

    func testTraceB() {
        let steps = [step([0] + f1, at: 0, f1)]
        XCTAssertEqual(check(reference: steps)[.strayByte], 1)
        XCTAssertEqual(check(recommended: steps)[.strayByte], 1)
    }

    func testTraceC() {
        let steps = [
            step(f1 + [UInt8](repeating: 0x28, count: 40), at: 0, f1), step(f2, at: 0.01, f2),
        ]
        XCTAssertEqual(check(reference: steps).total, 0)
        XCTAssertEqual(check(recommended: steps).total, 0)
    }

    func testTraceDLosesTwoMoreFramesInTheReference() {
        let corrupt = Array(f1.dropLast()) + [0x01]
        let damage = check(reference: [
            step(Array(f1.dropLast()), at: 0), step(f2, at: 0.03, corrupt), step(f2, at: 0.06),
            step(f1, at: 0.09, f1),
        ])
        XCTAssertGreaterThan(damage.total, 0)
    }

    func testTraceDLosesOnlyTheDamagedFrameInTheRecommendedForm() {
        let damage = check(recommended: [
            step(Array(f1.dropLast()), at: 0), step(f2, at: 0.03, f2), step(f2, at: 0.06, f2), step(f1, at: 0.09, f1),
        ])
        XCTAssertEqual(damage.total, 0)
    }

    func testTraceE() {
        let steps = [
            step(Array(f1[..<22]), at: 0), step([f1[22]], at: 0.10), step([f1[23]], at: 0.30), step(f2, at: 0.31, f2),
        ]
        XCTAssertEqual(check(reference: steps)[.reset], 1)
        XCTAssertEqual(check(recommended: steps)[.stalePartial], 1)
    }

    // MARK: Bounds

    func testAnEmptyChunkChangesNothing() {
        XCTAssertEqual(check(reference: [step([], at: 0)]).total, 0)
        XCTAssertEqual(check(recommended: [step([], at: 0)]).total, 0)
    }

    func testTooMuchDataResets() {
        var assembler = NotificationAssembler()
        // A version 2 header that announces 8,000 bytes; 500 bytes a notification.
        let first = hex("020207000000000000000000") + [0, 0, 0x1f, 0x40] + [UInt8](repeating: 0x55, count: 484)
        let more = [UInt8](repeating: 0x55, count: 500)
        var delivered = 0
        func receive(_ chunk: [UInt8]) {
            chunk.withUnsafeBytes { assembler.receive($0, at: .zero) { _ in delivered += 1 } }
            XCTAssertLessThanOrEqual(assembler.bufferedBytes, NotificationAssembler.limits.buffer)
        }
        receive(first)
        for _ in 0..<15 { receive(more) }
        XCTAssertEqual(assembler.bufferedBytes, 8_000)
        receive(more)
        XCTAssertEqual(assembler.damage[.reset], 1)

        receive(first)
        for _ in 0..<15 { receive(more) }
        receive([UInt8](repeating: 0x55, count: 24))
        XCTAssertEqual(delivered, 1)

        receive([UInt8](repeating: 1, count: 9_000))
        XCTAssertEqual(assembler.damage[.reset], 2)
        XCTAssertEqual(assembler.bufferedBytes, 0)
    }

    func testImpossibleHeadersReset() {
        let tooLong = hex("0202070000000000000000000fffffff") + [UInt8](repeating: 1, count: 8)
        XCTAssertEqual(check(reference: [step(tooLong, at: 0)])[.reset], 1)
        let compressedWithoutSize = hex("0102070000000000000000040001") + [UInt8](repeating: 1, count: 9)
        XCTAssertEqual(check(reference: [step(compressedWithoutSize, at: 0)])[.reset], 1)
    }

    func testRemainingZerosAreCleared() {
        XCTAssertEqual(check(reference: [step(f1 + [0, 0, 0], at: 0, f1)]).total, 0)
    }

    func testARouteIsCountedIntoTheLength() throws {
        let packet = Packet(
            version: 2, type: .noiseEncrypted, timestamp: Example.time, senderID: Example.A.peerID,
            recipientID: Example.B.peerID, route: [PeerID(value: 1), PeerID(value: 2)], payload: [1, 2, 3],
            signature: [UInt8](repeating: 4, count: 64))
        let frame = try packet.encoded()
        let steps = [
            step(Array(frame[..<30]), at: 0), step(Array(frame[30..<33]), at: 0.01),
            step(Array(frame[33...]), at: 0.02, frame),
        ]
        XCTAssertEqual(check(reference: steps).total, 0)
        XCTAssertEqual(check(recommended: steps).total, 0)
    }
}

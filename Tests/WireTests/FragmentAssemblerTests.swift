import Basics
import XCTest

@testable import Wire

final class FragmentAssemblerTests: XCTestCase {
    private let link = LinkID(value: 1)

    private func add(
        _ assembler: inout FragmentAssembler, sender: UInt64 = 1, stream: UInt64, _ index: UInt16, of total: UInt16,
        _ slice: [UInt8] = [1], type: MessageType = .message, link: UInt64 = 1, isBroadcast: Bool = true,
        at seconds: Double = 0
    ) throws -> FragmentAssembler.Outcome {
        let header = try XCTUnwrap(
            FragmentHeader(streamID: .init(value: stream), index: index, total: total, originalType: type))
        return slice.withUnsafeBytes {
            assembler.add(
                header, slice: $0, sender: PeerID(value: sender), link: LinkID(value: link), isBroadcast: isBroadcast,
                at: .zero + .seconds(seconds))
        }
    }

    func testFragmentsJoinInIndexOrderWhateverOrderTheyComeIn() throws {
        var assembler = FragmentAssembler()
        XCTAssertEqual(try add(&assembler, stream: 1, 2, of: 3, [3]), .stored(opened: true))
        XCTAssertEqual(try add(&assembler, stream: 1, 0, of: 3, [9]), .stored(opened: false))
        XCTAssertEqual(try add(&assembler, stream: 1, 0, of: 3, [1]), .stored(opened: false))
        XCTAssertEqual(try add(&assembler, stream: 1, 1, of: 3, [2]), .complete([1, 2, 3]))
        XCTAssertEqual(assembler.count, 0)
        XCTAssertEqual(assembler.bytes, 0)
    }

    func testFragmentsOfFragmentsAreRefused() throws {
        var assembler = FragmentAssembler()
        XCTAssertEqual(try add(&assembler, stream: 1, 0, of: 2, type: .fragment), .refused)
        XCTAssertEqual(assembler.count, 0)
    }

    func testAForgedTotalDoesNotThrowASetAway() throws {
        var assembler = FragmentAssembler()
        _ = try add(&assembler, stream: 1, 0, of: 3, [1])
        XCTAssertEqual(try add(&assembler, stream: 1, 2, of: 9_999, [3]), .stored(opened: false))
        XCTAssertEqual(try add(&assembler, stream: 1, 1, of: 3, [2]), .complete([1, 2, 3]))
    }

    func testSetsGrowToTheirCapAndNoFurther() throws {
        let half = [UInt8](repeating: 0, count: 524_288)
        for (type, limit) in [
            (MessageType.message, 1_048_576), (.fileTransfer, 1_179_760), (.noiseEncrypted, 1_179_760),
        ] {
            var assembler = FragmentAssembler()
            _ = try add(&assembler, stream: 1, 0, of: 4, half, type: type)
            XCTAssertEqual(try add(&assembler, stream: 1, 1, of: 4, half, type: type), .stored(opened: false))
            let room = [UInt8](repeating: 0, count: limit - 1_048_576)
            XCTAssertEqual(try add(&assembler, stream: 1, 2, of: 4, room, type: type), .stored(opened: false))
            XCTAssertEqual(
                try add(&assembler, stream: 1, 3, of: 4, [0], type: type),
                .oversized(projected: limit + 1, limit: limit))
            XCTAssertEqual(assembler.count, 0)
        }
    }

    func testTheSetThatStartedEarliestIsEvictedAtTheCap() throws {
        var limits = FragmentAssembler.Limits()
        limits.sets = 3
        var assembler = FragmentAssembler(limits: limits)
        for stream: UInt64 in 1...3 { _ = try add(&assembler, stream: stream, 0, of: 2) }
        _ = try add(&assembler, stream: 4, 0, of: 2)
        XCTAssertEqual(assembler.count, 3)
        XCTAssertEqual(try add(&assembler, stream: 2, 1, of: 2), .complete([1, 1]))
        XCTAssertEqual(try add(&assembler, stream: 1, 1, of: 2), .stored(opened: true))
    }

    func testOneSenderCannotCrowdOutAnother() throws {
        var assembler = FragmentAssembler()
        _ = try add(&assembler, sender: 1, stream: 0, 0, of: 2, link: 1)
        for stream: UInt64 in 0..<200 { _ = try add(&assembler, sender: 2, stream: stream, 0, of: 2, link: stream) }
        XCTAssertEqual(assembler.count, 17)
        XCTAssertEqual(try add(&assembler, sender: 1, stream: 0, 1, of: 2, link: 1), .complete([1, 1]))
    }

    func testForgedSetsInASendersNameOnAnotherLinkCrowdOutNoneOfItsOwn() throws {
        var assembler = FragmentAssembler()
        for stream: UInt64 in 0..<3 { _ = try add(&assembler, sender: 1, stream: stream, 0, of: 2, link: 1) }
        for stream: UInt64 in 100..<200 { _ = try add(&assembler, sender: 1, stream: stream, 0, of: 2, link: 2) }
        for stream: UInt64 in 3..<6 { _ = try add(&assembler, sender: 1, stream: stream, 0, of: 2, link: 1) }
        XCTAssertEqual(assembler.count, assembler.limits.setsPerSource)
        for stream: UInt64 in 0..<6 {
            XCTAssertEqual(try add(&assembler, sender: 1, stream: stream, 1, of: 2, link: 1), .complete([1, 1]))
        }
    }

    func testOneLinkCannotCrowdOutAnotherUnderForgedSenders() throws {
        var assembler = FragmentAssembler()
        _ = try add(&assembler, sender: 1, stream: 0, 0, of: 2, link: 1)
        for sender: UInt64 in 2..<200 { _ = try add(&assembler, sender: sender, stream: 0, 0, of: 2, link: 2) }
        XCTAssertEqual(assembler.count, 17)
        XCTAssertEqual(try add(&assembler, sender: 1, stream: 0, 1, of: 2, link: 1), .complete([1, 1]))
    }

    func testBytesOfOneSourceAreCapped() throws {
        var assembler = FragmentAssembler()
        let slice = [UInt8](repeating: 0, count: 1_000_000)
        for stream: UInt64 in 1...10 { _ = try add(&assembler, stream: stream, 0, of: 2, slice) }
        XCTAssertEqual(assembler.count, 2)
        XCTAssertLessThanOrEqual(assembler.bytes, assembler.limits.bytesPerSource)
    }

    func testBytesOverallAreCapped() throws {
        var assembler = FragmentAssembler()
        let slice = [UInt8](repeating: 0, count: 1_000_000)
        for source: UInt64 in 1...20 {
            _ = try add(&assembler, sender: source, stream: 1, 0, of: 2, slice, link: source)
        }
        XCTAssertEqual(assembler.count, 8)
        XCTAssertLessThanOrEqual(assembler.bytes, assembler.limits.bytes)
    }

    func testEmptySlicesAreNotFree() throws {
        var assembler = FragmentAssembler()
        var opened: UInt64 = 0
        while opened < 4 {
            opened += 1
            for index: UInt16 in 0..<9_999 { _ = try add(&assembler, stream: opened, index, of: 10_000, []) }
        }
        XCTAssertLessThanOrEqual(assembler.bytes, assembler.limits.bytesPerSource)
        XCTAssertEqual(assembler.count, 3)
    }

    func testASetLivesThirtySecondsFromItsFirstFragment() throws {
        var assembler = FragmentAssembler()
        _ = try add(&assembler, stream: 1, 0, of: 3, at: 0)
        _ = try add(&assembler, stream: 1, 1, of: 3, at: 29)
        XCTAssertEqual(assembler.expire(at: .zero + .seconds(30)), 0)
        XCTAssertEqual(assembler.expire(at: .zero + .milliseconds(30_001)), 1)
        XCTAssertEqual(assembler.count, 0)
        XCTAssertEqual(assembler.bytes, 0)
    }

    func testStalledBroadcastStreamsAreNamedOncePerRetry() throws {
        var assembler = FragmentAssembler()
        func stalled(_ seconds: Int, most: Int = 60) -> [UInt64] {
            assembler.takeStalled(idle: .seconds(5), retry: .seconds(10), most: most, at: .zero + .seconds(seconds))
                .map(\.value)
        }
        _ = try add(&assembler, sender: 2, stream: 8, 0, of: 3, at: 1)
        _ = try add(&assembler, sender: 1, stream: 9, 0, of: 3, at: 1)
        _ = try add(&assembler, sender: 1, stream: 7, 0, of: 3, at: 0)
        _ = try add(&assembler, sender: 1, stream: 5, 0, of: 3, isBroadcast: false, at: 0)
        // A copy is no progress, a new index is.
        _ = try add(&assembler, sender: 1, stream: 9, 0, of: 3, at: 4)
        _ = try add(&assembler, sender: 1, stream: 7, 1, of: 3, at: 4)
        XCTAssertEqual(stalled(5), [])
        XCTAssertEqual(stalled(6, most: 1), [9])
        XCTAssertEqual(stalled(6), [8])
        XCTAssertEqual(stalled(15), [7])
        XCTAssertEqual(stalled(16), [9, 8])
    }
}

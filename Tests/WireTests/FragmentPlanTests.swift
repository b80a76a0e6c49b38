import Basics
import XCTest

@testable import Wire

final class FragmentPlanTests: XCTestCase {
    private let streamID = FragmentStreamID(value: 0xa0a1_a2a3_a4a5_a6a7)

    /// Chapter 01 §17.7.
    func testTheExampleIsCutIntoTheFragmentsAsWritten() throws {
        let parent = Packet(
            type: .groupMessage, timestamp: Example.time, senderID: Example.A.peerID, payload: filler(600))
        let frame = try Frame(parent.encoded())
        XCTAssertEqual(frame.bytes.count, 622)
        XCTAssertEqual(
            SHA256.hash(frame.bytes), hex("617d6f9d86ef7687f688b45e0dcf7226c6f5c125393bed1d31b047c202bd0f5a"))

        let plan = try XCTUnwrap(FragmentPlan(frame, chunk: 469, streamID: streamID))
        XCTAssertEqual(plan.count, 2)
        let first = try XCTUnwrap(plan.frame(at: 0)).bytes
        let second = try XCTUnwrap(plan.frame(at: 1)).bytes
        XCTAssertEqual(first.count, 504)
        XCTAssertEqual(second.count, 188)
        XCTAssertEqual(
            Array(first.prefix(35)),
            octets("012007000001977420dc7b0001e2aaa8fff703b50b22 a0a1a2a3a4a5a6a7 0000 0002 25"))
        XCTAssertEqual(
            Array(second.prefix(35)),
            octets("012007000001977420dc7b0000a6aaa8fff703b50b22 a0a1a2a3a4a5a6a7 0001 0002 25"))
        XCTAssertEqual(SHA256.hash(first), hex("75b5cdaaabb3ec82709e868b566cdea14cd394435c112d0f9221f952e1b97df6"))
        XCTAssertEqual(SHA256.hash(second), hex("50ea8e392bfdb530ac123ba9e5a8c8a8e02ddd741db195b162ebcc828417cd65"))
    }

    /// Chapter 03 D5.
    func testSmallChunks() throws {
        let parent = Packet(
            type: .message, timestamp: WallTime(milliseconds: 1_700_000_000_123),
            senderID: PeerID(value: 0x0011_2233_4455_6677), payload: Array("abcdefghijklmnopqrstuvwxyz".utf8))
        let plan = try XCTUnwrap(
            FragmentPlan(Frame(parent.encoded()), chunk: 32, streamID: .init(value: 0xa1a2_a3a4_a5a6_a7a8)))
        let first = try XCTUnwrap(plan.frame(at: 0))
        let second = try XCTUnwrap(plan.frame(at: 1))
        XCTAssertEqual(plan.count, 2)
        XCTAssertEqual(
            first.bytes,
            octets(
                """
                01 20 07 00 00 01 8b cf e5 68 7b 00 00 2d 00 11 22 33 44 55 66 77
                a1 a2 a3 a4 a5 a6 a7 a8 00 00 00 02 02
                01 02 07 00 00 01 8b cf e5 68 7b 00 00 1a 00 11 22 33 44 55 66 77 61 62 63 64 65 66 67 68 69 6a
                """))
        XCTAssertEqual(
            second.bytes,
            octets(
                """
                01 20 07 00 00 01 8b cf e5 68 7b 00 00 1d 00 11 22 33 44 55 66 77
                a1 a2 a3 a4 a5 a6 a7 a8 00 01 00 02 02
                6b 6c 6d 6e 6f 70 71 72 73 74 75 76 77 78 79 7a
                """))
        XCTAssertEqual(first.withView { messageIDText($0) }, "0011223344556677-1700000000123-32-873c601f")
        XCTAssertEqual(second.withView { messageIDText($0) }, "0011223344556677-1700000000123-32-c4d94e6c")
    }

    /// The table of chapter 03 D5, and the formulas of chapter 01 §9.9.
    func testChunksFillTheLinkLimit() {
        for (limit, phone, broadcast, directed) in [
            (182, 140, 147, 139), (244, 202, 209, 201), (509, 467, 474, 466), (512, 470, 477, 469),
        ] {
            XCTAssertEqual(FragmentChunk.phone(linkLimit: limit), phone)
            XCTAssertEqual(
                FragmentChunk.filling(frameLimit: limit, hasRecipient: false), min(broadcast, FragmentChunk.largest))
            XCTAssertEqual(FragmentChunk.filling(frameLimit: limit, hasRecipient: true), directed)
        }
        XCTAssertEqual(FragmentChunk.filling(frameLimit: 500, hasRecipient: true, hops: 2), 500 - 43 - 19)
        XCTAssertEqual(FragmentChunk.filling(frameLimit: 36, hasRecipient: false), 1)
        XCTAssertNil(FragmentChunk.filling(frameLimit: 35, hasRecipient: false))
        XCTAssertNil(FragmentChunk.filling(frameLimit: -1, hasRecipient: true, hops: 255))
    }

    func testNoFragmentExceedsTheLinkLimit() throws {
        for limit in [64, 182, 244, 509, 512] {
            for (recipient, route) in [
                (nil, []), (Example.B.peerID, []), (Example.B.peerID, [PeerID(value: 1), PeerID(value: 2)]),
            ] as [(PeerID?, [PeerID])] {
                let parent = Packet(
                    version: route.isEmpty ? 1 : 2, type: .message, timestamp: Example.time,
                    senderID: Example.A.peerID, recipientID: recipient, route: route, payload: filler(3_000),
                    isSyncResponse: true)
                guard
                    let chunk = FragmentChunk.filling(
                        frameLimit: limit, hasRecipient: recipient != nil, hops: route.count)
                else { continue }
                let plan = try XCTUnwrap(FragmentPlan(Frame(parent.encoded()), chunk: chunk, streamID: streamID))
                let frames = (0..<plan.count).compactMap { plan.frame(at: $0) }
                XCTAssertEqual(frames.count, plan.count)
                let full = limit > 504 && recipient == nil ? 504 : limit
                XCTAssertTrue(frames.dropLast().allSatisfy { $0.bytes.count == full }, "\(limit)")
                XCTAssertTrue(frames.allSatisfy { $0.bytes.count <= limit && $0.isSyncResponse && $0.route == route })
            }
        }
    }

    func testFragmentsOfARelayedFrameKeepTheAuthor() throws {
        var parent = Packet(
            type: .message, ttl: 4, timestamp: Example.time, senderID: Example.A.peerID, payload: filler(700))
        parent.signature = [UInt8](repeating: 7, count: 64)
        let frame = try Frame(parent.encoded())
        let plan = try XCTUnwrap(FragmentPlan(frame, chunk: 300, target: Example.B.peerID, streamID: streamID))
        let fragment = try XCTUnwrap(plan.frame(at: 0))
        XCTAssertEqual(fragment.senderID, Example.A.peerID)
        XCTAssertEqual(fragment.timestamp, Example.time)
        XCTAssertEqual(fragment.ttl, 4)
        XCTAssertEqual(fragment.recipientID, Example.B.peerID)
        XCTAssertNil(fragment.signature)
    }

    func testTrainsTooLongOrSlicesTooLargeAreRefused() throws {
        let long = try Frame(
            Packet(
                version: 2, type: .fileTransfer, timestamp: Example.time, senderID: Example.A.peerID,
                payload: filler(11_000)
            ).encoded())
        XCTAssertNil(FragmentPlan(long, chunk: 1, streamID: streamID))
        XCTAssertNil(FragmentPlan(long, chunk: 0, streamID: streamID))
        XCTAssertNil(FragmentPlan(long, chunk: 65_523, streamID: streamID))
        XCTAssertNotNil(FragmentPlan(long, chunk: 65_522, streamID: streamID))
        XCTAssertEqual(FragmentPlan(long, chunk: 2, streamID: streamID)?.count, (long.bytes.count + 1) / 2)
    }
}

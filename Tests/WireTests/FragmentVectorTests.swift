import Basics
import TestSupport
import XCTest

@testable import Wire

final class FragmentVectorTests: XCTestCase {
    func testFragmentsAreCutAndJoinedAsTheReferenceDoes() throws {
        try Vectors("fragments.json").run { vector in
            switch vector.kind {
            case "plan": try checkPlan(vector)
            case "header", "header_reject": try checkHeader(vector)
            case "reassembly": try checkReassembly(vector)
            case "chunk":
                let chunk = FragmentChunk.phone(linkLimit: try vector.int("linkLimit"))
                XCTAssertEqual(chunk, try vector.int("chunkSize"), vector.name)
            case "pads":
                let type = MessageType(rawValue: UInt8(try vector.int("type")))
                XCTAssertEqual(type.isPadded, try vector.bool("paddedOnBLE"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkPlan(_ vector: VectorCase) throws {
        let packet = try vector.object("packet").packet()
        let frame = try Frame(packet.encoded())
        let padded = try vector.bool("pad")
        let inner = try vector.bytes("innerFrame")
        XCTAssertEqual(frame.layout.isCompressed, try vector.bool("compressed"), vector.name)
        let theirs = try Frame(inner)
        XCTAssertEqual(theirs.layout.isCompressed, try vector.bool("compressed"), vector.name)
        let isSameFrame = try packet.encoded(padded: padded) == inner
        if !isSameFrame {
            // What another compressor makes of it says the same in other bytes.
            XCTAssertTrue(try vector.bool("compressed"), vector.name)
            XCTAssertEqual(Packet(decoding: inner), packet, vector.name)
        }

        let chunk = FragmentChunk.phone(
            requested: try vector.optionalInt("maxChunk"), hops: packet.route.count,
            standard: try vector.int("defaultChunkSize"), frameLimit: try vector.int("bleMaxMTU"))
        XCTAssertEqual(chunk, try vector.int("chunkSize"), vector.name)
        let plan = try XCTUnwrap(
            FragmentPlan(
                frame, chunk: chunk, padded: padded,
                target: try vector.optionalBytes("directedPeer").flatMap { PeerID($0) },
                streamID: try XCTUnwrap(FragmentStreamID(vector.bytes("fragmentID")))))
        XCTAssertEqual(Int(plan.envelope.version), try vector.int("fragmentVersion"), vector.name)
        XCTAssertEqual(plan.spacing, .milliseconds(try vector.int("spacingMs")), vector.name)

        let expected = try vector.bytesList("fragmentFrames")
        XCTAssertEqual(expected.count, try vector.int("count"), vector.name)
        if isSameFrame || frame.bytes.count == theirs.bytes.count {
            XCTAssertEqual(plan.count, expected.count, vector.name)
        }
        for (index, bytes) in expected.enumerated() where isSameFrame {
            let fragment = try XCTUnwrap(plan.packet(at: index))
            // A fragment may be compressed too, and by others.
            if try fragment.encoded() != bytes {
                XCTAssertTrue(try Frame(bytes).layout.isCompressed, "\(vector.name) #\(index)")
                XCTAssertEqual(Packet(decoding: bytes), fragment, "\(vector.name) #\(index)")
            }
            XCTAssertEqual(plan.frame(at: index)?.packet(), fragment, "\(vector.name) #\(index)")
        }
        XCTAssertNil(plan.packet(at: plan.count))
        XCTAssertNil(plan.frame(at: -1))
    }

    private func checkHeader(_ vector: VectorCase) throws {
        let payload = try vector.bytes("payload")
        let header = payload.withUnsafeBytes { FragmentHeader(payload: $0) }
        guard let expected = try vector.optionalObject("header") else {
            return XCTAssertNil(header, vector.name)
        }
        let found = try XCTUnwrap(header, vector.name)
        XCTAssertEqual(found.streamID.bytes, try expected.bytes("fragmentID"), vector.name)
        XCTAssertEqual(Int(found.index), try expected.int("index"), vector.name)
        XCTAssertEqual(Int(found.total), try expected.int("total"), vector.name)
        XCTAssertEqual(Int(found.originalType.rawValue), try expected.int("originalType"), vector.name)
        let slice = payload.withUnsafeBytes { [UInt8](FragmentHeader.slice(of: $0)) }
        XCTAssertEqual(slice, try expected.bytes("data"), vector.name)
        let packet = Packet(
            type: .fragment, timestamp: Example.time, senderID: try XCTUnwrap(PeerID(vector.bytes("senderID"))),
            recipientID: try vector.optionalBytes("recipientID").flatMap { PeerID($0) }, payload: payload)
        XCTAssertEqual(packet.isBroadcast, try expected.bool("broadcast"), vector.name)
    }

    /// The reference's assembly buffer alone: no cap but sets in flight and bytes per set, and fragments of fragments.
    private func checkReassembly(_ vector: VectorCase) throws {
        var limits = FragmentAssembler.Limits()
        limits.sets = try vector.int("maxInFlight")
        limits.setsPerSource = .max
        limits.bytesPerSource = .max
        limits.bytes = .max
        limits.refusesNestedFragments = false
        var assembler = FragmentAssembler(limits: limits)
        for (number, step) in try vector.objects("steps").enumerated() {
            let name = "\(vector.name) step \(number)"
            let packet = try XCTUnwrap(Packet(decoding: step.bytes("frame")), name)
            let open = assembler.count
            let outcome = try packet.payload.withUnsafeBytes { payload in
                let header = try XCTUnwrap(FragmentHeader(payload: payload), name)
                return assembler.add(
                    header, slice: FragmentHeader.slice(of: payload), sender: packet.senderID,
                    link: LinkID(value: 1), at: .zero)
            }
            switch try step.string("result") {
            case "stored": XCTAssertEqual(outcome, .stored(opened: try step.bool("started")), name)
            case "complete":
                let joined = try step.bytes("reassembled")
                XCTAssertEqual(outcome, .complete(joined), name)
                // A set that came and went leaves the number as it was, unless another had to make room.
                let isOpenedNow = try step.bool("started")
                if open < limits.sets { XCTAssertEqual(assembler.count, isOpenedNow ? open : open - 1, name) }
                XCTAssertEqual(Packet(decoding: joined), try step.optionalObject("innerPacket")?.packet(), name)
            case "oversized":
                let expected = FragmentAssembler.Outcome.oversized(
                    projected: Int(try step.uint64("projectedSize")), limit: Int(try step.uint64("limit")))
                XCTAssertEqual(outcome, expected, name)
                let isOpenedNow = try step.bool("started")
                if open < limits.sets { XCTAssertEqual(assembler.count, isOpenedNow ? open : open - 1, name) }
            default: XCTFail("\(name): unknown result")
            }
        }
    }
}

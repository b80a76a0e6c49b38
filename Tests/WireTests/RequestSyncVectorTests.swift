import Basics
import TestSupport
import XCTest

@testable import Wire

final class RequestSyncVectorTests: XCTestCase {
    func testSyncRequestsDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("request_sync.json").run { vector in
            switch vector.kind {
            case "encode":
                let request = try request(vector.object("request"))
                XCTAssertEqual(request.encoded(), try vector.bytes("encoded"), vector.name)
            case "accept":
                let expected = try vector.object("request")
                let request = try XCTUnwrap(RequestSync(payload: vector.bytes("payload")))
                XCTAssertEqual(request, try self.request(expected), vector.name)
                if !expected.isNull("typeNames") {
                    XCTAssertEqual(
                        request.types?.messageTypes.map { Int($0.rawValue) },
                        try expected.array("typeNames") as? [Int], vector.name)
                }
            case "reject":
                XCTAssertNil(RequestSync(payload: try vector.bytes("payload")), vector.name)
            case "types_encode":
                let types = SyncTypes(rawValue: try vector.uint64("raw"))
                XCTAssertEqual(types.wire, try vector.optionalBytes("encoded"), vector.name)
                XCTAssertEqual(types.rawValue, try vector.uint64("masked"), vector.name)
                XCTAssertEqual(
                    types.messageTypes.map { Int($0.rawValue) }, try vector.array("messageTypes") as? [Int],
                    vector.name)
            case "types_decode":
                let types = SyncTypes(wire: try vector.bytes("bytes"))
                XCTAssertEqual(types?.rawValue, try vector.optionalUInt64("value"), vector.name)
            case "fragment_filter_encode":
                let streams = try vector.bytesList("ids").compactMap { FragmentStreamID($0) }
                XCTAssertEqual(FragmentFilter.text(streams), try vector.optionalString("text"), vector.name)
            case "fragment_filter_decode":
                let ids = FragmentFilter(text: try vector.string("text"))?.ids
                let expected = vector.isNull("ids") ? nil : Set(try vector.bytesList("ids"))
                XCTAssertEqual(ids, expected, vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func request(_ vector: VectorCase) throws -> RequestSync {
        RequestSync(
            filter: GCSFilter(
                parameter: UInt8(try vector.int("p")), modulus: UInt32(try vector.uint64("m")),
                data: try vector.bytes("data")),
            types: try vector.optionalUInt64("types").map(SyncTypes.init(rawValue:)),
            since: try vector.optionalUInt64("sinceTimestamp").map(WallTime.init(milliseconds:)),
            fragmentFilterText: try vector.optionalString("fragmentIdFilter"))
    }

    func testNothingAReceiverRefusesIsEmitted() {
        let filter = GCSFilter(parameter: 7, modulus: 1, data: [])
        XCTAssertNil(RequestSync(filter: GCSFilter(parameter: 0, modulus: 1, data: [])).encoded())
        XCTAssertNil(RequestSync(filter: GCSFilter(parameter: 33, modulus: 1, data: [])).encoded())
        XCTAssertNil(RequestSync(filter: GCSFilter(parameter: 7, modulus: 0, data: [])).encoded())
        let tooLong = [UInt8](repeating: 0, count: GCSFilter.largestData + 1)
        XCTAssertNil(RequestSync(filter: GCSFilter(parameter: 7, modulus: 1, data: tooLong)).encoded())
        let text = String(repeating: "a", count: RequestSync.longestFragmentFilter + 1)
        XCTAssertNil(RequestSync(filter: filter, fragmentFilterText: text).encoded())
    }

    func testAbsentTypesAskForAnnouncesAndMessagesAndEmptyOnesForNothing() {
        let filter = GCSFilter(parameter: 7, modulus: 1, data: [])
        XCTAssertEqual(RequestSync(filter: filter).requestedTypes, [.announce, .message])
        XCTAssertEqual(RequestSync(filter: filter, types: []).requestedTypes, [])
    }

    func testOnlyTheFirstSixtyStreamsOfAFilterCount() throws {
        let streams = (0..<61).map { FragmentStreamID(value: $0) }
        let filter = try XCTUnwrap(FragmentFilter(text: streams.map(\.hex).joined(separator: ",")))
        XCTAssertTrue(filter.contains(streams[59]))
        XCTAssertFalse(filter.contains(streams[60]))
    }
}

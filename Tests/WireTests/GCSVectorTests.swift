import Basics
import TestSupport
import XCTest

@testable import Wire

final class GCSVectorTests: XCTestCase {
    func testFiltersAreBuiltAndReadAsTheReferenceDoes() throws {
        try Vectors("gcs.json").run { vector in
            switch vector.kind {
            case "build": try checkBuild(vector)
            case "membership": try checkMembership(vector)
            case "decode":
                XCTAssertEqual(try filter(vector)?.buckets() ?? [], try buckets(vector), vector.name)
            case "bucket":
                let bucket = GCSHash(try id(vector)).bucket(modulus: UInt32(try vector.uint64("m")))
                XCTAssertEqual(Int(bucket), try vector.int("bucket"), vector.name)
            case "derive_p":
                let parameter = GCSFilter.parameter(falsePositiveRate: try vector.double("targetFpr"))
                XCTAssertEqual(Int(parameter), try vector.int("p"), vector.name)
            case "max_elements":
                let capacity = GCSFilter.capacity(
                    bytes: try vector.int("sizeBytes"), parameter: UInt8(try vector.int("p")))
                XCTAssertEqual(capacity, try vector.int("max"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkBuild(_ vector: VectorCase) throws {
        let hashes = try vector.bytesList("ids").map { GCSHash(try XCTUnwrap(PacketID($0))) }
        let parameter = GCSFilter.parameter(falsePositiveRate: try vector.double("targetFpr"))
        let (filter, covered) = GCSFilter.build(
            newestFirst: hashes, budget: try vector.int("maxBytes"), parameter: parameter)
        XCTAssertEqual(Int(filter.parameter), try vector.int("p"), vector.name)
        XCTAssertEqual(UInt64(filter.modulus), try vector.uint64("m"), vector.name)
        XCTAssertEqual(filter.data, try vector.bytes("data"), vector.name)
        XCTAssertEqual(covered, try vector.int("includedCount"), vector.name)
        XCTAssertEqual(filter.buckets(), try buckets(vector), vector.name)
        let members = filter.members()
        XCTAssertTrue(hashes.prefix(covered).allSatisfy { members.contains($0) }, vector.name)
    }

    private func checkMembership(_ vector: VectorCase) throws {
        let filter = try XCTUnwrap(filter(vector))
        let members = filter.members()
        for probe in try vector.objects("probes") {
            let id = try id(probe)
            XCTAssertEqual(
                Int(GCSHash(id).bucket(modulus: filter.modulus)), try probe.int("bucket"), vector.name)
            XCTAssertEqual(members.contains(id), try probe.bool("contained"), vector.name)
        }
    }

    /// `nil` for a P that no byte holds.
    private func filter(_ vector: VectorCase) throws -> GCSFilter? {
        guard let parameter = UInt8(exactly: try vector.int("p")) else { return nil }
        return GCSFilter(
            parameter: parameter, modulus: UInt32(try vector.uint64("m")), data: try vector.bytes("data"))
    }

    private func id(_ vector: VectorCase) throws -> PacketID { try XCTUnwrap(PacketID(vector.bytes("id"))) }

    private func buckets(_ vector: VectorCase) throws -> [UInt32] {
        try vector.array("sortedValues").map { UInt32(try XCTUnwrap($0 as? NSNumber).uint64Value) }
    }

    func testLargeFiltersSortAsSmallOnesDo() {
        let hashes = (UInt64(0)..<1_000).map { GCSHash(PacketID(high: $0, low: ~$0)) }
        for parameter: UInt8 in [1, 7, 20, 32] {
            let (filter, covered) = GCSFilter.build(newestFirst: hashes, budget: 4_500, parameter: parameter)
            let expected = Set(hashes.prefix(covered).map { $0.bucket(modulus: filter.modulus) }).sorted()
            XCTAssertEqual(Array(filter.buckets().prefix(expected.count)), expected)
        }
    }

    func testABudgetTooSmallForOneMemberGivesAnEmptyFilter() {
        let (filter, covered) = GCSFilter.build(
            newestFirst: [GCSHash(PacketID(high: 1, low: 2))], budget: 1, parameter: 20)
        XCTAssertEqual(covered, 0)
        XCTAssertEqual(filter.data, [])
    }

    /// The unary run of a hostile filter ends with its bytes.
    func testALongRunOfOnesDecodesToNothing() {
        let ones = [UInt8](repeating: 0xff, count: GCSFilter.largestData)
        XCTAssertEqual(GCSFilter(parameter: 32, modulus: .max, data: ones).buckets(), [])
        XCTAssertEqual(GCSFilter(parameter: 1, modulus: .max, data: ones).buckets(), [])
    }
}

import Basics
import Crypto
import TestSupport
import Wire
import XCTest

final class CourierTagTests: XCTestCase {
    func testTagsOfEachDayAreTheReferences() throws {
        try Vectors("courier.json").run { vector in
            switch vector.kind {
            case "tag":
                let key = try XCTUnwrap(NoisePublicKey(vector.bytes("noiseStaticKey")))
                let day = UInt32(try vector.int("epochDay"))
                XCTAssertEqual(CourierTag.tag(for: key, day: day), try vector.bytes("tag"), vector.name)
            case "epoch_day":
                XCTAssertEqual(
                    CourierTag.day(unixSeconds: try wholeSeconds(vector)), UInt32(try vector.int("day")), vector.name)
            case "candidates":
                let key = try XCTUnwrap(NoisePublicKey(vector.bytes("noiseStaticKey")))
                let day = CourierTag.day(unixSeconds: try wholeSeconds(vector))
                XCTAssertEqual(
                    CourierTag.candidates(for: key, day: day), try vector.bytesList("tags"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func wholeSeconds(_ vector: VectorCase) throws -> Int64 {
        Int64(try vector.double("unixSeconds").rounded(.down))
    }

    /// Chapter 01 §17.9 and chapter 02 §13.5.
    func testTagsOfTheExamplesAreAsWritten() throws {
        let b = try Examples.b().noise.publicKey
        XCTAssertEqual(CourierTag.tag(for: b, day: 20_254), hex("015b88cdb372eb671deb12053b964f9a"))
        XCTAssertEqual(CourierEnvelope.day(at: Examples.time), 20_254)
        let other = try XCTUnwrap(
            NoisePublicKey(hex: "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20"))
        let expected = [
            "fbf79475f7f6a21929a2b1e2744bb4a7", "36eb6421183cdf3bc5d5dc7d66d4bbd1", "01985796d0ae0c2c9294be8843ec0134",
        ]
        XCTAssertEqual(CourierTag.candidates(for: other, day: 20_648), expected.map { hex($0) })
        let noon = WallTime(milliseconds: (20_648 * 86_400 + 43_200) * 1_000)
        XCTAssertEqual(CourierTag.candidates(for: other, at: noon), expected.map { hex($0) })
    }

    func testLastDayHasCandidatesToo() throws {
        let key = try Examples.b().noise.publicKey
        XCTAssertEqual(CourierTag.candidates(for: key, day: .max).count, 3)
        XCTAssertEqual(CourierTag.day(unixSeconds: .max), .max)
        XCTAssertEqual(CourierTag.day(unixSeconds: .min), 0)
    }
}

import Nostr
import TestSupport
import XCTest

final class GeohashTests: XCTestCase {
    func testCellsAndTheirNeighboursAreTheReferences() throws {
        try Vectors("geohash.json").run { vector in
            switch vector.kind {
            case "encode":
                let text = Geohash.encode(
                    latitude: try vector.double("lat"), longitude: try vector.double("lon"),
                    length: try vector.int("precision"))
                XCTAssertEqual(text, try vector.string("geohash"), vector.name)
            case "decode":
                let bounds = Geohash.bounds(of: try vector.string("geohash"))
                XCTAssertEqual(bounds.latitude.lowerBound, try vector.double("latMin"), accuracy: 1e-12, vector.name)
                XCTAssertEqual(bounds.latitude.upperBound, try vector.double("latMax"), accuracy: 1e-12, vector.name)
                XCTAssertEqual(bounds.longitude.lowerBound, try vector.double("lonMin"), accuracy: 1e-12, vector.name)
                XCTAssertEqual(bounds.longitude.upperBound, try vector.double("lonMax"), accuracy: 1e-12, vector.name)
                XCTAssertEqual(bounds.centre.latitude, try vector.double("centerLat"), accuracy: 1e-12, vector.name)
                XCTAssertEqual(bounds.centre.longitude, try vector.double("centerLon"), accuracy: 1e-12, vector.name)
            case "neighbors":
                let cell = try vector.string("geohash")
                XCTAssertEqual(Geohash.neighbours(of: cell), try vector.strings("neighbors"), vector.name)
            case "valid":
                XCTAssertEqual(Geohash.isValid(try vector.string("text")), try vector.bool("valid"), vector.name)
            case "carrier_valid":
                XCTAssertEqual(Geohash.isCanonical(try vector.string("text")), try vector.bool("valid"), vector.name)
            case "levels":
                let level = try XCTUnwrap(ChannelLevel(rawValue: vector.string("level")))
                XCTAssertEqual(level.length, try vector.int("precision"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    /// Chapter 05 §17.7.
    func testCellsOfTheExamplesAreAsWritten() {
        XCTAssertEqual(Geohash.encode(latitude: 57.64911, longitude: 10.40744, length: 11), "u4pruydqqvj")
        XCTAssertEqual(Geohash.encode(latitude: 37.7749, longitude: -122.4194, length: 8), "9q8yyk8y")
        XCTAssertEqual(Geohash.encode(latitude: 0, longitude: 0, length: 5), "s0000")
        XCTAssertEqual(Geohash.encode(latitude: -90, longitude: -180, length: 5), "00000")
        XCTAssertEqual(Geohash.encode(latitude: 90, longitude: 180, length: 5), "zzzzz")
        for text in ["u3", "u33d", "u33dc", "u33dc0", "u33dc0c", "u33dc0cp"] {
            XCTAssertEqual(Geohash.encode(latitude: 52.52, longitude: 13.405, length: text.count), text)
        }
        let bounds = Geohash.bounds(of: "u33dc0")
        XCTAssertEqual(bounds.latitude, 52.5146484375...52.5201416015625)
        XCTAssertEqual(bounds.longitude, 13.4033203125...13.414306640625)
        XCTAssertEqual(bounds.centre.latitude, 52.51739501953125)
        XCTAssertEqual(bounds.centre.longitude, 13.4088134765625)
        let neighbours = [
            "u33dc0": "u33dc1 u33dc3 u33dc2 u33d9r u33d9p u33d8z u33dbb u33dbc",
            "u4pruy": "u4pruz u4prvp u4prvn u4prvj u4pruv u4prut u4pruw u4prux",
            "zzzzzz": "bpbpbp bpbpbn zzzzzy zzzzzw zzzzzx", "8": "b c 9 3 2 r x z", "b": "c 9 8 x z",
        ]
        for (cell, expected) in neighbours {
            XCTAssertEqual(Geohash.neighbours(of: cell).joined(separator: " "), expected)
        }
    }

    func testOddNumbersStayOnTheGlobe() {
        XCTAssertEqual(Geohash.encode(latitude: .nan, longitude: .infinity, length: 2), "xb")
        XCTAssertEqual(Geohash.encode(latitude: 0, longitude: 0, length: .max).count, Geohash.maximumLength)
        XCTAssertEqual(Geohash.encode(latitude: 0, longitude: 0, length: .min), "")
        XCTAssertEqual(Geohash.neighbours(of: "not a cell"), [])
    }
}

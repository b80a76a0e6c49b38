import Basics
import Foundation
import Nostr
import TestSupport
import XCTest

final class GeoRelayDirectoryTests: XCTestCase {
    /// The reviewed directory file of the iOS app, which is not part of this repository.
    private func shipped() throws -> GeoRelayDirectory {
        try GeoRelayDirectory(csv: [UInt8](Vectors.upstream("online_relays_gps.csv")))
    }

    func testDirectoriesAreReadAndSearchedAsTheReferenceDoes() throws {
        let vectors = try Vectors("geo_relays.json")
        vectors.run { vector in
            switch vector.kind {
            case "closest": break  // testClosestRelaysOfTheShippedDirectory
            case "closest_small":
                let directory = try GeoRelayDirectory(csv: [UInt8](vector.string("csv").utf8))
                let relays = directory.closest(to: try vector.string("geohash"), count: try vector.int("count"))
                XCTAssertEqual(relays.map(\.text), try vector.strings("relays"), vector.name)
            case "parse_accept":
                let directory = try GeoRelayDirectory(csv: [UInt8](vector.string("csv").utf8))
                let entries = try vector.objects("entries")
                XCTAssertEqual(directory.entries.map(\.host), try entries.map { try $0.string("host") }, vector.name)
                XCTAssertEqual(
                    directory.entries.map(\.latitude), try entries.map { try $0.double("lat") }, vector.name)
                XCTAssertEqual(
                    directory.entries.map(\.longitude), try entries.map { try $0.double("lon") }, vector.name)
            case "parse_reject":
                let csv = [UInt8](try vector.string("csv").utf8)
                XCTAssertThrowsError(try GeoRelayDirectory(csv: csv), vector.name)
            case "retain":
                // None yet, or one that is none.
                let current = try? GeoRelayDirectory(csv: [UInt8](vector.string("currentCSV").utf8))
                let fetched = try? GeoRelayDirectory(csv: [UInt8](vector.string("newCSV").utf8))
                XCTAssertEqual(current?.entries.count ?? 0, try vector.int("currentRows"), vector.name)
                let isAccepted = fetched.map { (current ?? .empty).admitsReplacement(by: $0) } ?? false
                XCTAssertEqual(isAccepted, try vector.bool("accepted"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    func testClosestRelaysOfTheShippedDirectory() throws {
        let directory = try shipped()
        let vectors = try Vectors("geo_relays.json")
        XCTAssertEqual(directory.entries.count, vectors.top["directoryEntries"] as? Int)
        vectors.run { vector in
            guard vector.kind == "closest" else { return }
            let relays = directory.closest(to: try vector.string("geohash"), count: try vector.int("count"))
            if let count = try vector.optionalInt("relayCount") {
                XCTAssertEqual(relays.count, count, vector.name)
            } else {
                XCTAssertEqual(relays.map(\.text), try vector.strings("relays"), vector.name)
            }
        }
    }

    /// Chapter 05 §17.8.
    private static let worked = """
        relay url,latitude,longitude
        b.example.com,52.5000,13.4000
        a.example.com,52.5000,13.4000
        c.example.org:443,48.8566,2.3522
        wss://D.example.net/,51.5074,-0.1278
        e.example.net:4848,40.7128,-74.0060
        f.example.net,-33.8688,151.2093
        """

    func testRelaysAndDistancesOfTheExampleAreAsWritten() throws {
        let directory = try GeoRelayDirectory(csv: [UInt8](Self.worked.utf8))
        XCTAssertEqual(
            directory.closest(to: "u33dc0").map(\.text),
            [
                "wss://a.example.com", "wss://b.example.com", "wss://c.example.org", "wss://d.example.net",
                "wss://e.example.net:4848",
            ])
        let centre = Geohash.bounds(of: "u33dc0").centre
        let kilometres = [("a.example.com", 2.0241), ("c.example.org", 877.5861), ("d.example.net", 931.8195)]
        for (host, expected) in kilometres + [("e.example.net:4848", 6_385.3625)] {
            let entry = try XCTUnwrap(directory.entries.first { $0.host == host })
            XCTAssertEqual(
                GeoRelayDirectory.distance(from: centre, to: (entry.latitude, entry.longitude)), expected,
                accuracy: 0.00005)
        }
        XCTAssertFalse(GeoRelayDirectory.empty.admitsReplacement(by: directory), "too few for a remote file")
    }

    func testRelaysOfOnePlaceAreTakenByTheirHosts() throws {
        let csv = "relay url,lat,lon\n" + (0..<9).map { "\(9 - $0).example.com,10,10\n" }.joined()
        let directory = try GeoRelayDirectory(csv: [UInt8](csv.utf8))
        XCTAssertEqual(directory.closest(to: "s").map(\.host.first), ["1", "2", "3", "4", "5"])
        XCTAssertEqual(directory.closest(to: "s", count: -1), [])
    }

    func testAntipodesHaveADistance() {
        let distance = GeoRelayDirectory.distance(from: (0.1, 0), to: (-0.1, 180))
        XCTAssertEqual(distance, 6_371 * Double.pi, accuracy: 0.001)
    }

    func testFilesBeyondTheBoundsAreRefusedWithTheLineAtFault() {
        func error(_ text: String) -> GeoRelayDirectoryError? {
            do throws(GeoRelayDirectoryError) {
                _ = try GeoRelayDirectory(csv: [UInt8](text.utf8))
                return nil
            } catch {
                return error
            }
        }
        let header = "relay url,lat,lon\r\n"
        XCTAssertEqual(error(header + "\r\na.example.com,1,2\r\nb.example.com,1\r\n")?.line, 4)
        XCTAssertEqual(error(header + String(repeating: "a.example.com,1,2\n", count: 5_001))?.reason, .tooManyLines)
        XCTAssertNil(error(header + String(repeating: "a.example.com,1,2\n", count: 5_000)))
        XCTAssertEqual(error(header + String(repeating: " ", count: 524_288))?.reason, .size)
        XCTAssertEqual(error("\u{feff}" + header + "a.example.com,1,2")?.reason, .header)
        for number in ["0x10", "1e400", "+", ".5", "1.", "1e", "٣", "1_0", "infinity"] {
            XCTAssertEqual(error(header + "a.example.com,\(number),2")?.reason, .coordinate, number)
        }
        XCTAssertNil(error(header + "a.example.com,+1.5e-1,-2E0"))
        for address in ["wss://a.example.com//", "a.example.com?", "a.example.com#", "wss://:443", "10.0.0.1"] {
            XCTAssertEqual(error(header + "\(address),1,2")?.reason, .address, address)
        }
        XCTAssertThrowsError(try GeoRelayDirectory(csv: [0xff]))
    }

    /// Chapter 05 §14.3: a retry is as good as forced, however young the last success.
    func testAForcedFetchThatFailedIsTriedAgainAfterAMinute() {
        var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_700_000_000_000))
        var refresh = GeoRelayRefresh(lastSuccess: now.wall, at: now)
        now = now.advanced(by: .hours(2))
        XCTAssertFalse(refresh.begin(at: now))
        var delays: [Int64] = []
        XCTAssertTrue(refresh.begin(forced: true, at: now))
        for _ in 0..<3 {
            refresh.failed(at: now)
            let due = refresh.nextDeadline ?? .zero
            delays.append((due - now.monotonic).milliseconds / 1_000)
            now = now.advanced(by: due - now.monotonic)
            XCTAssertTrue(refresh.begin(at: now))
        }
        XCTAssertEqual(delays, [60, 120, 240])
        refresh.succeeded(at: now)
        XCTAssertFalse(refresh.begin(at: now.advanced(by: .hours(2))))
    }

    func testRefreshIsDailyRetriedWithBackoffAndForcedAtMostOnceAMinute() {
        var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_700_000_000_000))
        var refresh = GeoRelayRefresh(lastSuccess: nil, at: now)
        XCTAssertTrue(refresh.begin(at: now))
        XCTAssertFalse(refresh.begin(forced: true, at: now), "one at a time")
        XCTAssertNil(refresh.nextDeadline)
        var delays: [Int64] = []
        for _ in 0..<8 {
            refresh.failed(at: now)
            let due = refresh.nextDeadline ?? .zero
            delays.append((due - now.monotonic).milliseconds / 1_000)
            XCTAssertFalse(refresh.begin(at: now))
            now = now.advanced(by: due - now.monotonic)
            XCTAssertTrue(refresh.begin(at: now))
        }
        XCTAssertEqual(delays, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
        refresh.succeeded(at: now)
        XCTAssertFalse(refresh.begin(forced: true, at: now.advanced(by: .seconds(59))))
        XCTAssertFalse(refresh.begin(at: now.advanced(by: .hours(1))))
        XCTAssertTrue(refresh.begin(at: now.advanced(by: .hours(24))))
        refresh.succeeded(at: now.advanced(by: .hours(24)))
        XCTAssertTrue(refresh.begin(forced: true, at: now.advanced(by: .hours(24) + .seconds(60))))
    }
}

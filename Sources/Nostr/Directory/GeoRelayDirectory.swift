import Basics
import Clibm

/// Where relays stand on the globe, and which are closest to a place (chapter 05 §14). Every device must choose the
/// same ones, so order and ties are fixed.
public struct GeoRelayDirectory: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        /// Host, with its port unless that is 443.
        public let host: String
        public let latitude: Double
        public let longitude: Double
    }

    /// In file order.
    public let entries: [Entry]

    public static let empty = GeoRelayDirectory(entries: [])

    /// Relays used for one place.
    public static let relaysPerCell = 5

    /// The relays closest to the centre of a cell by great-circle distance, ties by host. The caller has
    /// validated the geohash: characters outside the alphabet are skipped.
    public func closest(to geohash: String, count: Int = GeoRelayDirectory.relaysPerCell) -> [NostrRelayURL] {
        guard count > 0 else { return [] }
        let centre = Geohash.bounds(of: geohash).centre
        let candidates = entries.map { entry in
            (distance: GeoRelayDirectory.distance(from: centre, to: (entry.latitude, entry.longitude)), entry: entry)
        }
        let sorted = candidates.sorted { a, b in
            a.distance != b.distance ? a.distance < b.distance : a.entry.host < b.entry.host
        }
        return sorted.prefix(count).compactMap { NostrRelayURL("wss://" + $0.entry.host) }
    }

    /// Great-circle distance in kilometres (haversine, R = 6371.0), positions in degrees.
    public static func distance(
        from a: (latitude: Double, longitude: Double), to b: (latitude: Double, longitude: Double)
    ) -> Double {
        let radians = Double.pi / 180
        let sinHalfLatitude = libm_sin((b.latitude - a.latitude) * radians / 2)
        let sinHalfLongitude = libm_sin((b.longitude - a.longitude) * radians / 2)
        let haversine =
            sinHalfLatitude * sinHalfLatitude
            + libm_cos(a.latitude * radians) * libm_cos(b.latitude * radians) * sinHalfLongitude * sinHalfLongitude
        // Rounding can carry nearly antipodal points above 1, and a NaN would break the order.
        let clamped = min(max(haversine, 0), 1)
        return 6_371.0 * 2 * libm_atan2(clamped.squareRoot(), (1 - clamped).squareRoot())
    }

    /// Least entries of a directory fetched from outside.
    public static let minimumRemoteEntries = 50

    /// Whether a directory fetched from outside may take this one's place: large enough, and at least half of this
    /// one's entries unchanged in it.
    public func admitsReplacement(by fetched: GeoRelayDirectory) -> Bool {
        guard fetched.entries.count >= GeoRelayDirectory.minimumRemoteEntries else { return false }
        let retained = Set(entries).intersection(fetched.entries).count
        return retained >= (entries.count + 1) / 2
    }
}

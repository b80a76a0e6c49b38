/// A geohash cell name: base-32 text, longitude bit first (chapter 05 §7).
public enum Geohash {
    /// Longest name anyone handles.
    public static let maximumLength = 12

    private static let alphabet = [UInt8]("0123456789bcdefghjkmnpqrstuvwxyz".utf8)

    /// A rectangle of latitudes and longitudes in degrees.
    public struct Bounds: Hashable, Sendable {
        public var latitude: ClosedRange<Double>
        public var longitude: ClosedRange<Double>

        public var centre: (latitude: Double, longitude: Double) {
            (
                (latitude.lowerBound + latitude.upperBound) / 2,
                (longitude.lowerBound + longitude.upperBound) / 2
            )
        }

        static let world = Bounds(latitude: -90...90, longitude: -180...180)
    }

    /// Whether `text` has 1–12 characters of the alphabet in either case.
    public static func isValid(_ text: String) -> Bool {
        (1...maximumLength).contains(text.utf8.count) && text.utf8.allSatisfy { digit(of: $0) != nil }
    }

    /// Whether `text` is valid and in lower case, as events and carriers must spell it.
    public static func isCanonical(_ text: String) -> Bool {
        isValid(text) && !text.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }

    /// The cell of `length` characters that holds a position, which is clamped to the globe. Empty for a length below
    /// 1; lengths above 12 give 12. A coordinate that is not a number counts as 0.
    public static func encode(latitude: Double, longitude: Double, length: Int) -> String {
        let length = min(max(0, length), maximumLength)
        let latitude = clamp(latitude, to: 90)
        let longitude = clamp(longitude, to: 180)
        var bounds = Bounds.world
        var text = [UInt8]()
        for character in 0..<length {
            var value = 0
            for bit in 0..<5 {
                let isUpper =
                    (character * 5 + bit).isMultiple(of: 2)
                    ? halve(&bounds.longitude, towards: longitude) : halve(&bounds.latitude, towards: latitude)
                value = value << 1 | (isUpper ? 1 : 0)
            }
            text.append(alphabet[value])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The cell's rectangle. Either case; characters outside the alphabet are skipped, and a name longer than 12 is
    /// read to its twelfth: callers with outside text check `isValid` first.
    public static func bounds(of text: String) -> Bounds {
        var bounds = Bounds.world
        var isLongitude = true
        for digit in text.utf8.lazy.compactMap({ digit(of: $0) }).prefix(maximumLength) {
            for bit in (0..<5).reversed() {
                let isUpper = digit >> bit & 1 == 1
                if isLongitude {
                    bounds.longitude = half(of: bounds.longitude, upper: isUpper)
                } else {
                    bounds.latitude = half(of: bounds.latitude, upper: isUpper)
                }
                isLongitude.toggle()
            }
        }
        return bounds
    }

    /// The adjoining cells in the order N, NE, E, SE, S, SW, W, NW. Those beyond a pole do not exist, so there are five
    /// to eight; the date line wraps. Empty for an invalid name.
    public static func neighbours(of text: String) -> [String] {
        guard isValid(text) else { return [] }
        let bounds = bounds(of: text)
        let centre = bounds.centre
        let height = bounds.latitude.upperBound - bounds.latitude.lowerBound
        let width = bounds.longitude.upperBound - bounds.longitude.lowerBound
        let directions: [(north: Double, east: Double)] = [
            (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1),
        ]
        return directions.compactMap { direction in
            let latitude = centre.latitude + direction.north * height
            guard abs(latitude) <= 90 else { return nil }
            var longitude = centre.longitude + direction.east * width
            if longitude > 180 { longitude -= 360 }
            if longitude < -180 { longitude += 360 }
            return encode(latitude: latitude, longitude: longitude, length: text.utf8.count)
        }
    }

    private static func digit(of character: UInt8) -> Int? {
        let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
        return alphabet.firstIndex(of: isUpper ? character | 0x20 : character)
    }

    private static func clamp(_ value: Double, to limit: Double) -> Double {
        value.isNaN ? 0 : min(max(value, -limit), limit)
    }

    private static func halve(_ range: inout ClosedRange<Double>, towards value: Double) -> Bool {
        let isUpper = value >= (range.lowerBound + range.upperBound) / 2
        range = half(of: range, upper: isUpper)
        return isUpper
    }

    private static func half(of range: ClosedRange<Double>, upper: Bool) -> ClosedRange<Double> {
        let middle = (range.lowerBound + range.upperBound) / 2
        return upper ? middle...range.upperBound : range.lowerBound...middle
    }
}

/// The location channels' levels and the length of their cells' names (chapter 05 §7).
public enum ChannelLevel: String, CaseIterable, Sendable {
    case region, province, city, neighborhood, block, building

    public var length: Int {
        switch self {
        case .region: 2
        case .province: 4
        case .city: 5
        case .neighborhood: 6
        case .block: 7
        case .building: 8
        }
    }
}

import Basics

/// The payload of a REQUEST_SYNC (chapter 01 §9.8, chapter 04 §5.2).
public struct RequestSync: Hashable, Sendable {
    /// Bytes of a fragment filter text.
    public static let longestFragmentFilter = 1_024

    /// What the requester holds.
    public var filter: GCSFilter
    /// What the filter covers and what is asked for; absent means `SyncTypes.unspecified`, empty means nothing.
    public var types: SyncTypes?
    /// The filter covers only packets with this timestamp or a later one.
    public var since: WallTime?
    /// Fragment stream IDs as text, at most `longestFragmentFilter` bytes; read it as `fragmentFilter`.
    public var fragmentFilterText: String?

    public init(
        filter: GCSFilter, types: SyncTypes? = nil, since: WallTime? = nil, fragmentFilterText: String? = nil
    ) {
        self.filter = filter
        self.types = types
        self.since = since
        self.fragmentFilterText = fragmentFilterText
    }

    public var requestedTypes: SyncTypes { types ?? .unspecified }
    /// `nil` when absent, and when no token of the text is a stream ID.
    public var fragmentFilter: FragmentFilter? { fragmentFilterText.flatMap { FragmentFilter(text: $0) } }

    private enum Field {
        static let parameter: UInt8 = 0x01
        static let modulus: UInt8 = 0x02
        static let data: UInt8 = 0x03
        static let types: UInt8 = 0x04
        static let since: UInt8 = 0x05
        static let fragmentFilter: UInt8 = 0x06
    }

    public init?(payload: [UInt8]) {
        var parameter: UInt8?
        var modulus: UInt32?
        var data: [UInt8]?
        var types: SyncTypes?
        var since: WallTime?
        var fragmentFilterText: String?
        let isWhole = TLVFormat.lenientTLV16.read(payload) { type, value in
            switch type {
            case Field.parameter: parameter = value.integer() ?? parameter
            case Field.modulus: modulus = value.integer() ?? modulus
            case Field.data:
                guard value.count <= GCSFilter.largestData else { return false }
                data = [UInt8](value)
            case Field.types: types = SyncTypes(wire: value) ?? types
            case Field.since: since = value.integer().map(WallTime.init(milliseconds:)) ?? since
            case Field.fragmentFilter where value.count <= RequestSync.longestFragmentFilter:
                fragmentFilterText = value.text ?? fragmentFilterText
            default: break
            }
            return true
        }
        guard isWhole, let parameter, GCSFilter.parameters.contains(parameter), let modulus, modulus > 0, let data
        else { return nil }
        self.init(
            filter: GCSFilter(parameter: parameter, modulus: modulus, data: data), types: types, since: since,
            fragmentFilterText: fragmentFilterText)
    }

    /// - Returns: `nil` for a filter or fragment filter no receiver would take.
    public func encoded() -> [UInt8]? {
        guard GCSFilter.parameters.contains(filter.parameter), filter.modulus > 0,
            filter.data.count <= GCSFilter.largestData,
            fragmentFilterText.map({ $0.utf8.count <= RequestSync.longestFragmentFilter }) ?? true
        else { return nil }
        var writer = TLVWriter(.lenientTLV16)
        writer.append(Field.parameter, bigEndian: filter.parameter)
        writer.append(Field.modulus, bigEndian: filter.modulus)
        writer.append(Field.data, filter.data)
        if let types = types?.wire { writer.append(Field.types, types) }
        if let since { writer.append(Field.since, bigEndian: since.milliseconds) }
        if let text = fragmentFilterText, !text.isEmpty { writer.append(Field.fragmentFilter, text.utf8) }
        return writer.encoded
    }
}

/// The fragment streams a REQUEST_SYNC names (chapter 04 §5.4).
public struct FragmentFilter: Hashable, Sendable {
    /// Streams one filter names; later ones are not looked at.
    public static let mostStreams = 60

    /// Tolerant hex also yields IDs shorter than 8 bytes. No stream has such an ID, but they keep the filter from
    /// counting as absent.
    let ids: Set<[UInt8]>

    /// Comma-separated tokens of 16 characters of tolerant hex; others are skipped. `nil` when none is left.
    public init?(text: String) {
        let tokens = text.split(separator: ",").prefix(FragmentFilter.mostStreams)
        ids = Set(tokens.filter { $0.count == 16 }.compactMap { TolerantHex.decode($0) })
        guard !ids.isEmpty else { return nil }
    }

    /// The text naming the first `mostStreams` of `streams`; `nil` when there is none.
    public static func text(_ streams: some Sequence<FragmentStreamID>) -> String? {
        let text = streams.prefix(mostStreams).map(\.hex).joined(separator: ",")
        return text.isEmpty ? nil : text
    }

    public func contains(_ stream: FragmentStreamID) -> Bool { ids.contains(stream.bytes) }
}

/// What could be read of a file with mistakes, each setting by itself; the rest is at its default. A box that cannot
/// start so still finds its state, its lamps and its button. Nothing else is to be done by it.
public struct SalvagedConfiguration: Equatable, Sendable {
    /// Without a button where it is not certain how that is wired: a level taken for its opposite makes a hold of the
    /// time between two taps.
    public let configuration: Configuration
    /// Keys whose values were not understood, and names of keys and sections that are not known.
    let unread: Set<String>
    /// Keys that tell where a wipe has to reach, and may have said something else than what is taken for them.
    let unknownPlaces: [String]

    /// Whether it is known which controllers are ours.
    var isRadioKnown: Bool { unknownPlaces.isEmpty && !unread.contains { $0.contains("radio") } }

    /// A configuration without mistakes.
    public init(whole configuration: Configuration) { self.init(configuration, unknownPlaces: []) }

    private init(_ configuration: Configuration, unknownPlaces: [String]) {
        self.configuration = configuration
        unread = []
        self.unknownPlaces = unknownPlaces
    }

    public init(from path: String) {
        if let bytes = try? Configuration.bytes(of: path) {
            self.init(parsing: bytes)
        } else {
            self.init(Configuration(), unknownPlaces: SalvagedConfiguration.places)
        }
    }

    init(parsing bytes: [UInt8]) {
        let document = try? TomlDocument(parsing: bytes)
        let lines = document.map { TomlLines(entries: $0.entries) } ?? TomlLines(bytes)
        var reader = ConfigurationReader(file: "")
        for entry in lines.entries { reader.read(entry) }
        let known = Set(ConfigurationTable.settings.map(\.key))
        let unknown = Set(lines.entries.map(\.key)).subtracting(known)
            .subtracting(ConfigurationTable.sections.map(\.name))
        let unread = lines.unread.union(reader.problems.compactMap(\.key)).union(unknown)
        func isInDoubt(_ key: String) -> Bool {
            unread.contains(key)
                || unread.subtracting(known).contains { SalvagedConfiguration.mayMean($0, key) }
        }

        var configuration = reader.configuration
        let button = known.filter { $0.hasPrefix("panel.button") }.union(["panel.wiring", "panel.debounce_ms"])
        if !lines.isCertain || button.contains(where: isInDoubt) || configuration.panel.sharesButton {
            configuration.panel.button = PanelLineChoice.none
        }
        self.configuration = configuration
        self.unread = unread
        let written = Set(lines.entries.map(\.key)).subtracting(unread)
        unknownPlaces = SalvagedConfiguration.places.filter { !written.contains($0) && isInDoubt($0) }
    }

    private static let places = ["state_directory", "panic.marker_directory", "panic.helper"]

    /// Whether a name nobody knows may have been meant for this key: it is like it, begins like it, or stands in its
    /// section or in one that is called nearly so.
    private static func mayMean(_ unknown: String, _ key: String) -> Bool {
        let unknown = unknown.lowercased()
        let parts = unknown.split(separator: ".")
        let own = key.split(separator: ".")
        guard let name = parts.last, let ownName = own.last else { return false }
        if name.hasPrefix(ownName.prefix { $0 != "_" }) || NearestKey.find(unknown, in: [key]) != nil { return true }
        guard own.count > 1 else { return false }
        return NearestKey.find(String(parts[0]), in: [String(own[0])]) != nil
    }
}

extension Configuration.Panel {
    /// Whether the button's line is a lamp's as well.
    fileprivate var sharesButton: Bool {
        guard let button = lines.last, button.key == "panel.button" else { return false }
        return lines.dropLast().contains { $0.address == button.address }
    }
}

/// The entries of a text that is no TOML: of each line that is by itself, below the section before it.
private struct TomlLines {
    private(set) var entries: [TomlEntry] = []
    /// What the other lines would set, as far as that can be told, and what is set twice.
    private(set) var unread: Set<String> = []
    /// Whether each of the other lines ends where it ends: none may have begun something that goes on below it, or
    /// leave open whose the lines below are.
    private(set) var isCertain = true

    /// Of a text that is TOML.
    init(entries: [TomlEntry]) { self.entries = entries }

    init(_ bytes: [UInt8]) {
        var section: [UInt8]? = []
        var seen: Set<String> = []
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = line.drop { $0 == 0x20 || $0 == 0x09 }
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            if first == UInt8(ascii: "[") {
                let isWhole = line.dropFirst().first != first && line.contains(UInt8(ascii: "]"))
                if !isWhole { isCertain = false }
                section = prefix(ofSection: line)
                continue
            }
            guard let section else {
                if (try? TomlDocument(parsing: Array(line))) == nil, TomlLines.mayGoOn(line) { isCertain = false }
                unread.insert(TomlLines.text(TomlLines.name(in: line)))
                continue
            }
            guard let document = try? TomlDocument(parsing: section + line) else {
                if TomlLines.mayGoOn(line) { isCertain = false }
                unread.insert(TomlLines.text(section + TomlLines.name(in: line)))
                continue
            }
            entries += document.entries
            for entry in document.entries where entry.value != .table && !seen.insert(entry.key).inserted {
                unread.insert(entry.key)
            }
        }
    }

    /// The prefix of a known section's keys; nil for another's, whose keys are not to be taken for this one's.
    private mutating func prefix(ofSection line: ArraySlice<UInt8>) -> [UInt8]? {
        let name = TomlLines.bare(line.dropFirst().prefix { $0 != UInt8(ascii: "]") })
        if ConfigurationTable.sections.contains(where: { $0.name == TomlLines.text(name) }) {
            return name + [UInt8(ascii: ".")]
        }
        unread.insert(TomlLines.text(name))
        return nil
    }

    /// Arrays, tables and some texts go over several lines.
    private static func mayGoOn(_ line: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: line, as: UTF8.self)
        return text.contains("[") || text.contains("{") || text.contains("\"\"\"") || text.contains("'''")
    }

    private static func name(in line: ArraySlice<UInt8>) -> [UInt8] {
        let left = line.prefix { $0 != UInt8(ascii: "=") }
        return bare(left.count < line.count ? left : line.prefix { $0 != 0x20 && $0 != 0x09 })
    }

    /// A key without its quotes and the space around it.
    private static func bare(_ key: ArraySlice<UInt8>) -> [UInt8] {
        key.filter { ![0x20, 0x09, 0x22, 0x27].contains($0) }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

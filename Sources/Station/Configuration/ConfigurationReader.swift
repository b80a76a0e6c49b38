/// One mistake in a configuration file.
public struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public let file: String
    public let place: TextPlace
    /// `nil` when the file is not TOML.
    public let key: String?
    public let message: String

    /// `FILE:LINE:COLUMN: KEY: MESSAGE`, safe for a terminal.
    public var description: String {
        let place = "\(TerminalText.escape(file)):\(place.line):\(place.column): "
        return place + (key.map { TerminalText.escape($0) + ": " } ?? "") + message
    }
}

/// All mistakes of a configuration file, in file order.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    public let problems: [ConfigurationProblem]
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension Configuration {
    /// Largest configuration file read.
    public static let sizeLimit = 65_536

    /// Reads the text of a configuration file; keys it does not set keep their defaults.
    /// - Parameter file: its name, for messages.
    public init(parsing bytes: [UInt8], file: String) throws(ConfigurationError) {
        let document: TomlDocument
        do {
            document = try TomlDocument(parsing: bytes)
        } catch {
            throw ConfigurationError(problems: [
                ConfigurationProblem(
                    file: file, place: error.place, key: nil, message: TerminalText.escape(error.message))
            ])
        }
        var reader = ConfigurationReader(file: file)
        for entry in document.entries { reader.read(entry) }
        reader.checkTogether(document)
        guard reader.problems.isEmpty else {
            throw ConfigurationError(problems: reader.problems.sorted { $0.place < $1.place })
        }
        self = reader.configuration
    }
}

struct ConfigurationReader {
    let file: String
    let settings = ConfigurationTable.settings
    var configuration = Configuration()
    var problems: [ConfigurationProblem] = []
    private var unknownSections: [String] = []

    init(file: String) { self.file = file }

    mutating func read(_ entry: TomlEntry) {
        guard !unknownSections.contains(where: { entry.key.hasPrefix($0 + ".") }) else { return }
        if let setting = settings.first(where: { $0.key == entry.key }) {
            do {
                try setting.apply(entry, &configuration)
            } catch {
                report(entry.key, error.message, at: error.place)
            }
        } else if ConfigurationTable.sections.contains(where: { $0.name == entry.key }) {
            guard entry.value != .table else { return }
            report(entry.key, "is a section: write [\(entry.key)] on a line of its own", at: entry.keyPlace)
        } else {
            reportUnknown(entry)
        }
    }

    private mutating func reportUnknown(_ entry: TomlEntry) {
        let isSection = entry.value == .table
        if isSection { unknownSections.append(entry.key) }
        let known = isSection ? ConfigurationTable.sections.map(\.name) : settings.map(\.key)
        let hint = NearestKey.find(entry.key, in: known).map { "; did you mean \($0)?" }
        report(
            entry.key,
            "there is no such \(isSection ? "section" : "key")" + (hint ?? "; bitgate config defaults lists all"),
            at: entry.keyPlace)
    }

    /// Rules that concern more than one key.
    mutating func checkTogether(_ document: TomlDocument) {
        func place(_ key: String) -> TextPlace? { document.entries.first { $0.key == key }?.keyPlace }
        let latitude = place("location.latitude")
        let longitude = place("location.longitude")
        if place("location.cell") != nil {
            for (key, place) in [("location.latitude", latitude), ("location.longitude", longitude)] {
                guard let place else { continue }
                report(key, "must not stand beside location.cell: give one of them", at: place)
            }
        } else if let latitude, longitude == nil {
            report("location.latitude", "needs location.longitude", at: latitude)
        } else if let longitude, latitude == nil {
            report("location.longitude", "needs location.latitude", at: longitude)
        }
        let lines = configuration.panel.lines
        for (index, line) in lines.enumerated() {
            guard let other = lines[..<index].first(where: { $0.address == line.address }) else { continue }
            let key = place(line.key) == nil ? other.key : line.key
            report(
                key, "names \(line.address), which is the line of \(key == line.key ? other.key : line.key) already",
                at: place(key) ?? .start)
        }
        if let own = configuration.location.cell, configuration.bridge.extraCells.contains(own) {
            report(
                "bridge.extra_cells", "must not list location.cell itself", at: place("bridge.extra_cells") ?? .start)
        }
    }

    private mutating func report(_ key: String, _ message: String, at place: TextPlace) {
        problems.append(ConfigurationProblem(file: file, place: place, key: key, message: message))
    }
}

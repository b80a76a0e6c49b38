extension Configuration {
    /// What can be read of a file with mistakes, each setting by itself; the rest is at its default. A box that cannot
    /// start so still finds its state, its lamps and its button. Nothing else is to be done by it.
    public static func salvaged(from path: String) -> Configuration {
        (try? bytes(of: path)).map { salvaged(parsing: $0) } ?? Configuration()
    }

    static func salvaged(parsing bytes: [UInt8]) -> Configuration {
        var reader = ConfigurationReader(file: "")
        if let document = try? TomlDocument(parsing: bytes) {
            for entry in document.entries { reader.read(entry) }
        } else {
            for entry in lines(of: bytes) { reader.read(entry) }
        }
        return reader.configuration
    }

    /// The entries of a text that is no TOML: of each line that is by itself, below the section before it.
    private static func lines(of bytes: [UInt8]) -> [TomlEntry] {
        var entries: [TomlEntry] = []
        var section: [UInt8]? = []
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = line.drop { $0 == 0x20 || $0 == 0x09 }
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            if first == UInt8(ascii: "[") {
                section = name(ofSection: line)
            } else if let section, let document = try? TomlDocument(parsing: section + line) {
                entries += document.entries
            }
        }
        return entries
    }

    /// The prefix of a known section's keys; nil for another's, whose keys are not to be taken for this one's.
    private static func name(ofSection line: ArraySlice<UInt8>) -> [UInt8]? {
        let name = line.dropFirst().prefix { $0 != UInt8(ascii: "]") }.filter { $0 != 0x20 && $0 != 0x09 }
        let text = String(decoding: name, as: UTF8.self)
        return ConfigurationTable.sections.contains { $0.name == text } ? name + [UInt8(ascii: ".")] : nil
    }
}

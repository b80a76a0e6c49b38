/// Why a file is not TOML.
struct TomlSyntaxError: Error, Equatable {
    let message: String
    let place: TextPlace

    init(message: String, place: TextPlace) {
        self.message = message
        self.place = place
    }

    /// The library's message without its preamble, and in plainer words where it explains the parser instead of the
    /// mistake.
    init(library message: String, at place: TextPlace, in bytes: [UInt8]) {
        var text = message[...]
        if text.hasPrefix("Error while parsing "), let colon = text.firstIndex(of: ":") {
            text = text[colon...].dropFirst(2)
        }
        if text.hasPrefix("cannot redefine existing"), let name = TomlSyntaxError.lastQuoted(in: text) {
            self.init(message: "\(name) stands here for the second time", place: place)
        } else if text.hasPrefix("unescaped control characters"), TomlSyntaxError.isLineEnd(place, in: bytes) {
            self.init(message: "not TOML: a text must end on the line it begins on", place: place)
        } else if text.hasSuffix("'\\n'") {
            self.init(message: "not TOML: \(text.dropLast(4))the end of the line", place: place)
        } else {
            self.init(message: "not TOML: \(text)", place: place)
        }
    }

    private static func lastQuoted(in text: Substring) -> Substring? {
        guard let end = text.lastIndex(of: "'"), let start = text[..<end].lastIndex(of: "'") else { return nil }
        return text[start..<end].dropFirst()
    }

    private static func isLineEnd(_ place: TextPlace, in bytes: [UInt8]) -> Bool {
        let lines = bytes.split(separator: 0x0a, maxSplits: place.line, omittingEmptySubsequences: false)
        guard lines.indices.contains(place.line - 1) else { return false }
        return place.column > String(decoding: lines[place.line - 1], as: UTF8.self).unicodeScalars.count
    }
}

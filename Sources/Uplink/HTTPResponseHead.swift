import Basics

/// The header of an HTTP/1 response, without its closing blank line (RFC 9112).
struct HTTPResponseHead {
    let status: Int
    let isVersion11: Bool
    private var fields: [(name: String, value: String)] = []

    init?(_ header: ArraySlice<UInt8>) {
        var lines: [ArraySlice<UInt8>] = []
        var rest = header
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
            guard end + 1 < rest.endIndex, rest[end + 1] == UInt8(ascii: "\n") else { return nil }
            lines.append(rest[rest.startIndex..<end])
            rest = rest[(end + 2)...]
        }
        lines.append(rest)
        guard lines.count <= UplinkLimits.headerFields + 1,
            lines.allSatisfy({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") } })
        else { return nil }
        let texts = lines.map { String(decoding: $0, as: UTF8.self) }
        let words = texts[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, ["HTTP/1.1", "HTTP/1.0"].contains(words[0]), words[1].utf8.count == 3,
            words[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let status = Int(words[1])
        else { return nil }
        self.status = status
        isVersion11 = words[0] == "HTTP/1.1"
        for line in texts.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                line[..<colon].utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else { return nil }
            fields.append((line[..<colon].lowercased(), HTTPResponseHead.trimmed(line[line.index(after: colon)...])))
        }
    }

    /// When the server sent this, by its own clock; nil unless it said so once and in the proper form.
    var date: WallTime? {
        let dates = values("date")
        return dates.count == 1 ? HTTPDate.parse(dates[0]) : nil
    }

    /// Every value of a field, in order. Names are given in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The comma-separated tokens of a field, in lower case.
    func tokens(_ name: String) -> [String] {
        values(name).flatMap { $0.split(separator: ",").map { HTTPResponseHead.trimmed($0).lowercased() } }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(text[first...last])
    }
}

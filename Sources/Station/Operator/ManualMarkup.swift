/// Turns the programs' help texts and the documented configuration into manual pages (man(7)), so that each thing is
/// said in one place.
public enum ManualMarkup {
    /// The first lines of a page: its title and what it is about.
    public static func head(_ name: String, section: Int, _ summary: String) -> String {
        """
        .TH "\(name.uppercased())" "\(section)" "" "bitgate \(Version.text)" "bitgate"
        .SH NAME
        \(escape(name)) \\- \(escape(summary))

        """
    }

    public static func section(_ title: String, _ body: String) -> String { ".SH \(escape(title))\n\(body)" }

    /// A help text: usage lines, paragraphs, and lists whose entries are indented by two spaces, their text set off by
    /// two spaces or more, or on the next line.
    public static func help(_ text: String) -> String {
        var page = ""
        var block = Block.none
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.drop { $0 == " " }
            let indent = line.count - words.count
            if words.isEmpty {
                if block == .usage { page += ".fi\n" }
                block = .none
            } else if block == .usage {
                page += bold(words)
            } else if line.hasPrefix("usage: ") {
                page += ".PP\n.nf\n" + bold(line.dropFirst("usage: ".count))
                block = .usage
            } else if indent == 2 {
                let entry = split(words)
                page += ".TP\n" + bold(entry.term) + (entry.text.isEmpty ? "" : escape(entry.text) + "\n")
                block = .list
            } else {
                if block == .none { page += ".PP\n" }
                if block == .none || indent == 0 { block = .paragraph }
                page += escape(words) + "\n"
            }
        }
        return page + (block == .usage ? ".fi\n" : "")
    }

    /// The commented default file: comments above "# key = value" lines, and above "[section]" lines.
    public static func configuration(_ text: String) -> String {
        var page = ""
        var comment = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                if !comment.isEmpty { page += ".PP\n" + comment }
                comment = ""
            } else if line.hasPrefix("[") {
                page += ".SS \(escape(line))\n" + comment
                comment = ""
            } else if line.hasPrefix("# "), isAssignment(line.dropFirst(2)) {
                page += ".TP\n" + bold(line.dropFirst(2)) + comment
                comment = ""
            } else {
                comment += escape(line.drop { $0 == "#" || $0 == " " }) + "\n"
            }
        }
        return page + comment
    }

    private enum Block { case none, usage, list, paragraph }

    private static func isAssignment(_ line: Substring) -> Bool {
        let key = line.prefix { $0.isASCII && $0.isLowercase || $0 == "_" || $0.isNumber }
        return !key.isEmpty && line.dropFirst(key.count).hasPrefix(" = ")
    }

    /// An entry's term, and what follows two spaces.
    private static func split(_ line: Substring) -> (term: Substring, text: Substring) {
        var end = line.startIndex
        while end < line.endIndex {
            let rest = line[end...]
            if rest.hasPrefix("  ") { return (line[..<end], rest.drop { $0 == " " }) }
            end = line.index(after: end)
        }
        return (line, "")
    }

    private static func bold(_ text: some StringProtocol) -> String { "\\fB\(escape(text))\\fR\n" }

    /// Backslashes and hyphens as themselves; a dot or an apostrophe at the start of a line is no request.
    private static func escape(_ text: some StringProtocol) -> String {
        let plain = text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            default: result.append(character)
            }
        }
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}

/// The picture of the patterns: a row for each, with what the lamp does over ten seconds, and a lamp that does it where
/// pictures may move.
public enum PanelPicture {
    /// Pixels.
    private enum Size {
        static let row = 34
        static let name = 40
        static let line = 190
        static let second = 56
        static let shown = 10
        static let top = 34
        static var width: Int { line + shown * second + 20 }
    }

    public static var svg: String {
        let signs = PanelTable.signs
        let height = Size.top + signs.count * Size.row + 12
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Size.width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(Size.width) \(height)\" font-family=\"sans-serif\" font-size=\"13\">",
            "<title>What the lamps of a bitgate say</title>",
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
        ]
        for second in 0...Size.shown {
            let x = Size.line + second * Size.second
            lines.append(
                "<text x=\"\(x)\" y=\"16\" text-anchor=\"middle\" fill=\"#666666\">\(second)"
                    + (second == Size.shown ? " s" : "") + "</text>")
            lines.append(
                "<line x1=\"\(x)\" y1=\"22\" x2=\"\(x)\" y2=\"\(height - 8)\" stroke=\"#dddddd\"/>")
        }
        for (index, sign) in signs.enumerated() { lines += row(sign, top: Size.top + index * Size.row) }
        return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private static func row(_ sign: PanelSign, top: Int) -> [String] {
        let middle = top + Size.row / 2 - 4
        return [
            "<g>", "<title>\(sign.meaning)</title>",
            "<circle cx=\"20\" cy=\"\(middle)\" r=\"8\" fill=\"#222222\"/>", lamp(sign.pattern, at: middle),
            "<text x=\"\(Size.name)\" y=\"\(middle + 5)\">\(sign.rawValue)</text>",
        ] + bars(sign.pattern, top: middle - 8) + ["</g>"]
    }

    /// Lit in the pattern's own time.
    private static func lamp(_ pattern: LampPattern, at y: Int) -> String {
        let circle = "<circle cx=\"20\" cy=\"\(y)\" r=\"7\" fill=\"#ffb000\""
        guard !pattern.isSteady else { return circle + (pattern.spans.isEmpty ? " opacity=\"0\"" : "") + "/>" }
        var values: [String] = []
        var times: [String] = []
        var elapsed = 0
        for (index, span) in pattern.spans.enumerated() {
            values.append(index.isMultiple(of: 2) ? "1" : "0")
            times.append(fraction(elapsed, of: pattern.period))
            elapsed += span
        }
        return circle + "><animate attributeName=\"opacity\" calcMode=\"discrete\" values=\""
            + values.joined(separator: ";") + "\" keyTimes=\"" + times.joined(separator: ";")
            + "\" dur=\"\(pattern.period)ms\" repeatCount=\"indefinite\"/></circle>"
    }

    private static func bars(_ pattern: LampPattern, top: Int) -> [String] {
        let end = Int64(Size.shown * 1_000)
        var bars: [String] = []
        var at: Int64 = 0
        while at < end {
            let next = min(end, pattern.nextChange(after: at) ?? end)
            if pattern.isLit(at: at) {
                let x = Size.line * 1_000 + Int(at) * Size.second
                bars.append(
                    "<rect x=\"\(LampPattern.seconds(x))\" y=\"\(top)\" "
                        + "width=\"\(LampPattern.seconds(Int(next - at) * Size.second))\" height=\"16\" "
                        + "fill=\"#ffb000\"/>")
            }
            at = next
        }
        return bars
    }

    /// To the fourth place.
    private static func fraction(_ part: Int, of whole: Int) -> String {
        let digits = String(part * 10_000 / whole + 10_000)
        return part == 0 ? "0" : "0." + digits.dropFirst()
    }
}

/// SVG, element by element. Numbers are rounded to tenths, which is finer than anybody sees.
struct Drawing {
    private var lines: [String]

    init(width: Double, height: Double) {
        lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" "
                + "font-family=\"Helvetica, Arial, sans-serif\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        ]
    }

    var svg: String { (lines + ["</svg>\n"]).joined(separator: "\n") }

    mutating func open(_ element: String) { lines.append("<\(element)>") }
    mutating func close(_ element: String) { lines.append("</\(element)>") }
    mutating func title(_ words: String) { lines.append("<title>\(Drawing.escaped(words))</title>") }

    mutating func line(_ a: Place, _ b: Place, colour: String, width: Double, dashes: Bool = false) {
        lines.append(
            "<line x1=\"\(tenths(a.x))\" y1=\"\(tenths(a.y))\" x2=\"\(tenths(b.x))\" y2=\"\(tenths(b.y))\" "
                + "stroke=\"\(colour)\" stroke-width=\"\(tenths(width))\"" + (dashes ? " stroke-dasharray=\"5 4\"" : "")
                + "/>")
    }

    mutating func circle(_ centre: Place, radius: Double, fill: String, stroke: String) {
        lines.append(
            "<circle cx=\"\(tenths(centre.x))\" cy=\"\(tenths(centre.y))\" r=\"\(tenths(radius))\" fill=\"\(fill)\" "
                + "stroke=\"\(stroke)\" stroke-width=\"1.5\"/>")
    }

    mutating func rectangle(
        x: Double, y: Double, width: Double, height: Double, fill: String, stroke: String, radius: Double
    ) {
        lines.append(
            "<rect x=\"\(tenths(x))\" y=\"\(tenths(y))\" width=\"\(tenths(width))\" height=\"\(tenths(height))\" "
                + "rx=\"\(tenths(radius))\" fill=\"\(fill)\" stroke=\"\(stroke)\" stroke-width=\"1.5\"/>")
    }

    mutating func text(
        _ words: String, x: Double, y: Double, size: Int, colour: String, isBold: Bool = false, anchor: String = "start"
    ) {
        lines.append(
            "<text x=\"\(tenths(x))\" y=\"\(tenths(y))\" font-size=\"\(size)\" fill=\"\(colour)\" "
                + "text-anchor=\"\(anchor)\"" + (isBold ? " font-weight=\"bold\"" : "")
                + ">\(Drawing.escaped(words))</text>")
    }

    private func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    private static func escaped(_ words: String) -> String {
        words.reduce(into: "") { text, character in
            switch character {
            case "<": text += "&lt;"
            case "&": text += "&amp;"
            default: text.append(character)
            }
        }
    }
}

import Cqrencode

/// A QR code drawn with half blocks, black on white whatever the terminal's colours are.
enum QRCode {
    /// Modules of white around it. Four are standard; two are enough for phones and leave room on 80 columns.
    private static let margin = 2
    private static let white = "\u{1B}[30;107m"
    private static let reset = "\u{1B}[0m"

    /// `nil` for a text no code holds, and when a row would need more than `columns`.
    static func drawing(of text: String, columns: Int) -> String? {
        let bytes = Array(text.utf8)
        guard let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard width > 0, let data = code.pointee.data, width + 2 * margin <= columns else { return nil }
        let modules = UnsafeBufferPointer(start: data, count: width * width)
        func isBlack(_ row: Int, _ column: Int) -> Bool {
            (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column] & 1 == 1
        }
        var lines: [String] = []
        for row in stride(from: -margin, to: width + margin, by: 2) {
            var line = white
            for column in -margin..<width + margin {
                switch (isBlack(row, column), isBlack(row + 1, column)) {
                case (false, false): line += " "
                case (true, false): line += "▀"
                case (false, true): line += "▄"
                case (true, true): line += "█"
                }
            }
            lines.append(line + reset)
        }
        return lines.joined(separator: "\n")
    }
}

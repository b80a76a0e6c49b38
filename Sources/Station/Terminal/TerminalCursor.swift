/// Where a terminal's cursor stands after a text, as a line editor has printed it.
public enum TerminalCursor {
    /// Rows below the one the text began in, at its left edge.
    /// - Parameters:
    ///   - columns: The terminal's width, at least 1.
    ///   - width: Columns of a printable character; negative for one that cannot be shown.
    public static func row(
        after text: some StringProtocol, columns: Int, width: (Unicode.Scalar) -> Int
    ) -> Int {
        let columns = max(1, columns)
        var row = 0
        var column = 0
        for scalar in text.unicodeScalars {
            let cells = cells(of: scalar, at: column, width)
            column += cells
            // A character that does not fit begins the next row; a full row ends at once.
            if column > columns {
                row += 1
                column = min(cells, columns)
            }
            if column == columns {
                row += 1
                column = 0
            }
        }
        return row
    }

    /// As libedit shows them: controls as `^A`, what cannot be shown as `\U+200D`.
    private static func cells(of scalar: Unicode.Scalar, at column: Int, _ width: (Unicode.Scalar) -> Int) -> Int {
        if scalar == "\t" { return 8 - column % 8 }
        if scalar.value < 0x20 || scalar.value == 0x7f { return 2 }
        let cells = width(scalar)
        return cells >= 0 ? cells : scalar.value > 0xffff ? 8 : 7
    }
}

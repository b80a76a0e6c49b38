import Basics

/// Spans for people.
public enum ClockText {
    /// `h:mm:ss.mmm`
    public static func text(_ span: Interval) -> String {
        let milliseconds = span.milliseconds
        let seconds = milliseconds / 1_000
        return "\(seconds / 3_600):\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2)).\(pad(milliseconds % 1_000, 3))"
    }

    static func pad(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

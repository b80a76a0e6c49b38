import Basics
import Uplink

/// Moments as people write them for machines (RFC 3339).
public enum TimeText {
    /// `2026-05-01T13:45:07Z`
    public static func text(_ time: WallTime) -> String {
        let date = CivilDate(time)
        let clock = [date.second / 3_600, date.second / 60 % 60, date.second % 60].map { padded($0, 2) }
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
            + clock.joined(separator: ":") + "Z"
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Reads `2026-05-01T13:45:07Z`, with `+02:00` in place of `Z` or a space in place of `T`. A time without its zone
    /// is none: people mean the local one, and machines do not.
    public static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= bytes.count, bytes[range].allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        func has(_ character: Character, at index: Int) -> Bool {
            index < bytes.count && bytes[index] == character.asciiValue
        }
        guard has("-", at: 4), has("-", at: 7), has("T", at: 10) || has(" ", at: 10), has(":", at: 13),
            has(":", at: 16), let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let date = CivilDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        if bytes.count == 20, has("Z", at: 19) { return date.wallTime }
        guard bytes.count == 25, has("+", at: 19) || has("-", at: 19), has(":", at: 22), let hours = number(20..<22),
            let minutes = number(23..<25), hours < 24, minutes < 60
        else { return nil }
        let ahead = Int64(hours * 60 + minutes) * 60_000 * (has("+", at: 19) ? 1 : -1)
        let utc = Int64(date.wallTime.milliseconds) - ahead
        return utc >= 0 ? WallTime(milliseconds: UInt64(utc)) : nil
    }
}

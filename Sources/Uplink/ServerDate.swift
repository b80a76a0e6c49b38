import Basics

/// What a server says the time is, in the `Date` field of its answer (RFC 9110 §6.6.1): a source for the clock, to be
/// trusted no more than the server.
public struct ServerDate: Equatable, Sendable {
    /// Whole seconds, so up to a second before the server's clock.
    public let date: WallTime
    /// The server wrote its date between these two.
    public let asked: Instant
    public let answered: Instant

    public init(date: WallTime, asked: Instant, answered: Instant) {
        self.date = date
        self.asked = asked
        self.answered = answered
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form servers may still send (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func parse(_ text: String) -> WallTime? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count == 29, parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","),
            days.contains(String(parts[0].dropLast())), parts[5] == "GMT", let day = number(parts[1], digits: 2),
            let month = months.firstIndex(of: String(parts[2])), let year = number(parts[3], digits: 4)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], digits: 2), let minute = number(clock[1], digits: 2),
            let second = number(clock[2], digits: 2)
        else { return nil }
        return CivilDate(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)?.wallTime
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}

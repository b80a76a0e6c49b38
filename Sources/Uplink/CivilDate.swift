import Basics

/// A moment by the Gregorian calendar, in UTC.
public struct CivilDate: Equatable {
    public let year: Int
    public let month: Int
    public let day: Int
    /// Of the day.
    public let second: Int

    /// `nil` for what is no date, or lies before 1970 or after 9999. A leap second counts as the second before it.
    public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (1_970...9_999).contains(year), (1...12).contains(month), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second),
            (1...CivilDate.days(in: month, of: year)).contains(day)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.second = hour * 3_600 + minute * 60 + min(second, 59)
    }

    /// Times after the year 9999 count as its end.
    public init(_ time: WallTime) {
        let seconds = Int(min(time.milliseconds / 1_000, 253_402_300_799))
        second = seconds % 86_400
        // Years from March on put the leap day last; 400 of them have 146,097 days, and 1970-01-01 is day 719,468.
        let days = seconds / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    public var wallTime: WallTime {
        let shifted = (month + 9) % 12
        let years = month <= 2 ? year - 1 : year
        let days = years * 365 + years / 4 - years / 100 + years / 400 + (shifted * 153 + 2) / 5 + day - 1 - 719_468
        return WallTime(milliseconds: UInt64(days * 86_400 + second) * 1_000)
    }

    /// `2026-05-01 13:45 UTC`
    var minuteText: String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day)) \(two(second / 3_600)):\(two(second / 60 % 60)) UTC"
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

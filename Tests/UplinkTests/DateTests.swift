import Basics
import XCTest

@testable import Uplink

final class DateTests: XCTestCase {
    func testDatesOfTheHeaderFieldAreReadInTheirOneForm() {
        let cases: [(String, UInt64)] = [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Wed, 31 Dec 2025 12:00:00 GMT", 1_767_182_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
        ]
        for (text, seconds) in cases {
            XCTAssertEqual(HTTPDate.parse(text), WallTime(milliseconds: seconds * 1_000), text)
        }
    }

    func testOtherFormsAndImpossibleDatesAreNoDates() {
        for text in [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37", "Sun,  6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 29 Feb 2100 08:00:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:+7 GMT", "Sun, 06 Nov ٣٩٩٤ 08:49:37 GMT",
        ] {
            XCTAssertNil(HTTPDate.parse(text), text)
        }
    }

    func testCalendarAndSecondsAgreeOnEveryDay() {
        var day: UInt64 = 0
        while day < 253_402_300_800 {
            let time = WallTime(milliseconds: (day + 45_296) * 1_000)
            XCTAssertEqual(CivilDate(time).wallTime, time)
            day += 86_400 * 13
        }
        XCTAssertEqual(CivilDate(WallTime(milliseconds: 1_709_210_096_000)).minuteText, "2024-02-29 12:34 UTC")
        XCTAssertEqual(CivilDate(WallTime(milliseconds: .max)).minuteText, "9999-12-31 23:59 UTC")
    }
}

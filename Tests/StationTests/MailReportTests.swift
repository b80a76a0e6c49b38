import Foundation
import XCTest

@testable import Station

final class MailReportTests: XCTestCase {
    private var report: MailReport {
        MailReport(
            enabled: true, working: true, usingRelays: true,
            tiers: [
                .init(name: "trusted", carried: 0, limit: 200, oldestHours: nil),
                .init(name: "verified", carried: 3, limit: 160, oldestHours: 2),
            ], atRelays: 2, publishing: 1, undelivered: 4, watched: 5, subscriptions: 1,
            outcomes: ["deposited": 9, "depositor_quota": 2, "handed_over": 6, "lapsed": 0])
    }

    func testMailIsReadableByPeopleAndNamesNobody() {
        XCTAssertEqual(
            OperatorText.mail(report),
            """
            on, with relays

            FROM      LETTERS  LIMIT  OLDEST
            trusted   0        200    -
            verified  3        160    2 h

            with a copy at relays                 2
            copies on their way to relays         1
            fetched, their owner not near enough  4
            neighbours watched for at relays      5

            since the start:
              deposited        9
              depositor_quota  2
              handed_over      6

            """)
        var other = report
        other.usingRelays = false
        XCTAssertTrue(OperatorText.mail(other).hasPrefix("on, without relays: by hand only\n"))
        other.working = false
        XCTAssertTrue(OperatorText.mail(other).hasPrefix("resting: the clock is not known to be right\n"))
        other.enabled = false
        XCTAssertTrue(OperatorText.mail(other).hasPrefix("off: no letters are taken in (courier.enabled)\n"))
    }

    func testTheStatusLineSaysWhatWaits() {
        func line(_ change: (inout StatusReport.Mail) -> Void) -> String {
            var mail = StatusReport.Mail(
                enabled: true, working: true, usingRelays: true, carried: 0, limit: 200, atRelays: 0, undelivered: 0)
            change(&mail)
            return OperatorText.mail(mail)
        }
        XCTAssertEqual(line { _ in }, "on, 0 of 200 letters waiting")
        XCTAssertEqual(line { $0.enabled = false }, "off")
        XCTAssertEqual(line { $0.working = false }, "on, but resting, 0 of 200 letters waiting")
    }

    func testReportsTravelUnchanged() throws {
        XCTAssertEqual(try MailReport(json: JSONValue(parsing: report.json.encoded())), report)
        for limit in [
            LimitReport(part: "mail", name: "letters", limit: 200, used: 3, refused: 1),
            LimitReport(part: "mesh", name: "peers", limit: 1_024, used: nil, refused: nil),
        ] {
            XCTAssertEqual(try LimitReport(json: JSONValue(parsing: limit.json.encoded())), limit)
        }
        let board = BoardReport(
            posts: [
                .init(
                    id: "00", name: "\u{1B}[2J", text: "x", place: "u4pruy", ageSeconds: 1, leftSeconds: 2,
                    urgent: true,
                    own: false),
                .init(
                    id: "01", name: "", text: "y", place: nil, ageSeconds: 1, leftSeconds: 2, urgent: false, own: true,
                    copy: .refused),
                .init(
                    id: "02", name: "", text: "z", place: nil, ageSeconds: 1, leftSeconds: 2, urgent: false, own: true,
                    copy: .published, displaced: true),
            ])
        XCTAssertEqual(try BoardReport(json: JSONValue(parsing: board.json.encoded())), board)
        XCTAssertEqual(
            OperatorText.board(board),
            """
            \\u{1B}[2J, 1 s ago about #u4pruy, gone in 2 s, urgent
              x
            anon, 1 s ago, gone in 2 s, yours: 01, not copied: too much waits for relays
              y
            anon, 1 s ago, gone in 2 s, yours: 02, copied to relays, at relays only: the boards were full
              z

            """)
        XCTAssertEqual(OperatorText.board(BoardReport(posts: [])), "nothing is pinned\n")
    }

    func testLimitsAreOneTable() {
        XCTAssertEqual(
            OperatorText.limits([
                LimitReport(part: "mail", name: "letters", limit: 200, used: 3, refused: 1),
                LimitReport(part: "mail", name: "letters_of_one_peer", limit: 8, used: nil, refused: 0),
                LimitReport(part: "mesh", name: "peers", limit: 1_024, used: 7, refused: nil),
            ]),
            """
            PART  WHAT                 USED  LIMIT  REFUSED
            mail  letters              3     200    1
            mail  letters_of_one_peer  each  8      0
            mesh  peers                7     1024   -

            """)
    }

    func testABoardRequestTravelsAsOneArgument() {
        for request in [
            BoardRequest(place: nil, days: 1, isUrgent: false, isCopied: false, text: "water at the gate"),
            BoardRequest(place: "u4pruydq", days: 7, isUrgent: true, isCopied: true, text: " x  y "),
            BoardRequest(place: "u4pruydq", days: 7, isUrgent: true, isCopied: false, text: "x"),
        ] {
            XCTAssertEqual(BoardRequest(argument: request.argument), request)
        }
        let long = String(repeating: "x", count: 513)
        for bad in [
            "", "-", "- 1 plain here", "- 0 plain here x", "- 8 plain here x", "- 1 loud here x", "U4 1 plain here x",
            "- 1 plain copied x", "- 1 plain here ", "- 1 plain here \(long)",
        ] {
            XCTAssertNil(BoardRequest(argument: bad), bad)
        }
    }
}

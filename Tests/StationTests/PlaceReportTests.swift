import XCTest

@testable import Station

final class PlaceReportTests: XCTestCase {
    private let channels = [
        ChannelReport(channel: "u4pru", configured: true, people: 0, relays: 5, subscribed: 2),
        ChannelReport(channel: "u4pruy", configured: false, people: 0, relays: 5, subscribed: 5),
        ChannelReport(channel: "u4pruyd", configured: false, people: 3, relays: 0, subscribed: 0),
    ]

    private var notes: NotesReport {
        NotesReport(
            place: "u4pruydq", complete: true, relays: 5, subscribed: 2, unconfirmed: 1,
            notes: [
                .init(
                    id: "ab", name: "zed#1234", text: "bring \u{1b}[2J water", cell: "u4pruydq", ageSeconds: 60,
                    leftSeconds: 3_600, urgent: true, own: true)
            ])
    }

    func testChannelsAreReadableAndSayWhereNobodyCanBeCounted() {
        XCTAssertEqual(
            OperatorText.channels(channels),
            """
            CHANNEL   WHY         PEOPLE  RELAYS
            #u4pru    configured  0       2 of 5
            #u4pruy   in use      ?       5 of 5
            #u4pruyd  in use      3       0 of 0

            """)
        XCTAssertEqual(OperatorText.channels([]), "no location channel is listened to\n")
    }

    func testNotesAreReadableAndHarmless() {
        let text = OperatorText.notes(notes)
        XCTAssertTrue(
            text.hasPrefix("zed#1234, 1 min ago in #u4pruydq, gone in 1 h, urgent, yours: ab\n  bring "), text)
        XCTAssertFalse(text.contains("\u{1b}"))
        XCTAssertTrue(text.hasSuffix("waiting for a relay's confirmation: 1\n"))
        var report = notes
        report.notes = []
        report.subscribed = 0
        XCTAssertTrue(OperatorText.notes(report).contains("ask again in a minute"))
        report.relays = 0
        XCTAssertTrue(OperatorText.notes(report).contains("no relay of this place is known"))
    }

    func testNotesThatWouldNotFitAreLeftOutAndTheListSaysSo() {
        let note = NotesReport.Note(
            id: "ab", name: "zed", text: String(repeating: "\u{1}", count: 16_000), cell: "u4pruydq", ageSeconds: 60,
            leftSeconds: nil, urgent: false, own: false)
        var report = notes
        let all = Array(repeating: note, count: 40)
        report.notes = all.fitting(ControlLimits.listSize)
        report.leftOut = all.count - report.notes.count
        XCTAssertGreaterThan(report.notes.count, 4)
        XCTAssertGreaterThan(report.leftOut, 0)
        XCTAssertLessThan(ControlAnswer.done(report.json, name: "notes").line.count, ControlLimits.answerSize)
        XCTAssertTrue(OperatorText.notes(report).contains("\(report.leftOut) older notes are not listed"))
    }

    func testInventedPeersHideNoNeighbourAndNoList() {
        func peer(_ number: Int, neighbour: Bool) -> PeerReport {
            PeerReport(
                peer: "\(number)", nickname: String(repeating: "\u{1}", count: 255), neighbour: neighbour,
                reachable: true, lastHeardSeconds: 1, gateway: false, bridge: false, cell: nil)
        }
        let peers = (0..<1_024).map { peer($0, neighbour: $0 >= 1_020) }
        let listed = PeerReport.listed(peers)
        XCTAssertEqual(listed.prefix(5).map(\.peer), ["1020", "1021", "1022", "1023", "0"])
        XCTAssertLessThan(ControlAnswer.done(listed.json, name: "peers").line.count, ControlLimits.answerSize)
    }

    func testReportsTravelUnchanged() throws {
        XCTAssertEqual(try [ChannelReport](json: JSONValue(parsing: channels.json.encoded())), channels)
        XCTAssertEqual(try NotesReport(json: JSONValue(parsing: notes.json.encoded())), notes)
    }

    func testANoteTravelsInOneArgument() {
        let request = NoteRequest(place: "u4pruydq", hours: 24, isUrgent: true, text: "two  words ")
        XCTAssertEqual(NoteRequest(argument: request.argument), request)
        for bad in ["", "u4 24 urgent", "U4 24 urgent x", "u4 721 urgent x", "u4 x urgent x", "u4 1 other x"] {
            XCTAssertNil(NoteRequest(argument: bad), bad)
        }
        XCTAssertNil(NoteRequest(argument: "u4 1 plain " + String(repeating: "x", count: 2_001)))
    }
}

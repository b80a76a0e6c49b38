import Glibc
import Station

/// Notes pinned to places: reading, pinning, taking away.
enum NotesCommand {
    /// Seconds to wait for the relays' first answers.
    private static let patience = 15

    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json", "--urgent"], options: ["--socket", "--hours"])
        let client = ControlClient(path: arguments.value("--socket") ?? Configuration().controlSocket)
        let words = arguments.words
        switch words.first {
        case "post":
            guard words.count == 3 else { throw StationFault.usage("use bitgate notes post GEOHASH TEXT") }
            let hours = arguments.value("--hours").map { Int($0) } ?? NoteRequest.standardHours
            guard let hours, NoteRequest.hours.contains(hours) else {
                throw StationFault.usage("--hours takes a number from 0 to 720; 0 is for ever")
            }
            guard words[2].utf8.count <= NoteRequest.textBytes else {
                throw StationFault.usage("a note has at most \(NoteRequest.textBytes) bytes")
            }
            let request = NoteRequest(
                place: words[1], hours: hours, isUrgent: arguments.has("--urgent"), text: words[2])
            return Output.show(
                try client.ask("note_post", for: NotesReport.self, argument: request.argument), OperatorText.notes,
                arguments)
        case "delete":
            guard words.count == 3 else { throw StationFault.usage("use bitgate notes delete GEOHASH ID") }
            let report = try client.ask("note_delete", for: NotesReport.self, argument: words[1] + " " + words[2])
            return Output.show(report, OperatorText.notes, arguments)
        case let place?:
            try arguments.expectWords(atMost: 1)
            var report = try client.ask("notes", for: NotesReport.self, argument: place)
            for _ in 0..<patience where !report.complete || report.subscribed == 0 && report.relays > 0 {
                sleep(1)
                report = try client.ask("notes", for: NotesReport.self, argument: place)
            }
            return Output.show(report, OperatorText.notes, arguments)
        case nil: throw StationFault.usage("use bitgate notes GEOHASH")
        }
    }
}

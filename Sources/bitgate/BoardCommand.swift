import Station

/// The bulletin board of the mesh: reading, pinning, taking down.
enum BoardCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--json", "--urgent", "--here-only"], options: ["--socket", "--place", "--days"])
        let client = ControlClient(path: arguments.value("--socket") ?? Configuration().controlSocket)
        let words = arguments.words
        switch words.first {
        case "post":
            guard words.count == 2 else { throw StationFault.usage("use bitgate board post TEXT") }
            let days = arguments.value("--days").map { Int($0) } ?? BoardRequest.standardDays
            guard let days, BoardRequest.days.contains(days) else {
                throw StationFault.usage("--days takes a number from 1 to 7")
            }
            let place = arguments.value("--place")
            let request = BoardRequest(
                place: place, days: days, isUrgent: arguments.has("--urgent"),
                isCopied: place != nil && !arguments.has("--here-only"), text: words[1])
            return Output.show(
                try client.ask("board_post", for: BoardReport.self, argument: request.argument), OperatorText.board,
                arguments)
        case "remove":
            guard words.count == 2 else { throw StationFault.usage("use bitgate board remove ID") }
            return Output.show(
                try client.ask("board_remove", for: BoardReport.self, argument: words[1]), OperatorText.board, arguments
            )
        case "list", nil:
            try arguments.expectWords(atMost: 1)
            return Output.show(try client.ask("board", for: BoardReport.self), OperatorText.board, arguments)
        case let word?:
            throw StationFault.usage(
                "bitgate board lists, posts or removes, and does not \(TerminalText.escape(word))")
        }
    }
}

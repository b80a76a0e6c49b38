import Station

/// `bitgate clock`: what time it is for the box, and the operator's say in it.
enum ClockCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: ["--socket"])
        let client = ControlClient(path: arguments.value("--socket") ?? Configuration().controlSocket)
        let words = arguments.words
        switch (words.first, words.count) {
        case (nil, _):
            if arguments.has("--json") {
                Output.write(OperatorText.json(try client.line("clock")) + "\n")
            } else {
                Output.write(OperatorText.clock(try client.ask("clock", for: ClockReport.self)))
            }
        case ("accept", 1):
            Output.write(OperatorText.clock(try client.ask("clock_accept", for: ClockReport.self)))
        case ("set", 2):
            guard let time = TimeText.parse(words[1]) else {
                throw StationFault.usage("clock set takes a time with its zone, as 2026-05-01T13:45:07Z")
            }
            Output.write(
                OperatorText.clockSet(
                    try client.ask("clock_set", for: ClockReport.self, argument: TimeText.text(time))))
        default: throw StationFault.usage("clock takes nothing, accept, or set TIME; see bitgate clock --help")
        }
        return ExitStatus.ok
    }
}

import Station

/// The commands that ask the daemon and show its answer.
enum StatusCommand {
    static func status(_ arguments: [String]) throws -> Int32 {
        try show("status", arguments, StatusReport.self, OperatorText.status)
    }

    static func peers(_ arguments: [String]) throws -> Int32 {
        let parsed = try Arguments(arguments, flags: ["--json"], options: ["--socket"])
        guard let word = parsed.words.first else {
            return try show("peers", arguments, [PeerReport].self, OperatorText.peers)
        }
        guard word == "forget", parsed.words.count == 2 else {
            throw StationFault.usage("use bitgate peers, or bitgate peers forget ID")
        }
        let client = ControlClient(path: parsed.value("--socket") ?? Configuration().controlSocket)
        return Output.show(
            try client.ask("peer_forget", for: [PeerReport].self, argument: parsed.words[1]), OperatorText.peers, parsed
        )
    }

    static func channels(_ arguments: [String]) throws -> Int32 {
        try show("channels", arguments, [ChannelReport].self, OperatorText.channels)
    }

    static func mail(_ arguments: [String]) throws -> Int32 {
        try show("mail", arguments, MailReport.self, OperatorText.mail)
    }

    static func limits(_ arguments: [String]) throws -> Int32 {
        try show("limits", arguments, [LimitReport].self, OperatorText.limits)
    }

    static func counters(_ arguments: [String]) throws -> Int32 {
        try show("counters", arguments, CounterReport.self, OperatorText.counters)
    }

    static func metrics(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: [], options: ["--socket"])
        try arguments.expectWords(atMost: 0)
        let client = ControlClient(path: arguments.value("--socket") ?? Configuration().controlSocket)
        Output.write(OperatorText.metrics(try client.ask("counters", for: CounterReport.self)))
        return ExitStatus.ok
    }

    private static func show<Report: JSONConvertible>(
        _ command: String, _ arguments: [String], _ type: Report.Type, _ text: (Report) -> String
    ) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: ["--socket"])
        try arguments.expectWords(atMost: 0)
        let client = ControlClient(path: arguments.value("--socket") ?? Configuration().controlSocket)
        if arguments.has("--json") {
            Output.write(OperatorText.json(try client.line(command)) + "\n")
        } else {
            Output.write(text(try client.ask(command, for: type)))
        }
        return ExitStatus.ok
    }
}

import Glibc
import Station

/// `bitgate wipe`: asks, wipes, and waits for the outcome.
enum WipeCommand {
    /// How often the daemon is asked how it went, and how long.
    private static let pause: UInt32 = 200_000
    private static let attempts = 600

    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--status", "--acknowledge", "--provision", "--json"], options: ["--socket", "--yes"])
        try arguments.expectWords(atMost: 0)
        let client = ControlClient(path: arguments.value("--socket") ?? Configuration().controlSocket)
        let deeds = ["--status", "--acknowledge", "--provision"].filter(arguments.has)
        guard deeds.count + (arguments.value("--yes") == nil ? 0 : 1) <= 1 else {
            throw StationFault.usage("--status, --acknowledge, --provision and --yes cannot be combined")
        }
        guard !arguments.has("--json") || deeds == ["--status"] else {
            throw StationFault.usage("--json goes with --status")
        }
        switch deeds.first {
        case "--status": return try status(client, asJSON: arguments.has("--json"))
        case "--acknowledge":
            _ = try client.ask("wipe_acknowledge", for: WipeReport.self)
        case "--provision":
            _ = try client.ask("provision", for: WipeReport.self)
        default: return try wipe(client, word: arguments.value("--yes"))
        }
        return ExitStatus.ok
    }

    private static func status(_ client: ControlClient, asJSON: Bool) throws -> Int32 {
        let report = try client.ask("wipe_status", for: WipeReport.self)
        if asJSON {
            Output.write(OperatorText.json(try client.line("wipe_status")) + "\n")
        } else {
            Output.write(OperatorText.wipe(report))
        }
        return [.incomplete, .unknown].contains(report.state) ? ExitStatus.wipeIncomplete : ExitStatus.ok
    }

    private static func wipe(_ client: ControlClient, word: String?) throws -> Int32 {
        // Whom to ask is known before the question is put.
        let before = try client.ask("wipe_status", for: WipeReport.self)
        guard try word ?? typed() == WipeConfirmation.word else {
            throw StationFault.usage("not confirmed, nothing was done: the word is \(WipeConfirmation.word)")
        }
        let isFresh = before.state != .wiping
        if isFresh { _ = try client.ask("wipe", for: WipeReport.self, confirmation: WipeConfirmation.word) }
        for _ in 0..<attempts {
            usleep(pause)
            // Between the old process and the new one nobody answers, and somebody may have acknowledged it at the box.
            guard let report = try? client.ask("wipe_status", for: WipeReport.self),
                ![.wiping, .none].contains(report.state)
            else { continue }
            Output.write(OperatorText.wipe(report))
            return report.state == .wiped ? ExitStatus.ok : ExitStatus.wipeIncomplete
        }
        return Output.fail(
            "timed out waiting for the wipe result; if the wipe is incomplete, the next start of bitgated continues it",
            ExitStatus.unavailable)
    }

    private static func typed() throws(StationFault) -> String {
        guard isatty(STDIN_FILENO) == 1 else {
            throw .usage("stdin is not a terminal; use --yes \(WipeConfirmation.word)")
        }
        Output.write(
            """
            This destroys all that bitgated remembers, and its identity: phones that know
            this box will not know it again. Nobody can undo it.
            Type \(WipeConfirmation.word) to go on: 
            """)
        return readLine() ?? ""
    }
}

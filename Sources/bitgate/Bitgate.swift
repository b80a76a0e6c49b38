import EventLoop
import Glibc
import Station

/// The operator's command: picks the subcommand and turns faults into messages and statuses.
enum Bitgate {
    struct Subcommand: Sendable {
        let name: String
        /// One line for the overview.
        let summary: String
        let help: String
        let run: @Sendable ([String]) throws -> Int32

        init(_ name: String, _ summary: String, _ help: String, run: @escaping @Sendable ([String]) throws -> Int32) {
            self.name = name
            self.summary = summary
            self.help = help
            self.run = run
        }
    }

    /// In the order of the overview and the manual.
    static let subcommands = [
        Subcommand(
            "status", "the daemon's state, and problems with their remedies", Help.status,
            run: StatusCommand.status),
        Subcommand("peers", "peers heard on the mesh", Help.peers, run: StatusCommand.peers),
        Subcommand("counters", "event counters, refusals by reason", Help.counters, run: StatusCommand.counters),
        Subcommand("metrics", "the same counters in Prometheus' format", Help.metrics, run: StatusCommand.metrics),
        Subcommand(
            "channels", "location channels carried, and people there", Help.channels,
            run: StatusCommand.channels),
        Subcommand("mail", "number and state of letters carried for absent people", Help.mail, run: StatusCommand.mail),
        Subcommand("limits", "resource limits and their use", Help.limits, run: StatusCommand.limits),
        Subcommand("board", "read, pin and remove posts on the mesh's board", Help.board, run: BoardCommand.run),
        Subcommand("notes", "read, pin and delete notes at a place", Help.notes, run: NotesCommand.run),
        Subcommand("clock", "show or set the box's clock", Help.clock, run: ClockCommand.run),
        Subcommand("wipe", "destroy all data and the identity of the box", Help.wipe, run: WipeCommand.run),
        Subcommand("panel", "explain the lamp patterns", Help.panel, run: PanelCommand.run),
        Subcommand("doctor", "check this machine for problems", Help.doctor, run: DoctorCommand.run),
        Subcommand("relay", "check whether a Nostr relay can be used from here", Help.relay, run: RelayCommand.run),
        Subcommand(
            "config", "check a configuration file, or print one with all defaults", Help.config,
            run: ConfigCommand.run),
        Subcommand("tor", "check the bridges in a tor configuration file", Help.tor, run: TorCommand.run),
        Subcommand("chat", "talk on the mesh, as a separate peer", Help.chat, run: ChatProgram.run),
        Subcommand(
            "simulate", "simulate and check a whole mesh in virtual time", Help.simulate,
            run: SimulateCommand.run),
    ]

    static func run(_ arguments: [String]) -> Int32 {
        guard let first = arguments.first else {
            Output.error(Help.overview)
            return ExitStatus.usage
        }
        switch first {
        case "-h", "--help":
            Output.write(Help.overview)
            return ExitStatus.ok
        case "help":
            return arguments.dropFirst().first == "--man"
                ? Manual.write(arguments.dropFirst(2).first) : help(arguments.dropFirst().first)
        case "--version":
            Output.write("bitgate \(Version.text)\n")
            return ExitStatus.ok
        default: break
        }
        guard let subcommand = subcommands.first(where: { $0.name == first }) else { return unknown(first) }
        let rest = Array(arguments.dropFirst())
        if rest.contains(where: { $0 == "-h" || $0 == "--help" }) {
            Output.write(subcommand.help)
            return ExitStatus.ok
        }
        do {
            return try subcommand.run(rest)
        } catch let fault as StationFault {
            return Output.fail("\(fault)", fault.exitStatus)
        } catch let error as ControlClientError {
            return Output.fail("\(error)", error.exitStatus)
        } catch {
            return Output.fail("\(error)", ExitStatus.systemError)
        }
    }

    private static func help(_ name: String?) -> Int32 {
        guard let name else {
            Output.write(Help.overview)
            return ExitStatus.ok
        }
        guard let subcommand = subcommands.first(where: { $0.name == name }) else { return unknown(name) }
        Output.write(subcommand.help)
        return ExitStatus.ok
    }

    private static func unknown(_ name: String) -> Int32 {
        let hint = NearestKey.find(name, in: subcommands.map(\.name)).map { "; did you mean \($0)?" }
        return Output.fail(
            "unknown command \(TerminalText.escape(name))" + (hint ?? "; see bitgate --help"), ExitStatus.usage)
    }
}

/// Whole texts to the standard descriptors.
enum Output {
    /// Ends the program when standard output takes no more: a report that is cut short must not look complete.
    static func write(_ text: String) {
        guard let error = put(text, STDOUT_FILENO) else { return }
        exit(fail("cannot write: \(SystemError.text(error))", ExitStatus.outputError))
    }

    /// A report, as text or as JSON.
    static func show<Report: JSONConvertible>(
        _ report: Report, _ text: (Report) -> String, _ arguments: Arguments
    ) -> Int32 {
        let json = String(decoding: report.json.encoded(), as: UTF8.self)
        write(arguments.has("--json") ? OperatorText.json(json) + "\n" : text(report))
        return ExitStatus.ok
    }

    /// The error number when standard output takes no more.
    static func tryWrite(_ text: String) -> Int32? { put(text, STDOUT_FILENO) }

    static func error(_ text: String) { _ = put(text, STDERR_FILENO) }

    static func fail(_ message: String, _ status: Int32) -> Int32 {
        error("bitgate: \(message)\n")
        return status
    }

    private static func put(_ text: String, _ descriptor: Int32) -> Int32? {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}

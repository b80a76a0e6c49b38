import EventLoop
import Glibc
import Station

/// The operator's command: picks the subcommand and turns faults into messages and statuses.
enum Bitgate {
    static let subcommands: [(name: String, help: String, run: @Sendable ([String]) throws -> Int32)] = [
        ("status", Help.status, StatusCommand.status),
        ("peers", Help.peers, StatusCommand.peers),
        ("counters", Help.counters, StatusCommand.counters),
        ("clock", Help.clock, ClockCommand.run),
        ("channels", Help.channels, StatusCommand.channels),
        ("mail", Help.mail, StatusCommand.mail),
        ("limits", Help.limits, StatusCommand.limits),
        ("board", Help.board, BoardCommand.run),
        ("notes", Help.notes, NotesCommand.run),
        ("wipe", Help.wipe, WipeCommand.run),
        ("doctor", Help.doctor, DoctorCommand.run),
        ("panel", Help.panel, PanelCommand.run),
        ("relay", Help.relay, RelayCommand.run),
        ("config", Help.config, ConfigCommand.run),
        ("tor", Help.tor, TorCommand.run),
        ("chat", Help.chat, ChatProgram.run),
        ("simulate", Help.simulate, SimulateCommand.run),
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

import EventLoop
import Station

/// `relay check`.
enum RelayCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: [], options: ["--config"])
        try arguments.expectWords(atMost: 2)
        guard arguments.words.count == 2, arguments.words[0] == "check" else {
            throw StationFault.usage("expected relay check URL; see bitgate relay --help")
        }
        let configuration: Configuration
        do {
            configuration = try Configuration(contentsOf: arguments.value("--config") ?? Configuration.defaultPath)
        } catch {
            Output.error("\(error)\n")
            return error.exitStatus
        }
        let loop: LibeventLoop
        do { loop = try LibeventLoop() } catch { throw StationFault.system("\(error)") }
        let isUsable = try RelayInquiry.run(arguments.words[1], configuration, loop: loop) {
            Output.write(TerminalText.escape($0) + "\n")
        }
        return isUsable ? ExitStatus.ok : ExitStatus.unavailable
    }
}

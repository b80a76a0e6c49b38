import Station

/// `config check` and `config defaults`.
enum ConfigCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: [], options: [])
        switch arguments.words.first {
        case "check":
            try arguments.expectWords(atMost: 2)
            return check(arguments.words.count == 2 ? arguments.words[1] : Configuration.defaultPath)
        case "defaults":
            try arguments.expectWords(atMost: 1)
            Output.write(ConfigurationText.defaults)
            return ExitStatus.ok
        default:
            throw StationFault.usage("expected config check or config defaults; see bitgate config --help")
        }
    }

    private static func check(_ path: String) -> Int32 {
        let configuration: Configuration
        do {
            configuration = try Configuration(contentsOf: path)
        } catch {
            Output.error("\(error)\n")
            return error.exitStatus
        }
        let file = TerminalText.escape(path)
        let remarks = configuration.remarks
        Output.write(
            "\(file): good" + (remarks.isEmpty ? "" : ", but") + "\n"
                + remarks.map { "\(file): \(TerminalText.escape($0))\n" }.joined())
        return ExitStatus.ok
    }
}

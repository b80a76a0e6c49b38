import Station

/// `tor check`.
enum TorCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: [], options: [])
        guard arguments.words.count == 2, arguments.words[0] == "check" else {
            throw StationFault.usage("expected tor check FILE; see bitgate tor --help")
        }
        let path = arguments.words[1]
        let check = TorBridgeCheck(try Configuration.text(of: path), file: path)
        guard check.problems.isEmpty else {
            Output.error(check.problems.joined(separator: "\n") + "\n")
            return ExitStatus.configuration
        }
        Output.write("\(TerminalText.escape(path)): good, \(check.bridges) bridge\(check.bridges == 1 ? "" : "s")\n")
        return ExitStatus.ok
    }
}

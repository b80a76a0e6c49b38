import Station

/// `help --man`: the manual pages, made of the help texts and the configuration's documentation.
enum Manual {
    private static let pages: [(name: String, text: @Sendable () -> String)] = [
        ("bitgate.1", command), ("bitgated.8", daemon), ("bitgate.toml.5", configuration),
    ]

    static func write(_ name: String?) -> Int32 {
        guard let page = pages.first(where: { $0.name == name }) else {
            return Output.fail(
                "help --man takes one of \(pages.map(\.name).joined(separator: ", "))", ExitStatus.usage)
        }
        Output.write(page.text())
        return ExitStatus.ok
    }

    private static func command() -> String {
        ManualMarkup.head("bitgate", section: 1, "operator's command of the bitchat gateway")
            + ManualMarkup.section("OVERVIEW", ManualMarkup.help(Help.overview))
            + Bitgate.subcommands.map {
                ManualMarkup.section("BITGATE \($0.name.uppercased())", ManualMarkup.help($0.help))
            }.joined()
            + ManualMarkup.section("SEE ALSO", "bitgated(8), bitgate.toml(5)\n")
    }

    private static func daemon() -> String {
        ManualMarkup.head("bitgated", section: 8, "bitchat gateway")
            + ManualMarkup.section("DESCRIPTION", ManualMarkup.help(DaemonHelp.text))
            + ManualMarkup.section("FILES", ManualMarkup.help(files))
            + ManualMarkup.section("SEE ALSO", "bitgate(1), bitgate.toml(5), systemctl(1), tor(1)\n")
    }

    private static func configuration() -> String {
        ManualMarkup.head("bitgate.toml", section: 5, "configuration of the bitchat gateway")
            + ManualMarkup.section("DESCRIPTION", ManualMarkup.configuration(ConfigurationText.defaults))
            + ManualMarkup.section("FILES", ManualMarkup.help(files))
            + ManualMarkup.section("SEE ALSO", "bitgated(8), bitgate(1)\n")
    }

    private static let files = """
          \(Configuration.defaultPath)   the configuration
          \(Configuration().stateDirectory)   keys and all else the box remembers, sealed
          \(Configuration().controlSocket)   where the bitgate command reaches the daemon

        """
}

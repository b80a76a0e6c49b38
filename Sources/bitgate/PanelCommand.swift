import Panel
import Station

/// `bitgate panel`: what lamps say.
enum PanelCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--markdown", "--svg", "--json"], options: [])
        try arguments.expectWords(atMost: 0)
        let forms = ["--markdown", "--svg", "--json"].filter(arguments.has)
        guard forms.count <= 1 else { throw StationFault.usage("--markdown, --svg and --json cannot be combined") }
        switch forms.first {
        case "--markdown": Output.write(PanelTable.markdown)
        case "--svg": Output.write(PanelPicture.svg)
        case "--json": Output.write(PanelTable.json)
        default: Output.write(PanelTable.text)
        }
        return ExitStatus.ok
    }
}

import Panel

/// What the station tells of its lamps and its button.
extension Station {
    var panelReport: StatusReport.Panel? { panel.report.map { StatusReport.Panel($0) } }

    var panelAttention: [StatusReport.Attention] {
        guard let report = panel.report else { return [] }
        var items = report.lamps.compactMap { lamp in
            lamp.problem.map { PanelAdvice.line("panel." + lamp.lamp.rawValue, $0) }
        }
        switch report.button {
        case .none, .listening: break
        case .missing(let problem):
            if let problem { items.append(PanelAdvice.line("panel.button", problem)) }
        case .stuck:
            items.append(
                StatusReport.Attention(
                    code: "panel_button_stuck",
                    message: "The button is always pressed, so the box ignores it.",
                    remedy: "Release it. If it is not held, check its wiring, panel.button_active_low and "
                        + "panel.button_bias."))
        }
        return items
    }
}

enum PanelAdvice {
    static func line(_ key: String, _ problem: GPIOProblem) -> StatusReport.Attention {
        StatusReport.Attention(
            code: "panel_line", message: "\(key): \(problem).",
            remedy: remedy(problem) + " It is tried again and again; everything else works without.")
    }

    static func remedy(_ problem: GPIOProblem) -> String {
        switch problem {
        case .noSuchLine:
            "Correct it, or set panel.wiring = \"none\" where there is no panel; gpioinfo lists all lines."
        case .notPermitted: "Install the udev rule of the package, and let the daemon's user be in the group gpio."
        case .taken: "Choose another line, or take the other user's overlay out of config.txt."
        case .failed: "See the kernel's log (dmesg)."
        }
    }
}

extension StatusReport.Panel {
    init(_ report: PanelReport) {
        lamps = report.lamps.map { lamp in
            StatusReport.PanelLamp(name: lamp.lamp.rawValue, shows: lamp.sign?.rawValue)
        }
        button =
            switch report.button {
            case .none: "none"
            case .listening: "listening"
            case .stuck: "stuck"
            case .missing: "missing"
            }
    }
}

extension StatusReport.Panel: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        lamps = try json.convert("lamps")
        button = try json.text("button")
    }

    public var json: JSONValue { ["lamps": lamps.json, "button": .text(button)] }
}

extension StatusReport.PanelLamp: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        name = try json.text("name")
        shows = try json.optionalText("shows")
    }

    public var json: JSONValue { ["name": .text(name), "shows": shows.map { .text($0) }] }
}

extension OperatorText {
    /// The row "panel".
    static func panel(_ panel: StatusReport.Panel) -> String {
        let lamps = panel.lamps.map { lamp in
            "\(TerminalText.escape(lamp.name)): \(lamp.shows.map { TerminalText.escape($0) } ?? "line missing")"
        }
        let button = panel.button == "none" ? [] : ["button \(TerminalText.escape(panel.button))"]
        return (lamps + button).joined(separator: ", ")
    }
}

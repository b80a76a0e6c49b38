/// The way to the internet, for people.
extension OperatorText {
    /// The row "tor".
    static func tor(_ network: StatusReport.Network) -> String {
        guard let route = network.route else { return TerminalText.escape(network.tor) }
        func safe(_ text: String) -> String { TerminalText.escape(text) }
        var parts = [safe(route.state)]
        if let bootstrap = route.bootstrap, bootstrap.progress < 100 {
            parts.append("\(bootstrap.progress) %, \(safe(bootstrap.summary))")
        }
        if let age = route.lastProofSeconds { parts.append("last heard through it \(span(age)) ago") }
        if let retry = route.retrySeconds { parts.append("tried again in \(span(retry))") }
        if let version = route.torVersion { parts.append("tor \(safe(version))") }
        return parts.joined(separator: ", ")
    }

    /// How far the bootstrap has come, one line a step, while it is under way.
    static func torSteps(_ network: StatusReport.Network) -> [String] {
        guard let route = network.route, route.access != "open" else { return [] }
        return route.steps.map { step in
            let tenths = step.milliseconds / 100
            return "\(step.progress) % after \(tenths / 10).\(tenths % 10) s: \(TerminalText.escape(step.summary))"
        }
    }
}

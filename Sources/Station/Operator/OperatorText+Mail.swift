extension OperatorText {
    public static func mail(_ report: MailReport) -> String {
        let heading: String
        if !report.enabled {
            heading = "off: no letters are taken in (courier.enabled)"
        } else if !report.working {
            heading = "resting: the clock is not known to be right"
        } else {
            heading = report.usingRelays ? "on, with relays" : "on, without relays: by hand only"
        }
        let rows = report.tiers.map { tier in
            [
                TerminalText.escape(tier.name), "\(tier.carried)", "\(tier.limit)",
                tier.oldestHours.map { $0 == 0 ? "under 1 h" : "\($0) h" } ?? "-",
            ]
        }
        var text = heading + "\n\n" + table([["FROM", "LETTERS", "LIMIT", "OLDEST"]] + rows)
        text +=
            "\n"
            + table([
                ["with a copy at relays", "\(report.atRelays)"],
                ["copies on their way to relays", "\(report.publishing)"],
                ["fetched, their owner not near enough", "\(report.undelivered)"],
                ["neighbours watched for at relays", "\(report.watched)"],
            ])
        let counts = report.outcomes.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !counts.isEmpty else { return text }
        return text + "\nsince the start:\n"
            + table(counts.map { [TerminalText.escape($0.key), "\($0.value)"] }, indent: "  ")
    }

    static func mail(_ mail: StatusReport.Mail) -> String {
        guard mail.enabled else { return "off" }
        var parts = [mail.working ? "on" : "on, but resting"]
        parts.append("\(mail.carried) of \(mail.limit) letters waiting")
        if mail.atRelays > 0 { parts.append("\(mail.atRelays) of them at relays too") }
        if mail.undelivered > 0 { parts.append("\(mail.undelivered) fetched for neighbours who are not near enough") }
        return parts.joined(separator: ", ")
    }

    public static func limits(_ limits: [LimitReport]) -> String {
        let rows = limits.map { limit in
            [
                TerminalText.escape(limit.part), TerminalText.escape(limit.name), limit.used.map { "\($0)" } ?? "each",
                "\(limit.limit)", limit.refused.map { "\($0)" } ?? "-",
            ]
        }
        return table([["PART", "WHAT", "USED", "LIMIT", "REFUSED"]] + rows)
    }
}

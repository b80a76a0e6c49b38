/// What the bitgate command prints for people. Everything that came from outside is escaped here.
public enum OperatorText {
    public static func status(_ report: StatusReport) -> String {
        var lines = wrap(
            "bitgate \(safe(report.version)), up \(span(report.uptimeSeconds)): "
                + "\(safe(report.nickname)) (peer \(safe(report.peer)))", hanging: 2)
        for item in report.attention {
            lines += [""] + wrap("! " + safe(item.message), hanging: 2) + wrap("  " + safe(item.remedy), hanging: 2)
        }
        lines += [""]
        lines += row("clock", clockLine(report.clock))
        lines += row("radio", radio(report.radio))
        lines += report.radio.adapters.flatMap { detail(adapter($0)) }
        lines += report.radio.links.flatMap { detail(link($0)) }
        lines += row(
            "mesh", "\(count(report.mesh.neighbours, "neighbour")), \(count(report.mesh.reachable, "peer")) in reach")
        lines += row("gateway", service(report.gateway))
        lines += row("bridge", service(report.bridge))
        lines += row("mail", mail(report.mail))
        lines += row("storage", storage(report.storage, uptime: report.uptimeSeconds))
        if let panel = report.panel { lines += row("panel", self.panel(panel)) }
        lines += row("tor", tor(report.network))
        lines += torSteps(report.network).flatMap { detail($0) }
        lines += row("relays", relays(report.network.relays))
        lines += report.network.relays.flatMap { detail(relay($0)) }
        lines += row("directory", directory(report.network.directory))
        return lines.joined(separator: "\n") + "\n"
    }

    public static func wipe(_ report: WipeReport) -> String {
        switch report.state {
        case .none: "no wipe since the last one was acknowledged\n"
        case .wiping: "a wipe is under way\n"
        case .wiped: "wiped: all that was remembered is gone, and the identity is a new one\n"
        case .incomplete:
            "INCOMPLETE: data may remain; radio and network stay off until a wipe succeeds\n"
                + report.failures.map { "  \(safe($0.step)): \(safe($0.reason))\n" }.joined()
        case .unknown:
            "NOT KNOWN: the boot partition cannot be read, where an incomplete wipe may be noted; radio and network "
                + "stay off\n"
        }
    }

    public static func peers(_ peers: [PeerReport]) -> String {
        guard !peers.isEmpty else { return "nobody in reach\n" }
        // The name stands last: it can be long, and wider on the screen than its characters are many.
        let rows = peers.map { peer in
            [
                safe(peer.peer), peer.neighbour ? "neighbour" : peer.reachable ? "in reach" : "gone",
                span(peer.lastHeardSeconds) + " ago", services(peer), safe(PeerName.shown(peer.nickname)),
            ]
        }
        return table([["PEER", "WHERE", "HEARD", "OFFERS", "NAME"]] + rows)
    }

    private static func services(_ peer: PeerReport) -> String {
        let offered = [peer.gateway ? "gateway" : nil, peer.bridge ? "bridge \(safe(peer.cell ?? ""))" : nil]
        let text = offered.compactMap { $0 }.joined(separator: ", ")
        return text.isEmpty ? "-" : text
    }

    public static func counters(_ report: CounterReport) -> String {
        var groups: [String] = []
        var empty: [String] = []
        for group in report.keys.sorted() {
            let counts = (report[group] ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
            if counts.isEmpty {
                empty.append(safe(group))
            } else {
                let rows = counts.map { [safe($0.key), "\($0.value)"] }
                groups.append(safe(group) + ":\n" + table(rows, indent: "  "))
            }
        }
        if !empty.isEmpty {
            let lines = wrap("nothing yet: " + empty.joined(separator: ", "), hanging: 2)
            groups.append(lines.joined(separator: "\n") + "\n")
        }
        return groups.joined(separator: "\n")
    }

    /// The counts in Prometheus' text exposition format. They name neither people nor places.
    public static func metrics(_ report: CounterReport) -> String {
        func plain(_ text: String, _ others: String) -> String {
            String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) ? $0 : "_" })
        }
        return report.keys.sorted().map { group in
            let name = "bitgate_\(plain(group, "_"))_total"
            let counts = (report[group] ?? [:]).sorted { $0.key < $1.key }
            return "# TYPE \(name) counter\n"
                + counts.map { "\(name){what=\"\(plain($0.key, "_-"))\"} \($0.value)\n" }.joined()
        }.joined()
    }

    /// An answer line as JSON for a terminal: what `TerminalText` would escape appears as `\uXXXX`, the same to JSON.
    public static func json(_ line: String) -> String {
        var out = ""
        for scalar in line.unicodeScalars {
            guard !TerminalText.isPrintable(scalar) else {
                out.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return out
    }

    private static func safe(_ text: String) -> String { TerminalText.escape(text) }

    private static func link(_ link: StatusReport.Link) -> String {
        let last = link.lastInSeconds.map { "last frame \(span($0)) ago" } ?? "nothing heard yet"
        let name = link.adapter.map { "\(safe($0)) link \(link.number): " } ?? ""
        return
            "\(name)\(safe(link.role)), up \(span(link.upSeconds)), \(link.framesIn) in, \(link.framesOut) out, \(last)"
    }

    private static func radio(_ radio: StatusReport.Radio) -> String {
        let links = "\(safe(radio.kind)), \(count(radio.links.count, "link"))"
        guard radio.kind != "air" else { return links }
        guard !radio.adapters.isEmpty else { return "\(safe(radio.kind)), no adapter" }
        return "\(links) on \(count(radio.adapters.count, "adapter"))"
    }

    private static func adapter(_ adapter: StatusReport.Adapter) -> String {
        let name = "\(safe(adapter.name)): "
        guard adapter.state == "ready" else {
            return name + safe(adapter.state.split(separator: "_").joined(separator: " "))
        }
        var parts = [adapter.advertising ? "advertising" : "not advertising"]
        if adapter.scanning { parts.append("scanning") }
        parts.append("\(adapter.outgoing + adapter.incoming) of \(adapter.limit) links")
        if adapter.connecting > 0 { parts.append("calling \(adapter.connecting)") }
        parts.append(adapter.lastInSeconds.map { "last frame in \(span($0)) ago" } ?? "no frame in yet")
        parts.append(adapter.lastOutSeconds.map { "out \(span($0)) ago" } ?? "none out")
        if let accepted = adapter.lastAcceptedSeconds { parts.append("last call taken \(span(accepted)) ago") }
        if adapter.lastInSeconds == nil, let heard = adapter.lastReportSeconds {
            parts.append("a neighbour heard \(span(heard)) ago")
        }
        return name + parts.joined(separator: ", ")
    }

    private static func service(_ service: StatusReport.Service) -> String {
        guard service.enabled else { return "off" }
        var parts = [service.advertised ? "on, announced to phones" : "on, but resting"]
        if let cell = service.cell { parts.append("cell \(safe(cell))") }
        if let channels = service.channels, !channels.isEmpty {
            parts.append("channels " + channels.map { "#" + safe($0) }.joined(separator: " "))
        }
        parts.append("\(service.carriersLastMinute) of \(service.carriersLimit) carriers sent in the last minute")
        if service.queuedDeposits > 0 {
            parts.append("\(count(service.queuedDeposits, "message")) waiting for a relay")
        }
        if service.pendingDownlinks > 0 { parts.append("\(service.pendingDownlinks) waiting for airtime") }
        return parts.joined(separator: ", ")
    }

    private static func storage(_ storage: StatusReport.Storage, uptime: Int) -> String {
        let since = uptime < 86_400 ? "since the start" : "in the last day"
        var parts = [
            safe(storage.mode), count(storage.records, "record"), size(storage.bytes),
            "\(size(storage.writtenLastDay)) written \(since)",
        ]
        if storage.state != "ok" {
            parts.append("\(size(storage.waitingBytes)) in memory only: \(safe(storage.state))")
        }
        return parts.joined(separator: ", ")
    }

    /// `517 B`, `12 KiB`, `3 MiB`, rounded up: what is there is never shown as nothing.
    static func size(_ bytes: Int) -> String {
        var amount = max(0, bytes)
        for unit in ["B", "KiB"] {
            if amount < 10_000 { return "\(amount) \(unit)" }
            amount = (amount + 1_023) / 1_024
        }
        return "\(amount) MiB"
    }

    private static func directory(_ directory: StatusReport.Directory) -> String {
        var text: String
        switch directory.source {
        case "unneeded": text = "not needed: nostr.relays carry everything"
        case "none": text = "none"
        default: text = "\(count(directory.relays, "relay")), \(safe(directory.source))"
        }
        if let age = directory.ageSeconds { text += " \(span(age)) ago" }
        if let problem = directory.problem { text += " (last fetch: \(safe(problem)))" }
        return text
    }

    private static func relays(_ relays: [StatusReport.Relay]) -> String {
        relays.isEmpty ? "none" : "\(relays.count { $0.state == "connected" }) of \(relays.count) connected"
    }

    private static func relay(_ relay: StatusReport.Relay) -> String {
        var text = "\(safe(relay.url)): \(safe(relay.state))"
        if let age = relay.lastEventSeconds { text += ", last event \(span(age)) ago" }
        if relay.accepted + relay.refused > 0 { text += ", \(relay.accepted) accepted, \(relay.refused) refused" }
        if relay.pending > 0 { text += ", \(relay.pending) waiting" }
        if relay.subscriptions > 0 { text += ", \(count(relay.subscriptions, "subscription"))" }
        for refusal in relay.refusals {
            text +=
                ", refuses \(safe(refusal.subscription)): \(safe(refusal.reason)), asked again in "
                + span(refusal.retrySeconds)
        }
        if let problem = relay.problem { text += " (\(safe(problem)))" }
        return text
    }

    /// Columns of a terminal as it opens.
    private static let width = 80
    private static let margin = 10

    private static func row(_ name: String, _ text: String) -> [String] {
        wrap(name + String(repeating: " ", count: max(1, margin - name.count)) + text, hanging: margin)
    }

    /// One thing of those the row above counts.
    private static func detail(_ text: String) -> [String] {
        wrap(String(repeating: " ", count: margin) + text, hanging: margin + 2)
    }

    /// Lines of at most `width` characters, broken at spaces; those after the first are indented by `hanging`.
    private static func wrap(_ text: String, hanging: Int) -> [String] {
        var lines: [String] = []
        // Spaces that align columns stay: only what follows the first word can begin a new line.
        var line = String(text.prefix { $0 == " " })
        var isEmpty = true
        for word in text.dropFirst(line.count).split(separator: " ", omittingEmptySubsequences: false) {
            if !isEmpty, !word.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = String(repeating: " ", count: hanging) + word
            } else {
                line += (isEmpty ? "" : " ") + word
            }
            isEmpty = false
        }
        return lines + [line]
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// `2 h 5 min`, `12 s`: the two largest units.
    static func span(_ seconds: Int) -> String {
        let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
        var rest = max(0, seconds)
        var parts: [String] = []
        for (name, size) in units where rest >= size && parts.count < 2 {
            parts.append("\(rest / size) \(name)")
            rest %= size
        }
        return parts.isEmpty ? "0 s" : parts.joined(separator: " ")
    }

    static func table(_ rows: [[String]], indent: String = "") -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = indent
            for (column, cell) in row.enumerated() {
                line += cell
                if column < row.count - 1 { line += String(repeating: " ", count: widths[column] - cell.count + 2) }
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}

import Nostr

extension OperatorText {
    public static func channels(_ channels: [ChannelReport]) -> String {
        guard !channels.isEmpty else { return "no location channel is listened to\n" }
        let rows = channels.map { channel in
            [
                "#" + TerminalText.escape(channel.channel), channel.configured ? "configured" : "in use",
                people(channel), "\(channel.subscribed) of \(channel.relays)",
            ]
        }
        return table([["CHANNEL", "WHY", "PEOPLE", "RELAYS"]] + rows)
    }

    /// Presence is told in no channel finer than a city: nobody seen there does not mean nobody.
    private static func people(_ channel: ChannelReport) -> String {
        channel.people == 0 && channel.channel.count >= ChannelLevel.neighborhood.length ? "?" : "\(channel.people)"
    }

    public static func notes(_ report: NotesReport) -> String {
        var lines: [String] = []
        for note in report.notes {
            var about = "\(TerminalText.escape(note.name)), \(span(note.ageSeconds)) ago in #"
            about += TerminalText.escape(note.cell)
            if let left = note.leftSeconds { about += ", gone in \(span(left))" }
            if note.urgent { about += ", urgent" }
            if note.own { about += ", yours: \(note.id)" }
            lines += [about, "  " + TerminalText.escape(note.text)]
        }
        if report.leftOut > 0 {
            lines.append("\(report.leftOut) older notes are not listed: the answer would be too long")
        }
        if report.notes.isEmpty { lines.append("no notes are known here") }
        if report.relays == 0 {
            lines.append("no relay of this place is known: bitgate status shows the list of relays")
        } else if report.subscribed == 0 {
            lines.append("no relay of this place is connected yet: ask again in a minute")
        } else if !report.complete {
            lines.append("not all relays have answered yet: ask again")
        }
        if report.unconfirmed > 0 { lines.append("waiting for a relay's confirmation: \(report.unconfirmed)") }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension OperatorText {
    public static func board(_ report: BoardReport) -> String {
        guard !report.posts.isEmpty else { return "nothing is pinned\n" }
        var lines: [String] = []
        for post in report.posts {
            let name = post.name.isEmpty ? "anon" : TerminalText.escape(post.name)
            var about = "\(name), \(span(post.ageSeconds)) ago"
            if let place = post.place { about += " about #" + TerminalText.escape(place) }
            about += ", gone in \(span(post.leftSeconds))"
            if post.urgent { about += ", urgent" }
            if post.own { about += ", yours: " + TerminalText.escape(post.id) }
            switch post.copy {
            case .beingMade, .waiting: about += ", its copy waits for a relay"
            case .published: about += ", copied to relays"
            case .refused: about += ", not copied: too much waits for relays"
            case nil: break
            }
            if post.displaced { about += ", at relays only: the boards were full" }
            lines += [about, "  " + TerminalText.escape(post.text)]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

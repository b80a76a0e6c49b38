/// The table of patterns for people: in a terminal, in the operator's guide and as a picture. All of it comes from
/// `PanelSign` and `PanelFace`.
public enum PanelTable {
    /// Signs as an operator meets them; what is dark says nothing.
    static let signs = PanelSign.allCases.filter { $0 != .dark }

    /// A row for each sign: its name, which lamps show it, what is seen, and what it means.
    static var rows: [(sign: PanelSign, lamps: String, looks: String, meaning: String)] {
        signs.map { ($0, lamps(of: $0), $0.pattern.looks, $0.meaning) }
    }

    public static var text: String {
        let rows = rows
        let names = rows.map { $0.sign.rawValue.count }.max() ?? 0
        let looks = rows.map(\.looks.count).max() ?? 0
        return rows.map { row in
            pad(row.sign.rawValue, to: names) + "  " + pad(row.looks, to: looks) + "  " + row.lamps + "\n"
                + pad("", to: names) + "  " + row.meaning + "\n"
        }.joined()
    }

    /// For the operator's guide.
    public static var markdown: String {
        "| sign | lamp | what it does | what it means |\n|---|---|---|---|\n"
            + rows.map { "| `\($0.sign.rawValue)` | \($0.lamps) | \($0.looks) | \($0.meaning) |\n" }.joined()
    }

    /// One line; spans in milliseconds, alternating, beginning with lit.
    public static var json: String {
        "{"
            + PanelSign.allCases.map { sign in
                "\"\(sign.rawValue)\":[" + sign.pattern.spans.map(String.init).joined(separator: ",") + "]"
            }.joined(separator: ",") + "}\n"
    }

    private static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    // MARK: Which lamp shows what

    /// Every lamp on which a sign can appear, found by trying every state.
    static func lamps(of sign: PanelSign) -> String {
        let isAlone = appears(sign, isAlone: true)
        let lamps = Lamp.allCases.filter { appears(sign, on: $0) }
        guard lamps != Lamp.allCases else { return "all" }
        var places = lamps.isEmpty ? [] : [lamps.map(\.rawValue).joined(separator: ", ")]
        if isAlone, !lamps.contains(.status) { places.append("status where it is the only lamp") }
        return places.joined(separator: "; ")
    }

    private static func appears(_ sign: PanelSign, on lamp: Lamp) -> Bool {
        states.contains { PanelFace.sign(of: lamp, in: $0, gesture: nil, isAlone: false) == sign }
            || (lamp == .status && gestures.contains(sign))
    }

    private static func appears(_ sign: PanelSign, isAlone: Bool) -> Bool {
        states.contains { PanelFace.sign(of: .status, in: $0, gesture: nil, isAlone: isAlone) == sign }
    }

    private static let gestures: [PanelSign] = [.wipeArming, .wipeArmed, .wipeConfirm]

    private static var states: [PanelState] {
        let changes: [(inout PanelState) -> Void] = [
            { _ in }, { $0.isStarting = true }, { $0.hasFault = true }, { $0.isClockTrusted = false },
            { $0.tor = .unreachable }, { $0.tor = .connecting(percent: 0) }, { $0.tor = .connecting(percent: 99) },
            { $0.tor = .off }, { $0.isMeshAlive = false }, { $0.isInternetAlive = false },
            { $0.isMailWaiting = true }, { $0.wipe = .wiping }, { $0.wipe = .wiped }, { $0.wipe = .failed },
        ]
        return changes.map { change in
            var state = PanelState()
            state.isStarting = false
            state.isClockTrusted = true
            state.tor = .ready
            state.isMeshAlive = true
            state.isInternetAlive = true
            change(&state)
            return state
        }
    }
}

extension LampPattern {
    /// What is seen, in words.
    var looks: String {
        guard spans.count > 1 else { return spans.isEmpty ? "dark" : "lit" }
        let lit = stride(from: 0, to: spans.count, by: 2).map { spans[$0] }
        let dark = stride(from: 1, to: spans.count, by: 2).map { spans[$0] }
        if spans.count > 4, spans[0] > spans[spans.count - 1], zip(spans, spans.dropFirst()).allSatisfy({ $0 >= $1 }) {
            return "blinks faster and faster, for \(LampPattern.seconds(period)) s"
        }
        let every = "every \(LampPattern.seconds(period)) s"
        if lit.count <= 2, lit.reduce(0, +) * 5 > period * 3, let gap = dark.first {
            return "lit, and dark \(dark.count == 1 ? "once" : "twice") for \(LampPattern.seconds(gap)) s \(every)"
        }
        if lit.count == 1, lit == dark {
            let rate = period <= 200 ? "flickers" : "blinks"
            return "\(rate), \(LampPattern.seconds(lit[0])) s lit and \(LampPattern.seconds(dark[0])) s dark"
        }
        var groups: [(count: Int, span: Int)] = []
        for span in lit {
            if let last = groups.last, last.span == span {
                groups[groups.count - 1].count += 1
            } else {
                groups.append((1, span))
            }
        }
        let flashes = groups.map { group in
            "\(group.count) \(group.count == 1 ? "flash" : "flashes") of \(LampPattern.seconds(group.span)) s"
        }
        return flashes.joined(separator: ", ") + " " + every
    }

    /// Thousandths in the shortest decimal form.
    static func seconds(_ milliseconds: Int) -> String {
        var fraction = String(milliseconds % 1_000 + 1_000).dropFirst()
        while fraction.last == "0" { fraction = fraction.dropLast() }
        return "\(milliseconds / 1_000)" + (fraction.isEmpty ? "" : "." + fraction)
    }
}

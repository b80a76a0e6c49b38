/// What a beginning of a typed line may become.
struct ChatCompletion {
    let names: [String]

    /// Whole lines, in order; none when nothing fits.
    func lines(beginningWith typed: String) -> [String] {
        guard typed.hasPrefix("/") else { return [] }
        guard let space = typed.firstIndex(of: " ") else {
            return ChatHelp.commands.filter { $0.hasPrefix(typed) }.map { $0 + " " }
        }
        let command = String(typed[..<space])
        let beginning = typed[typed.index(after: space)...]
        guard ChatHelp.commandsAboutPeople.contains(command) else { return [] }
        // A name that a terminal cannot show as it is would be typed blindly.
        let fitting = names.filter { $0.hasPrefix(beginning) && TerminalText.escape($0) == $0 }
        return fitting.map { "\(command) \($0) " }
    }

    /// What all of them begin with.
    static func common(_ lines: [String]) -> String {
        guard var common = lines.first else { return "" }
        for line in lines.dropFirst() { common = String(zip(common, line).prefix { $0 == $1 }.map(\.0)) }
        return common
    }
}

extension ChatPeer {
    /// Completes what was typed before the cursor.
    /// - Returns: what to insert behind it, and what to choose from when that is not all.
    public func complete(_ typed: String) -> (insertion: String, choices: [String]) {
        let lines = ChatCompletion(names: people.names).lines(beginningWith: typed)
        let insertion = String(ChatCompletion.common(lines).dropFirst(typed.count))
        return (insertion, insertion.isEmpty && lines.count > 1 ? lines : [])
    }
}

import Nostr
import Wire

/// One line typed into the chat console, understood.
enum ChatCommand: Equatable {
    case nothing
    case say(String)
    case join(geohash: String)
    case joinMesh
    case who
    case bridge(Bool)
    case nickname(String)
    /// Whom, and what; yet to be told apart.
    case message(String)
    /// Whom, and which ways there are to them.
    case why(String)
    /// A code of somebody who need not be in reach.
    case add(String)
    /// Whose; the person's own when empty.
    case fingerprint(String)
    /// A code, a name, or a name and a fingerprint; the person's own code when empty.
    case verify(String)
    case unverify(String)
    case favorite(String, Bool)
    case block(String, Bool)
    case help
    case quit
    /// Cannot be done, and why.
    case refused(String)

    init(_ line: String) {
        let text = TextTrimming.trim(line)
        guard text.hasPrefix("/") else {
            self = text.isEmpty ? .nothing : .say(text)
            return
        }
        let words = text.split(separator: " ", maxSplits: 1)
        let rest = words.count == 2 ? TextTrimming.trim(String(words[1])) : ""
        switch words[0] {
        case "/j", "/join": self = ChatCommand.join(rest)
        case "/w", "/who": self = .who
        case "/bridge":
            self =
                rest == "on"
                ? .bridge(true) : rest == "off" ? .bridge(false) : .refused("use /bridge on or /bridge off")
        case "/nick":
            self =
                Nickname.announceable(rest).map { .nickname($0) }
                ?? .refused(
                    "a name has \(Nickname.lengths.lowerBound) to \(Nickname.lengths.upperBound) visible characters")
        case "/m", "/msg": self = rest.isEmpty ? .refused("use /msg NAME TEXT") : .message(rest)
        case "/why": self = ChatCommand.about(rest, words[0], .why(rest))
        case "/add": self = rest.isEmpty ? .refused("use /add CODE, with the code they see at /verify") : .add(rest)
        case "/fingerprint": self = .fingerprint(rest)
        case "/verify": self = .verify(rest)
        case "/unverify": self = ChatCommand.about(rest, words[0], .unverify(rest))
        case "/fav": self = ChatCommand.about(rest, words[0], .favorite(rest, true))
        case "/unfav": self = ChatCommand.about(rest, words[0], .favorite(rest, false))
        case "/block": self = ChatCommand.about(rest, words[0], .block(rest, true))
        case "/unblock": self = ChatCommand.about(rest, words[0], .block(rest, false))
        case "/help", "/?": self = .help
        case "/q", "/quit": self = .quit
        default: self = .refused("there is no such command; /help lists them")
        }
    }

    private static func about(_ name: String, _ word: Substring, _ command: ChatCommand) -> ChatCommand {
        name.isEmpty ? .refused("use \(word) NAME") : command
    }

    private static func join(_ text: String) -> ChatCommand {
        if text == "#mesh" || text == "mesh" { return .joinMesh }
        let geohash = text.hasPrefix("#") ? String(text.dropFirst()) : text
        guard Geohash.isCanonical(geohash) else {
            return .refused("use /j #mesh, or /j with a lower-case geohash such as u4pruy")
        }
        return .join(geohash: geohash)
    }
}

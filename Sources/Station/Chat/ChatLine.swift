/// One thing that happened, as one line. Names and texts come from outside; `text` is safe to print.
public enum ChatLine: Equatable, Sendable {
    case message(name: String, text: String)
    case bridged(name: String, text: String)
    case channel(geohash: String, name: String, text: String)
    /// Said to this person only.
    case personal(name: String, isVerified: Bool, text: String)
    /// Said by this person to one other; the number is what later news of it names.
    case outgoing(number: Int, name: String, text: String)
    /// The text of a QR code.
    case code(String)
    /// About people and the console itself.
    case notice(String)
    case problem(String)

    public var text: String {
        switch self {
        case .message(let name, let text): ChatLine.said(name, text)
        case .bridged(let name, let text): "[bridge] " + ChatLine.said(name, text)
        case .channel(let geohash, let name, let text):
            "[#\(TerminalText.escape(geohash))] " + ChatLine.said(name, text)
        case .personal(let name, let isVerified, let text):
            (isVerified ? "[private, verified] " : "[private] ") + ChatLine.said(name, text)
        case .outgoing(let number, let name, let text):
            "[private \(number) to] " + ChatLine.said(name, text)
        case .code(let text): TerminalText.escape(text)
        case .notice(let text): "* " + TerminalText.escape(text)
        case .problem(let text): "! " + TerminalText.escape(text)
        }
    }

    /// A `>` in a name is escaped, so that no name can look like another one with something said.
    private static func said(_ name: String, _ text: String) -> String {
        "<\(TerminalText.escape(name, alsoEscaping: ">"))> \(TerminalText.escapeProse(text))"
    }
}

/// The control message by which one peer tells another that it made it a favourite: ordinary private message text,
/// not to be shown as chat (chapter 01 §10.1, chapter 05 §13.3).
public struct FavoriteNotice: Hashable, Sendable {
    public var isFavorite: Bool
    /// The sender's Nostr key.
    public var npub: String?

    public init(isFavorite: Bool, npub: String? = nil) {
        self.isFavorite = isFavorite
        self.npub = npub
    }

    private static let favorited = "[FAVORITED]"
    private static let unfavorited = "[UNFAVORITED]"

    /// `nil` for text that is no such notice. The beginning decides; the key stands between the first two colons.
    public init?(content: String) {
        let text = content.utf8
        guard text.starts(with: Self.favorited.utf8) || text.starts(with: Self.unfavorited.utf8) else { return nil }
        let parts = content.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        let npub = parts.count > 1 && !parts[1].isEmpty ? String(parts[1]) : nil
        self.init(isFavorite: text.starts(with: Self.favorited.utf8), npub: npub)
    }

    public var content: String {
        (isFavorite ? Self.favorited : Self.unfavorited) + (npub.map { ":" + $0 } ?? "")
    }
}

/// How posts are told apart, and how many deletions are kept (chapter 04 §11.4).
struct BoardPolicy: Sendable {
    /// By ID and author together. Phones go by the ID alone, so that whoever sees a post can keep it, or its deletion,
    /// from nodes that lack it by being there first with the same ID under another key (T8).
    var tellsAuthorsApart: Bool
    /// All tombstones, those of posts that were held here included.
    var tombstones: Int

    /// The policy of gateways.
    static let gateway = BoardPolicy(tellsAuthorsApart: true, tombstones: BoardLimits.tombstones)
    /// The policy of phones.
    static let reference = BoardPolicy(tellsAuthorsApart: false, tombstones: .max)
}

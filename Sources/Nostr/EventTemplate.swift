import Crypto

/// What an author decides about an event: everything but key and time.
public struct EventTemplate: Hashable, Sendable {
    public var kind: Int
    public var tags: [[String]]
    public var content: String

    public init(kind: Int, tags: [[String]] = [], content: String = "") {
        self.kind = kind
        self.tags = tags
        self.content = content
    }

    /// The unsigned event.
    public func event(author: NostrPublicKey, createdAt: Int64) -> NostrEvent {
        NostrEvent(pubkey: author.hex, createdAt: createdAt, kind: kind, tags: tags, content: content)
    }

    /// Whether receivers' structural limits admit it (chapter 05 §1.1).
    public var isWithinLimits: Bool {
        tags.count <= NostrLimits.tagsPerEvent
            && tags.allSatisfy { tag in
                tag.count <= NostrLimits.valuesPerTag
                    && tag.allSatisfy { $0.utf8.count <= NostrLimits.bytesPerTagValue }
            }
    }
}

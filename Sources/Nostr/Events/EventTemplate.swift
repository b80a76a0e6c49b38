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
}

import Basics

/// A subscription filter (NIP-01): an event matches when every present condition does.
public struct NostrFilter: Hashable, Sendable {
    public var ids: [String]?
    public var authors: [String]?
    public var kinds: [Int]?
    /// Conditions `#x`: the tag's letter and the values one of which a tag of that name must have first.
    public var tags: [Character: [String]]
    /// Unix seconds, inclusive.
    public var since: Int64?
    /// Unix seconds, inclusive.
    public var until: Int64?
    /// Most stored events wanted; says nothing about live ones.
    public var limit: Int?

    public init(
        ids: [String]? = nil, authors: [String]? = nil, kinds: [Int]? = nil, tags: [Character: [String]] = [:],
        since: Int64? = nil, until: Int64? = nil, limit: Int? = nil
    ) {
        self.ids = ids
        self.authors = authors
        self.kinds = kinds
        self.tags = tags
        self.since = since
        self.until = until
        self.limit = limit
    }

    /// Whether `event` satisfies every condition, values compared byte for byte. A relay can send anything under a
    /// subscription's id, so every event is matched again (chapter 05 §6.7).
    public func matches(_ event: NostrEvent) -> Bool { selects(event) && isInPeriod(event.createdAt) }

    /// All conditions but `since` and `until`.
    func selects(_ event: NostrEvent) -> Bool {
        if let kinds, !kinds.contains(event.kind) { return false }
        if let ids, !ids.contains(where: { $0.hasSameBytes(as: event.id) }) { return false }
        if let authors, !authors.contains(where: { $0.hasSameBytes(as: event.pubkey) }) { return false }
        return tags.allSatisfy { letter, values in
            let name = String(letter)
            return values.contains { event.hasTag(name, $0) }
        }
    }

    func isInPeriod(_ createdAt: Int64) -> Bool {
        if let since, createdAt < since { return false }
        if let until, createdAt > until { return false }
        return true
    }

    /// Compact JSON with sorted member names; what is unset is left out (chapter 05 §5.1).
    public func json() -> [UInt8] {
        var members: [(name: String, write: (inout JSONWriter) -> Void)] = []
        for (letter, values) in tags { members.append(("#" + String(letter), { $0.strings(values) })) }
        if let ids { members.append(("ids", { $0.strings(ids) })) }
        if let authors { members.append(("authors", { $0.strings(authors) })) }
        if let kinds { members.append(("kinds", { $0.array(kinds) { $0.integer(Int64($1)) } })) }
        if let since { members.append(("since", { $0.integer(since) })) }
        if let until { members.append(("until", { $0.integer(until) })) }
        if let limit { members.append(("limit", { $0.integer(Int64(limit)) })) }
        var writer = JSONWriter()
        writer.raw("{")
        for (index, member) in members.sorted(by: { $0.name < $1.name }).enumerated() {
            if index > 0 { writer.raw(",") }
            writer.string(member.name)
            writer.raw(":")
            member.write(&writer)
        }
        writer.raw("}")
        return writer.bytes
    }
}

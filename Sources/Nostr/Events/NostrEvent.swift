import Basics

/// A Nostr event as parsed or built; nothing about it is proven (chapter 05 §1). What acts on an event takes a
/// `VerifiedEvent`.
public struct NostrEvent: Hashable, Sendable {
    /// 64 lower-case hex digits when valid; empty when absent.
    public var id: String
    /// The author's x-only key, 64 lower-case hex digits when valid.
    public var pubkey: String
    /// Seconds since 1970-01-01T00:00:00Z.
    public var createdAt: Int64
    public var kind: Int
    /// Order is significant: it is hashed.
    public var tags: [[String]]
    public var content: String
    /// 128 hex digits when valid; nil when absent.
    public var sig: String?

    /// An event whose `id` is computed from the other fields.
    public init(
        pubkey: String, createdAt: Int64, kind: Int, tags: [[String]] = [], content: String, sig: String? = nil
    ) {
        self.init(id: "", pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content, sig: sig)
        id = computedID.hex
    }

    public init(
        id: String, pubkey: String, createdAt: Int64, kind: Int, tags: [[String]], content: String, sig: String?
    ) {
        self.id = id
        self.pubkey = pubkey
        self.createdAt = createdAt
        self.kind = kind
        self.tags = tags
        self.content = content
        self.sig = sig
    }

    /// The bytes the id is the SHA-256 of: `[0,"<pubkey>",<created_at>,<kind>,<tags>,"<content>"]` (chapter 05 §1.2).
    public var canonicalBytes: [UInt8] {
        var writer = JSONWriter(capacity: estimatedBytes)
        writer.raw("[0,")
        writer.string(pubkey)
        writer.raw(",")
        writer.integer(createdAt)
        writer.raw(",")
        writer.integer(Int64(kind))
        writer.raw(",")
        writer.array(tags) { $0.strings($1) }
        writer.raw(",")
        writer.string(content)
        writer.raw("]")
        return writer.bytes
    }

    /// The id these fields have, whatever `id` claims.
    public var computedID: EventID { EventID(hashing: canonicalBytes) }

    /// Compact JSON with the members in NIP-01 order; `sig` is left out when absent (chapter 05 §1.4).
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: estimatedBytes + 320)
        writer.raw("{\"id\":")
        writer.string(id)
        writer.raw(",\"pubkey\":")
        writer.string(pubkey)
        writer.raw(",\"created_at\":")
        writer.integer(createdAt)
        writer.raw(",\"kind\":")
        writer.integer(Int64(kind))
        writer.raw(",\"tags\":")
        writer.array(tags) { $0.strings($1) }
        writer.raw(",\"content\":")
        writer.string(content)
        if let sig {
            writer.raw(",\"sig\":")
            writer.string(sig)
        }
        writer.raw("}")
        return writer.bytes
    }

    private var estimatedBytes: Int {
        var count = 112 + pubkey.utf8.count + content.utf8.count
        for tag in tags {
            count += 4
            for value in tag { count += value.utf8.count + 4 }
        }
        return count
    }
}

extension NostrEvent {
    /// The first value of the first tag named `name`; names are compared byte for byte.
    public func firstValue(ofTag name: String) -> String? {
        for tag in tags where tag.count >= 2 && tag[0].hasSameBytes(as: name) { return tag[1] }
        return nil
    }

    /// Whether any tag named `name` has `value` as its first value, byte for byte.
    public func hasTag(_ name: String, _ value: String) -> Bool {
        tags.contains { $0.count >= 2 && $0[0].hasSameBytes(as: name) && $0[1].hasSameBytes(as: value) }
    }

    /// Expiry of NIP-40 in Unix seconds; nil without a usable `expiration` tag, and of drops: the envelope inside says
    /// itself when it ends, and only that counts (chapter 06 §5.6).
    public var expiration: Int64? {
        kind == EventKind.courierDrop ? nil : firstValue(ofTag: "expiration").flatMap { Int64($0) }
    }

    /// Whether receivers' structural limits admit it (chapter 05 §1.1).
    public var isWithinLimits: Bool {
        tags.count <= NostrLimits.tagsPerEvent
            && tags.allSatisfy { tag in
                tag.count <= NostrLimits.valuesPerTag
                    && tag.allSatisfy { $0.utf8.count <= NostrLimits.bytesPerTagValue }
            }
    }

    /// Kinds 20000–29999, which relays pass on and do not keep (NIP-01).
    public var isEphemeral: Bool { EventKind.isEphemeral(kind) }
}

extension String {
    /// Equality of the UTF-8 bytes. `==` is canonical equivalence, under which differently spelled tags and ids would
    /// be the same (chapter 05 §18.4).
    @inlinable public func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

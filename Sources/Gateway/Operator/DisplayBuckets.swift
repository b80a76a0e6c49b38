import Basics

/// Keeps one author, or one text, from filling the screen: 5 + 1/s of one sender and 3 + 0.5/s of one content
/// (chapter 05 §8.3). Proven work of 8 bits spares the sender's bucket only.
struct DisplayBuckets {
    private var senders = BucketTable(
        bucket: TokenBucket(capacity: GatewayLimits.senderBurst, perSecond: GatewayLimits.senderPerSecond))
    private var contents = BucketTable(
        bucket: TokenBucket(capacity: GatewayLimits.contentBurst, perSecond: GatewayLimits.contentPerSecond))

    /// A refused sender does not touch the content's bucket.
    mutating func admit(sender: String, text: String, provenWork: Int, at now: Instant) -> Bool {
        if provenWork < GatewayLimits.sparingWork, !senders.take(sender, at: now) { return false }
        return contents.take(ContentKey.name(of: text), at: now)
    }
}

/// At most 2000 buckets; when full, those idle for 10 minutes go, then the one refilled longest ago.
struct BucketTable {
    private let bucket: TokenBucket
    private var buckets: [String: (bucket: TokenBucket, used: Instant)] = [:]

    init(bucket: TokenBucket) { self.bucket = bucket }

    var count: Int { buckets.count }

    mutating func take(_ key: String, at now: Instant) -> Bool {
        if buckets[key] == nil, buckets.count >= GatewayLimits.displayBuckets { makeRoom(at: now) }
        var entry = buckets[key]?.bucket ?? bucket
        let taken = entry.take(at: now)
        buckets[key] = (entry, now)
        return taken
    }

    private mutating func makeRoom(at now: Instant) {
        buckets = buckets.filter { now - $0.value.used < GatewayLimits.displayBucketIdle }
        guard buckets.count >= GatewayLimits.displayBuckets else { return }
        let oldest = buckets.min { a, b in
            a.value.used != b.value.used ? a.value.used < b.value.used : a.key < b.key
        }
        if let oldest { buckets[oldest.key] = nil }
    }
}

/// What makes two texts the same for the content bucket: lower case, URLs without query and fragment, white space
/// collapsed, the first 256 characters (chapter 05 §8.3).
enum ContentKey {
    static let characters = 256
    /// Of the hash that is kept in place of the text: strangers' words do not lie in memory, and take no room.
    static let nameBytes = 16

    static func name(of text: String) -> String {
        Hex.encode(SHA256.hash(Array(of(text).utf8)).prefix(nameBytes))
    }

    static func of(_ text: String) -> String {
        // Bounded before the costly part: no word past the limit can matter, long URLs apart.
        let words = text.prefix(4 * characters).lowercased().split { $0.isWhitespace }
        return String(words.map(withoutQuery).joined(separator: " ").prefix(characters))
    }

    private static func withoutQuery(_ word: Substring) -> Substring {
        guard word.hasPrefix("http://") || word.hasPrefix("https://") else { return word }
        return word.prefix { $0 != "?" && $0 != "#" }
    }
}

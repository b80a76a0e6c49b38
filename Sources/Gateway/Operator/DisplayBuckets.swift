import Basics

/// Keeps one author, or one text, from filling the screen: 5 + 1/s of one sender and 3 + 0.5/s of one content
/// (chapter 05 §8.3). Proven work of 8 bits spares the sender's bucket only.
struct DisplayBuckets {
    private var senders = DisplayBuckets.table(GatewayLimits.senderBurst, perSecond: GatewayLimits.senderPerSecond)
    private var contents = DisplayBuckets.table(GatewayLimits.contentBurst, perSecond: GatewayLimits.contentPerSecond)

    static func table(_ burst: Double, perSecond: Double) -> BucketTable {
        BucketTable(
            bucket: TokenBucket(capacity: burst, perSecond: perSecond), capacity: GatewayLimits.displayBuckets,
            idle: GatewayLimits.displayBucketIdle)
    }

    /// A refused sender does not touch the content's bucket.
    mutating func admit(sender: String, text: String, provenWork: Int, at now: Instant) -> Bool {
        if provenWork < GatewayLimits.sparingWork, !senders.take(sender, at: now) { return false }
        return contents.take(ContentKey.name(of: text), at: now)
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

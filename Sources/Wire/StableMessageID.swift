import Basics

/// The ID of a public message that every node derives alike and that travels with it over bridges (chapter 01 §11.3).
public enum StableMessageID {
    /// First 32 lower-case hex digits of SHA-256 over `senderHex|timestamp|trimmed content`.
    public static func make(sender: PeerID, timestamp: WallTime, content: String) -> String {
        var hash = SHA256.Stream()
        hash.update(Array("\(sender.hex)|\(timestamp.milliseconds)|".utf8))
        hash.update(Array(TextTrimming.trim(content).utf8))
        return Hex.encode(hash.finish().prefix(16))
    }
}

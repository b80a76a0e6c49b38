import Basics
import Wire

/// The day-bound name under which a courier envelope waits for its addressee (chapter 01 §9.4). Computable by anybody
/// who knows the addressee's public key.
public enum CourierTag {
    public static let size = 16
    static let secondsPerDay: Int64 = 86_400
    static let label = Array("bitchat-courier-tag-v1".utf8)

    /// Days since the epoch in UTC; 0 before it.
    public static func day(unixSeconds: Int64) -> UInt32 { UInt32(clamping: unixSeconds / secondsPerDay) }

    /// The 16-byte tag of one day, as a sender computes it.
    public static func tag(for recipient: NoisePublicKey, day: UInt32) -> [UInt8] {
        var message = label
        message.append(bigEndian: day)
        return Array(HMACSHA256.code(of: message, key: recipient.bytes).prefix(size))
    }

    /// The tags of the day before, the day and the day after, as a matcher tests them.
    public static func candidates(for recipient: NoisePublicKey, day: UInt32) -> [[UInt8]] {
        let days = [day == 0 ? 0 : day - 1, day, day == .max ? .max : day + 1]
        return days.map { tag(for: recipient, day: $0) }
    }

    public static func candidates(for recipient: NoisePublicKey, at time: WallTime) -> [[UInt8]] {
        candidates(for: recipient, day: CourierEnvelope.day(at: time))
    }
}

import Basics
import Crypto

/// Bytes of drops that each neighbour is handed over its link. Anybody on the internet may leave any number for a
/// neighbour, whose tags follow from a public key. Mail left here by hand is not counted.
struct DropAirtime {
    /// A bucket that went unused until it is full again is as good as none.
    private var buckets = BucketTable(
        bucket: TokenBucket(capacity: CourierLimits.dropBurst, perSecond: CourierLimits.dropBytesPerSecond),
        capacity: CourierLimits.dropBuckets,
        idle: .seconds(CourierLimits.dropBurst / CourierLimits.dropBytesPerSecond))

    var count: Int { buckets.count }

    mutating func take(_ bytes: Int, for addressee: NoisePublicKey, at now: Instant) -> Bool {
        buckets.take(addressee.hex, cost: Double(bytes), at: now)
    }
}

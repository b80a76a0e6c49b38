import Basics
import Crypto

/// Bytes of drops that each neighbour is handed over its link. Anybody on the internet may leave any number for a
/// neighbour, whose tags follow from a public key. Mail left here by hand is not counted.
struct DropAirtime {
    private var buckets: [NoisePublicKey: (bucket: TokenBucket, used: Instant)] = [:]

    var count: Int { buckets.count }

    mutating func take(_ bytes: Int, for addressee: NoisePublicKey, at now: Instant) -> Bool {
        var bucket = buckets[addressee]?.bucket ?? makeBucket(at: now)
        defer { buckets[addressee] = (bucket, now) }
        return bucket.take(Double(bytes), at: now)
    }

    private mutating func makeBucket(at now: Instant) -> TokenBucket {
        if buckets.count >= CourierLimits.dropBuckets {
            let refill = Interval.seconds(CourierLimits.dropBurst / CourierLimits.dropBytesPerSecond)
            buckets = buckets.filter { now - $0.value.used < refill }
            let oldest = buckets.min { ($0.value.used, $0.key.peerID) < ($1.value.used, $1.key.peerID) }
            if buckets.count >= CourierLimits.dropBuckets, let oldest { buckets[oldest.key] = nil }
        }
        return TokenBucket(capacity: CourierLimits.dropBurst, perSecond: CourierLimits.dropBytesPerSecond)
    }
}

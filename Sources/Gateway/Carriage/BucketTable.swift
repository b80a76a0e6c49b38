import Basics

/// Token buckets by name, a bounded number; when full, those idle for long go, then the one used longest ago.
struct BucketTable {
    private let bucket: TokenBucket
    private let capacity: Int
    private let idle: Interval
    private var buckets: [String: (bucket: TokenBucket, used: Instant)] = [:]

    /// - Parameters:
    ///   - bucket: what each name begins with.
    ///   - idle: how long a bucket may go unused before it is forgotten first.
    init(bucket: TokenBucket, capacity: Int, idle: Interval) {
        self.bucket = bucket
        self.capacity = capacity
        self.idle = idle
    }

    var count: Int { buckets.count }

    mutating func take(_ key: String, cost: Double = 1, at now: Instant) -> Bool {
        if buckets[key] == nil, buckets.count >= capacity { makeRoom(at: now) }
        var entry = buckets[key]?.bucket ?? bucket
        let taken = entry.take(cost, at: now)
        buckets[key] = (entry, now)
        return taken
    }

    private mutating func makeRoom(at now: Instant) {
        buckets = buckets.filter { now - $0.value.used < idle }
        guard buckets.count >= capacity else { return }
        let oldest = buckets.min { a, b in
            a.value.used != b.value.used ? a.value.used < b.value.used : a.key < b.key
        }
        if let oldest { buckets[oldest.key] = nil }
    }
}

import Basics

/// How many links a controller holds: as configured, until it refuses one more. Its firmware does not say beforehand,
/// and the number depends on the roles (chapter 03 A5).
struct LearnedLimit {
    let configured: Int
    private var learned: (limit: Int, at: Instant)?

    init(configured: Int) { self.configured = configured }

    /// Links it may hold now. A learned limit is forgotten slowly: one more link for each period without a refusal.
    func current(at now: Instant) -> Int {
        guard let learned else { return configured }
        let periods = max(0, (now - learned.at).nanoseconds / BluetoothLimits.limitMemory.nanoseconds)
        return min(configured, learned.limit + Int(clamping: periods))
    }

    /// The controller refused a link while it held `count`. Without any, something else is wrong with it.
    mutating func refused(holding count: Int, at now: Instant) {
        guard count > 0, count <= current(at: now) else { return }
        learned = (count, now)
    }
}

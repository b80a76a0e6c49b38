import Basics

/// One service's limit on carriers and bytes sent in any 60 s (chapter 06 §3.4, §4.10).
public struct AirtimeBudget: Sendable {
    public let carriers: Int
    public let bytes: Int
    private var sends: [(at: Instant, bytes: Int)] = []

    public init(carriers: Int, bytes: Int = GatewayLimits.downlinkBytes) {
        self.carriers = carriers
        self.bytes = bytes
    }

    /// Carriers and bytes sent inside the window that ends at `now`.
    public func used(at now: Instant) -> (carriers: Int, bytes: Int) {
        sends.reduce(into: (0, 0)) { used, send in
            guard now - send.at <= GatewayLimits.window else { return }
            used.0 += 1
            used.1 += send.bytes
        }
    }

    /// Records a carrier of `size` bytes, or refuses it. The first one of a window always fits.
    mutating func take(_ size: Int, at now: Instant) -> Bool {
        sends.removeAll { now - $0.at > GatewayLimits.window }
        guard sends.count < carriers else { return false }
        guard sends.isEmpty || sends.reduce(size, { $0 + $1.bytes }) <= bytes else { return false }
        sends.append((now, size))
        return true
    }

    /// When a refused carrier is worth another try. At exactly 60 s the oldest send still counts, so the second try
    /// may come 50 ms later (chapter 06 §19.7).
    func nextTry(at now: Instant) -> Instant {
        let soonest = now + GatewayLimits.leastBudgetWait
        guard let oldest = sends.first else { return soonest }
        return max(soonest, oldest.at + GatewayLimits.window)
    }
}

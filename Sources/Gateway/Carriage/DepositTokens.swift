import Basics
import Wire

/// How many deposits each depositor may have checked: 10 in any 60 s (chapter 06 §3.2 step 4).
struct DepositTokens {
    private var windows: [PeerID: SlidingWindow] = [:]

    var depositors: Int { windows.count }

    /// Takes one token of `depositor`. It stays taken whatever becomes of the deposit: a forged signature must cost
    /// its sender something.
    mutating func take(for depositor: PeerID, at now: Instant) -> Bool {
        if windows[depositor] == nil, windows.count >= GatewayLimits.trackedDepositors {
            forgetIdle(at: now)
            guard windows.count < GatewayLimits.trackedDepositors else { return false }
        }
        return windows[depositor, default: DepositTokens.full].take(at: now)
    }

    mutating func removeAll() { windows.removeAll() }

    private mutating func forgetIdle(at now: Instant) {
        for (depositor, window) in windows {
            var window = window
            if window.count(at: now) == 0 { windows[depositor] = nil }
        }
    }

    private static let full = SlidingWindow(limit: GatewayLimits.depositTokens, window: GatewayLimits.window)
}

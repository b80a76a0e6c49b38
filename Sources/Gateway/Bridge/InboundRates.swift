import Basics
import Crypto

/// How many rendezvous events are accepted: 600 in any 60 s, 120 of one public key (chapter 06 §4.8 step 7).
struct InboundRates {
    private var total = SlidingWindow(limit: GatewayLimits.inboundEvents, window: GatewayLimits.window)
    private var byKey: [NostrPublicKey: SlidingWindow] = [:]

    var keys: Int { byKey.count }

    mutating func admit(_ pubkey: NostrPublicKey, at now: Instant) -> Bool {
        guard total.count(at: now) < GatewayLimits.inboundEvents else { return false }
        if byKey.count >= GatewayLimits.trackedKeys, byKey[pubkey] == nil { forgetIdle(at: now) }
        guard byKey[pubkey, default: InboundRates.fullKey].take(at: now) else { return false }
        return total.take(at: now)
    }

    mutating func removeAll() {
        total.removeAll()
        byKey.removeAll()
    }

    private mutating func forgetIdle(at now: Instant) {
        for (key, window) in byKey {
            var window = window
            if window.count(at: now) == 0 { byKey[key] = nil }
        }
    }

    private static let fullKey = SlidingWindow(limit: GatewayLimits.inboundEventsEach, window: GatewayLimits.window)
}

import Crypto

/// Whose mail box carries for whom.
public struct CourierConfiguration: Sendable {
    /// The box's own key: mail sealed for it is opened, not carried.
    public let own: NoisePublicKey
    /// Whom the operator trusts with more room (chapter 06 §6.7).
    public internal(set) var trusted: Set<Fingerprint>
    public let quota: CourierQuota
    /// Leave carried mail at relays, and fetch there what is for neighbours.
    public internal(set) var usesRelays: Bool
    public let policy: CourierPolicy

    public init(
        own: NoisePublicKey, trusted: Set<Fingerprint> = [], quota: CourierQuota = CourierLimits.gateway,
        usesRelays: Bool = true, policy: CourierPolicy = .gateway
    ) {
        self.own = own
        self.trusted = trusted
        self.quota = quota
        self.usesRelays = usesRelays
        self.policy = policy
    }

    func tier(of depositor: NoisePublicKey) -> CourierTier {
        trusted.contains(depositor.fingerprint) ? .favorite : .verified
    }
}

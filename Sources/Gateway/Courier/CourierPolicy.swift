/// What a courier does of its own accord, beyond what peers can see on the wire.
public struct CourierPolicy: Hashable, Sendable {
    /// Neighbours whose mail relays are asked for (chapter 06 §5.5).
    public let watchedPeers: Int
    /// Pause after the first, second and every further confirmed copy, in milliseconds (chapter 06 §5.4).
    public let publicationPauses: [UInt64]
    /// Leaves mail at relays as soon as it is taken in, and not with the next refresh.
    public let publishesAtOnce: Bool
    /// Tries again to hand over a drop whose addressee had no proven link (chapter 06 §5.6).
    public let retriesDrops: Bool
    /// Asks on where relays had more than one answer holds.
    public let readsAllDrops: Bool

    /// A box that is always on.
    public static let gateway = CourierPolicy(
        watchedPeers: CourierLimits.watchedPeers, publicationPauses: CourierLimits.publicationPauses,
        publishesAtOnce: true, retriesDrops: true, readsAllDrops: true)
    /// What the apps do.
    public static let phone = CourierPolicy(
        watchedPeers: 16, publicationPauses: [1_800_000], publishesAtOnce: false, retriesDrops: false,
        readsAllDrops: false)
}

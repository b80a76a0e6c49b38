import Basics

/// Every bound of private messaging, with its source.
public enum MessengerLimits {
    // MARK: One-time prekeys (chapter 02 §7.7)

    /// Unconsumed keys in the published bundle.
    static let prekeyBatch = 8
    /// With fewer than this left, the batch is filled up.
    static let prekeyFloor = 3
    /// Milliseconds a consumed private key still opens redeliveries: 48 h.
    static let consumedPrekeyLife: UInt64 = 172_800_000
    /// Milliseconds an unconsumed key is offered: 30 d.
    static let prekeyLife: UInt64 = 2_592_000_000
    /// Milliseconds after which an unchanged bundle is dated anew, since senders refuse it after seven days: 6 d.
    static let prekeyRestamp: UInt64 = 518_400_000
    /// Consumed keys kept at once. Beyond the specification: whoever fetches bundles quickly could otherwise make the
    /// box keep any number for two days. The longest consumed goes first.
    static let consumedPrekeys = 256
    /// An unchanged bundle is broadcast at most so often (§7.8).
    static let bundleInterval = Interval.minutes(60)

    // MARK: Prekeys of others (chapter 02 §7.8)

    static let bundleOwners = 200
    /// Milliseconds a bundle may be old to seal to it: 7 d.
    static let bundleAge: UInt64 = 604_800_000

    // MARK: Mail (chapter 02 §7.5)

    /// Inner message IDs remembered as opened.
    static let openedMail = 512
}

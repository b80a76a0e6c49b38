import Clibsodium

/// libsodium's one-time start, which picks the fast implementations for this processor.
enum Sodium {
    /// Touched before keyed primitives; a lazy static is initialised once however many callers race for it. Were it
    /// ever false, the portable implementations would serve.
    static let isStarted: Bool = sodium_init() >= 0
}

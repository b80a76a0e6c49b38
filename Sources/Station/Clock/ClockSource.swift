import Basics

/// What mesh time is taken from, the least believed first.
public enum ClockSource: String, CaseIterable, Comparable, Sendable {
    /// The latest time ever known to be past, or what the system clock says when that is later. Nobody vouches for it.
    case lastKnown = "last-known"
    /// What the clocks of at least three peers agree on.
    case mesh
    /// The operator set it.
    case set
    /// What the clocks of relays agree on.
    case relays
    /// The configuration vouches for the system clock.
    case configured
    /// The kernel keeps the system clock in step with a time source.
    case synchronised

    /// The best that the machine itself has to say.
    init(ofSystem wall: WallTime, isSynchronised: Bool, isVouchedFor: Bool) {
        guard wall >= ClockLimits.floor else {
            self = .lastKnown
            return
        }
        self = isSynchronised ? .synchronised : isVouchedFor ? .configured : .lastKnown
    }

    /// Whether what it dates may be published. Below it no gateway or bridge bit is set either, since every receiver
    /// would refuse what a wrong clock has dated.
    public var isTrusted: Bool { self > .mesh }
    /// Whether it is more than a guess, so that connections whose safety rests on the time may be made.
    public var isProven: Bool { self > .lastKnown }

    public static func < (a: ClockSource, b: ClockSource) -> Bool { a.rank < b.rank }
    private var rank: Int { ClockSource.allCases.firstIndex(of: self) ?? 0 }
}

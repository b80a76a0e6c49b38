import Basics
import Ctimex

/// How far the wall clock is to be believed. Below `configured` nothing is published and no gateway or bridge bit is
/// set, since every receiver would refuse what a wrong clock has dated.
public enum ClockSource: String, CaseIterable, Sendable {
    /// The kernel keeps it in step with a time source.
    case synchronised
    /// The configuration vouches for it.
    case configured
    /// Nobody vouches for it.
    case unproven

    public var isTrusted: Bool { self != .unproven }

    /// A clock that stands before this release was made is wrong, whoever vouches for it.
    static let floor = WallTime(milliseconds: 1_767_225_600_000)

    static func judge(_ wall: WallTime, kernelSynchronised: Bool, configurationVouches: Bool) -> ClockSource {
        guard wall >= floor else { return .unproven }
        if kernelSynchronised { return .synchronised }
        return configurationVouches ? .configured : .unproven
    }

    /// Whether the kernel calls its clock synchronised.
    static var kernelIsSynchronised: Bool {
        var state = timex()
        let result = adjtimex(&state)
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0
    }
}

enum ClockLimits {
    /// How often a clock that is not trusted yet is looked at.
    static let recheck = Interval.seconds(10)
}

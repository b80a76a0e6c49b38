import Basics

extension WallTime {
    /// Milliseconds since `then`; none while the clock is behind it.
    func age(of then: WallTime) -> UInt64 { self > then ? milliseconds - then.milliseconds : 0 }

    /// What it was so long ago.
    func before(_ span: Interval) -> WallTime {
        let span = UInt64(max(0, span.milliseconds))
        return WallTime(milliseconds: milliseconds - min(milliseconds, span))
    }
}

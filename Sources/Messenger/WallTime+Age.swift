import Basics

extension WallTime {
    /// Milliseconds since `then`; none while the clock is behind it.
    func age(of then: WallTime) -> UInt64 { self > then ? milliseconds - then.milliseconds : 0 }
}

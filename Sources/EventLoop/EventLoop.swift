import Basics

/// What a watched descriptor is waiting for, or is ready for.
public struct IOInterest: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let read = IOInterest(rawValue: 1)
    public static let write = IOInterest(rawValue: 2)
}

/// The one loop everything runs on. Callbacks run on the loop's thread, one after another, and must not block.
public protocol EventLoop: AnyObject {
    /// Both clocks, read now.
    var now: Now { get }

    /// Runs `action` once, `delay` from now. The timer lives until it fires or is cancelled, even if not retained.
    @discardableResult
    func schedule(after delay: Interval, _ action: @escaping () -> Void) -> any Cancellable

    /// Calls `action` each time `descriptor` is ready for any of `interest` (level-triggered), until cancelled. The
    /// descriptor stays the caller's: cancel before closing it.
    func watch(_ descriptor: Int32, _ interest: IOInterest, _ action: @escaping (IOInterest) -> Void) -> any Cancellable

    /// Calls `action` each time the process receives `signal`.
    @discardableResult
    func onSignal(_ signal: Int32, _ action: @escaping () -> Void) -> any Cancellable

    /// Runs `action` in a later turn of the loop, after the callbacks already due.
    func enqueue(_ action: @escaping () -> Void)

    /// Runs until `stop`.
    func run()
    /// Makes `run` return after the current callback.
    func stop()
}

/// A registration with an event loop. Cancelling twice, or after a one-shot timer fired, does nothing.
public protocol Cancellable: AnyObject {
    func cancel()
}

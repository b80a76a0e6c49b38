import Basics

/// What a finger does with the one button (chapter 06 §11.5): a tap shows the status; a press of five seconds arms the
/// wipe, and a second one of a second within five confirms it. Whatever else happens cancels. Pure: levels and times
/// come in, events come out.
///
/// What counts is when things happened, not when they were heard of: no span is over before the level was seen behind
/// its end, and a change nobody told the time of is taken to have happened when it helps a wipe least.
public struct ButtonGesture: Sendable {
    public enum Event: Equatable, Sendable {
        case tapped
        /// The press goes on: the wipe will be armed at this time if it is held.
        case arming(until: Instant)
        /// Held long enough; let go, then press again.
        case armed
        /// Let go: the second press is waited for until this time.
        case awaitingConfirmation(until: Instant)
        case confirming
        case confirmed
        case cancelled
        /// Pressed at the start, or for longer than any finger presses: not listened to until it is let go.
        case stuck
        case freed
    }

    private enum Phase: Equatable {
        case idle
        case pressed(since: Instant)
        case arming(since: Instant)
        case armed(since: Instant)
        case awaiting(until: Instant)
        case confirming(since: Instant)
        /// Nothing counts until it is let go.
        case spent(since: Instant)
        case stuck
    }

    /// A level that is not known to last yet.
    private struct Change {
        /// From when it counts.
        let since: Instant
        /// When it has lasted long enough to be one.
        let settled: Instant
    }

    private var phase: Phase
    private var level: Bool
    private var change: Change?
    /// Up to here the level is known.
    private var seen: Instant
    private var events: [Event] = []
    private let debounce: Interval

    /// - Parameters:
    ///   - isPressed: the level when the line was opened.
    ///   - debounce: a level that holds for this long is one.
    public init(isPressed: Bool, at now: Instant, debounce: Interval = PanelLimits.debounce) {
        self.debounce = debounce
        level = isPressed
        seen = now
        phase = isPressed ? .stuck : .idle
        if isPressed { events = [.stuck] }
    }

    public var isStuck: Bool { phase == .stuck }

    /// The level last heard of.
    public var isActive: Bool { change == nil ? level : !level }

    /// The level changed at this time.
    public mutating func edge(_ isPressed: Bool, at then: Instant) {
        let then = max(then, seen)
        pass(until: then)
        guard isPressed != isActive else { return }
        change = isPressed == level ? nil : Change(since: then, settled: then + debounce)
    }

    /// The level as read now. When it is another than before, nobody told since when: a press counts from now, and a
    /// release from when the press was last seen.
    public mutating func read(_ isPressed: Bool, at now: Instant) {
        let now = max(now, seen)
        if isPressed != isActive {
            if let change, change.settled <= now { pass(until: change.settled) }
            change =
                isPressed == level ? nil : Change(since: isPressed ? now : seen, settled: now + debounce)
        }
        pass(until: now)
    }

    /// Edges were lost: whatever was begun is given up.
    public mutating func loseTrack() {
        switch phase {
        case .idle, .stuck, .spent: break
        case .pressed(let since): phase = .spent(since: since)
        case .arming(let since), .armed(let since), .confirming(let since): become(.spent(since: since), .cancelled)
        case .awaiting: become(.idle, .cancelled)
        }
    }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// When to read the level again.
    public var nextDeadline: Instant? { [change?.settled, phaseDeadline].compactMap { $0 }.min() }

    /// Nil while a change made before it is not known to be one.
    private var phaseDeadline: Instant? {
        guard let due = phaseEnd else { return nil }
        if let change, change.since < due { return nil }
        return due
    }

    private var phaseEnd: Instant? {
        switch phase {
        case .idle, .stuck: nil
        case .pressed(let since): since + PanelLimits.tap
        case .arming(let since): since + PanelLimits.arm
        case .armed(let since), .spent(let since): since + PanelLimits.stuck
        case .awaiting(let until): until
        case .confirming(let since): since + PanelLimits.confirmHold
        }
    }

    /// The level was as last heard of until this time: everything that became due by then, in its order.
    private mutating func pass(until then: Instant) {
        seen = then
        while let due = nextDeadline, due <= then {
            if let change, change.settled == due {
                self.change = nil
                level.toggle()
                changed(at: change.since)
            } else {
                elapsed(at: due)
            }
        }
    }

    private mutating func changed(at then: Instant) {
        switch (phase, level) {
        case (.idle, true): phase = .pressed(since: then)
        case (.pressed, false): become(.idle, .tapped)
        case (.arming, false), (.confirming, false): become(.idle, .cancelled)
        case (.armed, false):
            let until = then + PanelLimits.confirmWindow
            become(.awaiting(until: until), .awaitingConfirmation(until: until))
        case (.awaiting, true): become(.confirming(since: then), .confirming)
        case (.spent, false): phase = .idle
        case (.stuck, false): become(.idle, .freed)
        default: break
        }
    }

    private mutating func elapsed(at now: Instant) {
        switch phase {
        case .pressed(let since): become(.arming(since: since), .arming(until: since + PanelLimits.arm))
        case .arming(let since): become(.armed(since: since), .armed)
        case .armed: become(.stuck, .cancelled, .stuck)
        case .spent: become(.stuck, .stuck)
        case .awaiting: become(.idle, .cancelled)
        case .confirming(let since): become(.spent(since: since), .confirmed)
        case .idle, .stuck: break
        }
    }

    private mutating func become(_ next: Phase, _ reported: Event...) {
        phase = next
        events += reported
    }
}

import Basics

/// What a finger does with the one button (chapter 06 §11.5): a tap shows the status; a press of five seconds arms the
/// wipe, and a second one of a second within five confirms it. Whatever else happens cancels. Pure: levels and times
/// come in, events come out.
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

    private var phase: Phase
    private var level: Bool
    private var raw: Bool
    private var rawSince: Instant
    private var events: [Event] = []
    private let debounce: Interval

    /// - Parameters:
    ///   - isPressed: the level when the line was opened.
    ///   - debounce: a level that holds for this long is one.
    public init(isPressed: Bool, at now: Instant, debounce: Interval = PanelLimits.debounce) {
        self.debounce = debounce
        level = isPressed
        raw = isPressed
        rawSince = now
        phase = isPressed ? .stuck : .idle
        if isPressed { events = [.stuck] }
    }

    public var isStuck: Bool { phase == .stuck }

    /// The level as read now.
    public mutating func read(_ isPressed: Bool, at now: Instant) {
        timeout(at: now)
        if isPressed != raw {
            raw = isPressed
            rawSince = now
        }
    }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    public var nextDeadline: Instant? {
        let settled = raw != level ? rawSince + debounce : nil
        return [settled, phaseDeadline].compactMap { $0 }.min()
    }

    private var phaseDeadline: Instant? {
        switch phase {
        case .idle, .stuck: nil
        case .pressed(let since): since + PanelLimits.tap
        case .arming(let since): since + PanelLimits.arm
        case .armed(let since), .spent(let since): since + PanelLimits.stuck
        case .awaiting(let until): until
        case .confirming(let since): since + PanelLimits.confirmHold
        }
    }

    /// Lets time pass, in the order in which things became due.
    public mutating func timeout(at now: Instant) {
        while let due = nextDeadline, due <= now {
            // Where both are due, what the finger did counts from when it did it.
            if raw != level, rawSince + debounce == due {
                level = raw
                changed(at: rawSince)
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

import Basics

/// Every span and bound of the panel.
public enum PanelLimits {
    // MARK: Button (chapter 06 §11.5)

    /// A level that holds for this long is one: contacts bounce for less than 10 ms, and thumbs are slower.
    public static let debounce = Interval.milliseconds(30)
    /// A press let go before this shows the status; one held longer begins to arm.
    static let tap = Interval.seconds(1)
    /// A press held for this long arms the wipe.
    static let arm = Interval.seconds(5)
    /// How long the second press may be waited for, and how long it is held to confirm.
    static let confirmWindow = Interval.seconds(5)
    static let confirmHold = Interval.seconds(1)
    /// Edges taken in one turn of the loop: more than the kernel keeps.
    static let edgesAtATime = 64
    /// Edges the kernel keeps for a line. Where so many are waiting, some may be lost.
    static let edgesKept = 16
    /// A press that lasts longer is no finger.
    static let stuck = Interval.seconds(30)

    // MARK: Lamps

    /// How long a tap keeps the status on show.
    static let statusShown = Interval.seconds(20)

    /// How long the outcome of a wipe is shown before a tap can take it away (chapter 06 §11.5 I).
    static let outcomeShown = Interval.seconds(10)

    // MARK: Lines

    /// Pauses before a line that cannot be had is asked for again: permissions come late at boot. The last is repeated.
    static let retryPauses: [Interval] = [
        .seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30), .minutes(1),
    ]
    /// Chips looked at.
    static let chips = 64
    /// How often the button's level is read besides its edges, in case one was missed.
    static let buttonPoll = Interval.seconds(1)
}

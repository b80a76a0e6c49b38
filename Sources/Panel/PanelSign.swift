/// Everything a lamp can say, with the pattern it says it in. The one table: operators learn it, so a pattern once
/// shipped keeps its meaning.
public enum PanelSign: String, CaseIterable, Sendable {
    case dark
    /// Running, nothing to report.
    case well
    case starting
    /// The clock is not known to be right: nothing is published.
    case waitingForTime = "waiting-for-time"
    /// On the way to the internet: Tor cannot be reached, is below half, or above it.
    case torUnreachable = "tor-unreachable"
    case torBeginning = "tor-beginning"
    case torAlmost = "tor-almost"
    /// Going directly: relays see this box's address.
    case withoutTor = "without-tor"
    /// Where one lamp tells of everything: the way to the internet is as configured, and nobody answers there.
    case noRelay = "no-relay"
    /// Observed proof of life, as opposed to a lamp that stays on.
    case alive
    case silent
    case mailWaiting = "mail-waiting"
    /// Something needs the operator: bitgate status says what.
    case fault
    // The wipe.
    case wipeArming = "wipe-arming"
    case wipeArmed = "wipe-armed"
    case wipeConfirm = "wipe-confirm"
    case wiping
    case wiped
    case wipeFailed = "wipe-failed"

    public var pattern: LampPattern {
        switch self {
        case .dark, .silent: .off
        // It winks, so that a daemon that hangs does not look well.
        case .well: LampPattern(4_850, 150)
        case .starting: LampPattern(500, 500)
        case .waitingForTime: LampPattern(150, 2_850)
        case .torUnreachable: .flashes(2)
        case .torBeginning: .flashes(3)
        case .torAlmost: .flashes(4)
        case .withoutTor: LampPattern(2_700, 100, 100, 100)
        case .noRelay: LampPattern(900, 250, 150, 1_700)
        case .alive: LampPattern(1_900, 100)
        case .mailWaiting: LampPattern(1_000, 1_000)
        case .fault: .flashes(6)
        // A countdown: faster and faster from the end of a tap until it is armed.
        case .wipeArming:
            LampPattern(500, 500, 400, 400, 300, 300, 200, 200, 150, 150, 150, 150, 100, 100, 100, 100, 100, 100)
        case .wipeArmed: .on
        case .wipeConfirm: LampPattern(100, 100, 100, 700)
        case .wiping: LampPattern(60, 60)
        case .wiped: LampPattern(2_000, 1_000)
        // Three short, three long, three short.
        case .wipeFailed:
            LampPattern(200, 200, 200, 200, 200, 500, 600, 200, 600, 200, 600, 500, 200, 200, 200, 200, 200, 1_500)
        }
    }

    /// For the operator's table.
    public var meaning: String {
        switch self {
        case .dark: "nothing to say"
        case .well: "running; nothing to mend at the box"
        case .starting: "starting"
        case .waitingForTime: "waiting for a clock that can be trusted; nothing is published until then"
        case .torUnreachable: "no way through Tor: it is not there, or gets nowhere"
        case .torBeginning: "Tor is connecting, below half"
        case .torAlmost: "Tor is connecting, more than half"
        case .withoutTor: "on the internet without Tor, as configured: relays see this box's address"
        case .noRelay: "running, and no relay answers: what is said here stays within reach of the radio"
        case .alive: "heard lately"
        case .silent: "nothing heard lately"
        case .mailWaiting: "letters are waiting for people who are not here"
        case .fault: "something needs you: bitgate status says what"
        case .wipeArming: "keep holding to arm the wipe"
        case .wipeArmed: "armed: let go now"
        case .wipeConfirm: "press again for a second to destroy everything; wait to cancel"
        case .wiping: "destroying everything"
        case .wiped: "everything was destroyed; this is a new box"
        case .wipeFailed: "the wipe is NOT complete: data may remain, radios stay off; make the gesture again to retry"
        }
    }
}

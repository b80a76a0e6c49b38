import Basics

/// Every bound of adapter management.
enum ManagementLimits {
    /// Adapters served at a time; more are not looked at.
    static let adapters = 16
    /// Commands waiting behind the one under way, per adapter. The engine sends one at a time.
    static let waitingCommands = 32
    /// Longest event read. The longest ever sent is a report with 1,650 bytes of advertising data and as many of scan
    /// response; more is cut off by the kernel and refused here.
    static let longestEvent = 4_096
    /// Events taken in one turn of the loop.
    static let readBatch = 64
    /// Instances, connections or controllers read out of one answer.
    static let listEntries = 256
    /// Connections and questions remembered per adapter.
    static let links = 64
    /// Ends of connections and refusals of pairing waiting to be sent.
    static let waitingRequests = 16

    /// What the kernel answers out of its own memory.
    static let readLimit = Interval.seconds(10)
    /// The kernel works one command after another and waits up to 4 s for a connection being made among them.
    static let commandLimit = Interval.seconds(20)
    /// A serial controller may load firmware and restart.
    static let powerLimit = Interval.seconds(30)
    /// An answer that comes so long after its command's limit is still its own, and not the next one's.
    static let lateAnswer = Interval.seconds(60)
    /// Between attempts to open the channel, doubled from the first to the last.
    static let reopening = (first: Interval.seconds(1), last: Interval.seconds(60))
    /// Events can be lost without a sign when the socket's buffer is full, so the list of controllers is read again.
    static let listing = Interval.seconds(30)

    /// Maintenance tick: the kernel's advertising is compared with ours (chapter 03 A3).
    static let reconciliation = Interval.seconds(5)
    /// Settings and connections are compared with ours.
    static let inspection = Interval.seconds(30)
    /// An instance the kernel calls active may not be on the air, so it is removed and added again this often.
    static let refresh = Interval.seconds(60)
    /// After the kernel said that it is busy.
    static let busyPause = Interval.milliseconds(200)
    /// After an advertising or scan command failed.
    static let failurePause = Interval.seconds(1)
    /// Failures of one kind in a row before the controller is switched off and on.
    static let failures = 3

    /// Pause of advertising for an outgoing attempt, at most.
    static let longestAttempt = Interval.seconds(20)
    /// From the beginning of an attempt until it goes ahead, whether advertising and scanning have stopped or not.
    static let clearing = Interval.seconds(2)
    /// After it, advertising has the air for as long as the pause was, within these bounds.
    static let rest = (least: Interval.seconds(1), most: Interval.seconds(10))

    /// Discovery ends by itself after 10.24 s; one that lasts longer has been forgotten by the kernel.
    static let longestRound = Interval.seconds(20)
    /// From stopping a scan to restarting it for fresh reports (chapter 03 A4).
    static let freshScanDelay = Interval.milliseconds(100)
    /// Between two restarts for fresh reports.
    static let freshScanGap = Interval.seconds(2)
    /// Refusals "busy" in a row before somebody else's discovery is stopped.
    static let busyScans = 3
    /// One round of so many hears everybody: phones that name the service in its data alone (chapter 03 A4).
    static let openRoundEvery = 12
    /// Without a report for this long, a round hears everybody, not only the mesh: proof that the receiver works.
    static let silenceBeforeOpenRound = Interval.seconds(60)
    /// Without a report and without a link while scanning, a scan counts as dead (chapter 03 A13.6).
    static let deadScan = Interval.seconds(120)
    /// Dead scans before the controller is switched off and on (chapter 03 A13.6), and the most it grows to where
    /// nobody is around.
    static let deadRounds = (first: 3, most: 24)
    /// Longest pause of scanning for others' sake (chapter 03 A4).
    static let longestScanPause = Interval.seconds(5)

    /// Failed attempts in a row that count as one fault of the controller, doubled each time up to the most.
    static let connectFailures = (first: 10, most: 160)
    /// Between attempts to set a controller up that failed.
    static let setUpPauses: [Interval] = [.seconds(2), .seconds(5), .seconds(15), .seconds(60)]
    /// Failed set-ups in a row, each with a reset, that make a controller count as wedged.
    static let setUpFailures = 3
    /// Busy answers to one step of the set-up.
    static let busySteps = 20
    /// Between resets of a wedged controller, doubled from the first to the last.
    static let wedgedPauses = (first: Interval.seconds(30), last: Interval.minutes(10))
    /// Between looks at a controller that is blocked or switched off.
    static let blockedPause = Interval.seconds(5)
    /// The kernel resets a controller that reported a fault; what follows waits for it.
    static let faultPause = Interval.seconds(3)
    /// Set-ups because somebody changed the settings are at least this far apart, so that two owners do not fight.
    static let meddlingPause = Interval.minutes(10)

    /// Entries read under the directory of rfkill.
    static let switchEntries = 64
    /// Read of the table of routes.
    static let routeBytes = 16_384
}

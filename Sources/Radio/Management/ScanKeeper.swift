import Basics

/// Keeps discovery going as it is wanted: it ends by itself every ten seconds, and others may stop or start it.
struct ScanKeeper {
    var isWanted = false
    /// When the discovery that is on began.
    private(set) var since: Instant?
    private var mustRestart = false
    private var mayRefreshAt = Instant.zero
    private var notBefore: Instant?
    private var pausedUntil: Instant?
    /// The window of the duty cycle, when there is one.
    private var window: (isOn: Bool, ends: Instant)?
    private var refusals = 0
    private var failures = 0
    private var rounds = 0
    private let service: BluetoothUUID
    /// The controller shares its antenna with the Wi-Fi that is the uplink: scanning is never continuous.
    var sharesAntenna = false

    init(service: BluetoothUUID) { self.service = service }

    struct Cycle: Equatable {
        let on: Interval
        let off: Interval
    }

    /// The duty rule of chapter 03 A4 for a box on mains power: continuous, which nil means, unless the antenna is
    /// shared with Wi-Fi. Without a link to spare a scan is not wanted at all.
    static func cycle(sharesAntenna: Bool) -> Cycle? {
        sharesAntenna ? Cycle(on: .seconds(5), off: .seconds(10)) : nil
    }

    /// When `next` may have something to say without any event.
    func deadline(isPaused: Bool) -> Instant? {
        let always = [notBefore, since.map { $0 + ManagementLimits.longestRound }]
        let whenDue = isWanted && !isPaused ? [pausedUntil, window?.ends] : []
        return (always + whenDue).compactMap { $0 }.min()
    }

    /// The command that brings discovery closer to what is wanted.
    /// - Parameter hearsEverybody: whether a round that starts now is to report all advertisers.
    mutating func next(isPaused: Bool, hearsEverybody: Bool, at now: Instant) -> ManagementCommand? {
        if let pausedUntil, now >= pausedUntil { self.pausedUntil = nil }
        let isDue = isInWindow(at: now) && isWanted && !isPaused && pausedUntil == nil
        if let notBefore, now < notBefore { return nil }
        notBefore = nil
        if let since {
            return !isDue || mustRestart || now >= since + ManagementLimits.longestRound ? .stopDiscovery : nil
        }
        guard isDue else { return nil }
        if refusals >= ManagementLimits.busyScans { return .stopDiscovery }
        // The kernel's filter looks at lists of services only; what names ours elsewhere is heard without it.
        let isOpen = hearsEverybody || rounds % ManagementLimits.openRoundEvery == ManagementLimits.openRoundEvery - 1
        return isOpen ? .startDiscovery : .startServiceDiscovery(service)
    }

    /// Takes the end of a command that came from `next`.
    /// - Returns: false when the controller does not do what it is told, again and again.
    mutating func ended(_ command: ManagementCommand, _ outcome: ManagementOutcome, at now: Instant) -> Bool {
        switch (command, outcome) {
        case (.stopDiscovery, .refused(.rejected)) where refusals >= ManagementLimits.busyScans:
            // Busy with a scan that there is not: stopping it once failed in the controller, and only a reset helps.
            (since, refusals) = (nil, 0)
            notBefore = now + ManagementLimits.failurePause
            failures += 1
            return failures < ManagementLimits.failures
        case (.stopDiscovery, .success), (.stopDiscovery, .refused(.rejected)):
            // Refused means that there is none. A scan stopped for fresh reports starts anew a moment later.
            if mustRestart { notBefore = now + ManagementLimits.freshScanDelay }
            (since, mustRestart, refusals) = (nil, false, 0)
        case (.startDiscovery, .success), (.startServiceDiscovery, .success):
            (since, refusals, failures) = (now, 0, 0)
            rounds += 1
        case (_, .refused(.busy)):
            notBefore = now + ManagementLimits.failurePause
            refusals += 1
        default:
            (since, refusals) = (nil, 0)
            notBefore = now + ManagementLimits.failurePause
            failures += 1
            return failures < ManagementLimits.failures
        }
        return true
    }

    /// The kernel says that discovery ended.
    mutating func stopped() { (since, mustRestart) = (nil, false) }

    /// Asks for a new round soon, in which everybody is reported once more.
    mutating func refresh(at now: Instant) {
        guard since != nil, now >= mayRefreshAt else { return }
        mayRefreshAt = now + ManagementLimits.freshScanGap
        mustRestart = true
    }

    /// Whatever the last refresh was.
    mutating func restart() { mustRestart = since != nil }

    mutating func pause(for span: Interval, at now: Instant) {
        pausedUntil = now + min(max(span, .zero), ManagementLimits.longestScanPause)
    }

    private mutating func isInWindow(at now: Instant) -> Bool {
        guard let cycle = ScanKeeper.cycle(sharesAntenna: sharesAntenna) else {
            window = nil
            return true
        }
        guard let open = window else {
            window = (true, now + cycle.on)
            return true
        }
        if now >= open.ends { window = (!open.isOn, now + (open.isOn ? cycle.off : cycle.on)) }
        return window?.isOn ?? true
    }
}

import Basics

/// What an adapter's engine wants done, or said.
enum AdapterEffect: Equatable {
    /// Its end comes back with the token.
    case send(ManagementCommand, token: UInt64)
    /// Its answer does not matter.
    case post(ManagementCommand)
    /// Whether rfkill keeps the controller off; `switchRead` takes the answer.
    case readSwitch
    case up(BluetoothAddress)
    case down
    case clearedAir
    case heard(Sighting)
    case connected(BluetoothAddress)
    case disconnected(BluetoothAddress, reason: UInt8)
    case connectFailed(BluetoothAddress, status: UInt8)
}

/// One controller: sets it up, keeps it advertising and scanning as wanted, and brings it back from everything
/// controllers do. Knows neither sockets nor clocks: commands go out as effects, one at a time, and the next is derived
/// from what is wanted and what is known.
struct AdapterEngine {
    enum Phase: Equatable {
        case stopped
        case absent
        case blocked(RadioBlock)
        case poweredOff
        case settingUp
        case ready
        /// Setting up failed, or a reset waits for its time.
        case waiting
        case forbidden
        case unsuitable
    }

    /// Why a controller counts as wedged, which decides what proves the contrary.
    enum Wedge: Equatable { case silence, collisions }

    /// Whose command is under way.
    enum Purpose: Equatable { case setUp, advertising, scanning, request, inspection }

    struct Flight {
        let token: UInt64
        let command: ManagementCommand
        let purpose: Purpose
    }

    /// Tells it from the other adapters of the process, for as long as it lasts.
    let place: UInt16
    let configuration: AdapterConfiguration
    /// Codes of the commands the kernel knows; nil when it did not say.
    var knownCommands: Set<UInt16>?

    var phase = Phase.stopped
    var isPresent = false
    /// What rfkill says while there is no controller: a switch may have taken it off its bus.
    var absentBlock = RadioBlock.none
    var wedge: Wedge?
    /// The controller as it was when it was last set up.
    var controller: ControllerInformation?
    var ownAddress: BluetoothAddress?
    var upSince: Instant?
    var counters = Tally<AdapterEvent>()
    var lastReport: Instant?
    var lastTraffic: Instant?
    var lastAnswer: Instant?
    var flight: Flight?
    var setUp = SetUpProgress()
    var setUpFailures = 0
    var wedgedPause = ManagementLimits.wedgedPauses.first
    /// When to look again, in the phases that wait.
    var retryAt: Instant?
    /// The next reading of the switch decides whether to begin.
    var isPolling = false

    var advertising: AdvertisingKeeper
    var scanning: ScanKeeper
    var pause = AttemptPause()
    var ladder = RecoveryLadder()
    var deafness = DeafnessWatch()
    var links: Set<BluetoothAddress> = []
    var requests = Queue<ManagementCommand>()
    var reconcileAt = Instant.distantFuture
    var inspectAt = Instant.distantFuture
    var inspectsConnections = false
    var lastMeddling: Instant?

    private var effects = Queue<AdapterEffect>()
    private var nextToken: UInt64 = 0

    init(place: UInt16, configuration: AdapterConfiguration) {
        self.place = place
        self.configuration = configuration
        advertising = AdapterEngine.makeAdvertising(configuration, knownCommands: nil)
        scanning = ScanKeeper(service: configuration.service)
    }

    mutating func nextEffect() -> AdapterEffect? { effects.popFirst() }
    mutating func emit(_ effect: AdapterEffect) { effects.append(effect) }

    // MARK: Wishes

    mutating func start(at now: Instant) {
        guard phase == .stopped else { return }
        if isPresent { begin(at: now) } else { becomeAbsent(at: now) }
    }

    /// Stops advertising, scanning and links; discards queued effects.
    mutating func stop() {
        guard phase != .stopped else { return }
        // The kernel keeps the instance while the controller is being set up again or waits for it.
        let mayAdvertise = isPresent
        let ending = links.sorted { $0.value < $1.value }
        effects.removeAll()
        leave(for: .stopped)
        effects.removeAll()
        guard mayAdvertise else { return }
        // Advertising first: when a link ends, the kernel restarts advertising if it has an instance, even one that
        // is removed before it does so.
        emit(.post(.removeAdvertising(AdapterEngine.instanceNumber)))
        emit(.post(.stopDiscovery))
        for address in ending { emit(.post(.disconnect(ManagementAddress(address)))) }
    }

    mutating func setAdvertising(_ isWanted: Bool, at now: Instant) {
        advertising.isWanted = isWanted
        advance(at: now)
    }

    mutating func setScanning(_ isWanted: Bool, at now: Instant) {
        if isWanted, !scanning.isWanted { deafness.reset(at: now) }
        scanning.isWanted = isWanted
        advance(at: now)
    }

    mutating func pauseScanning(for span: Interval, at now: Instant) {
        scanning.pause(for: span, at: now)
        advance(at: now)
    }

    mutating func attemptBegan(at now: Instant) {
        pause.begin(at: now)
        advance(at: now)
    }

    mutating func attemptEnded(_ outcome: ConnectionOutcome, at now: Instant) {
        pause.end(at: now)
        switch outcome {
        case .connected: connectionProved(at: now)
        case .timedOut: attemptFailed(isCollision: false, at: now)
        case .failed(let error): attemptFailed(isCollision: error == AdapterEngine.collision, at: now)
        }
        advance(at: now)
    }

    mutating func disconnect(_ address: BluetoothAddress, at now: Instant) {
        guard phase == .ready else { return }
        request(.disconnect(ManagementAddress(address)))
        advance(at: now)
    }

    mutating func noteTraffic(at now: Instant) {
        lastTraffic = now
        connectionProved(at: now)
    }

    /// Scanning leaves the air to Wi-Fi most of the time, or does not.
    mutating func shareAntenna(_ isShared: Bool, at now: Instant) {
        scanning.sharesAntenna = isShared
        advance(at: now)
    }

    // MARK: The kernel

    /// The controller was found at start or plugged in again.
    mutating func appeared(knownCommands: Set<UInt16>?, at now: Instant) {
        self.knownCommands = knownCommands
        guard !isPresent || phase == .absent else { return }
        isPresent = true
        counters.count(.appeared)
        setUpFailures = 0
        if phase != .stopped { begin(at: now) }
    }

    mutating func disappeared(at now: Instant) {
        guard isPresent else { return }
        isPresent = false
        counters.count(.disappeared)
        if phase != .stopped { becomeAbsent(at: now) }
    }

    /// The process may not even open the channel.
    mutating func forbid() {
        guard phase != .stopped else { return }
        leave(for: .forbidden)
    }

    mutating func switchRead(_ block: RadioBlock, at now: Instant) {
        let isPoll = isPolling
        isPolling = false
        switch phase {
        case .absent: absentBlock = block
        case .blocked, .poweredOff:
            if block != .none {
                if phase == .poweredOff { counters.count(.blocked) }
                phase = .blocked(block)
            } else if isPoll {
                begin(at: now)
            }
        default: break
        }
    }

    mutating func ended(_ token: UInt64, _ outcome: ManagementOutcome, at now: Instant) {
        guard let flight, flight.token == token else { return }
        self.flight = nil
        if outcome == .timedOut { counters.count(.commandTimeout) }
        switch outcome {
        case .refused(.permissionDenied): return leave(for: .forbidden)
        case .refused(.invalidIndex):
            // It is gone, being set up again, or held exclusively by another program; the kernel reports its return.
            isPresent = false
            return becomeAbsent(at: now)
        default: break
        }
        switch phase {
        case .settingUp: setUpEnded(flight.command, outcome, at: now)
        case .ready: airEnded(flight, outcome, at: now)
        default: break
        }
        advance(at: now)
    }

    // MARK: Time

    var nextDeadline: Instant? {
        var deadlines = [retryAt]
        if phase == .ready {
            deadlines += [pause.deadline, pause.clearBy, deafness.deadline]
            if flight == nil {
                deadlines += [
                    reconcileAt, inspectAt, advertising.deadline(isPaused: pause.pausesAdvertising),
                    scanning.deadline(isPaused: pause.pausesScanning),
                ]
            }
        } else if phase == .settingUp, flight == nil {
            deadlines.append(setUp.notBefore)
        }
        return deadlines.compactMap { $0 }.min()
    }

    mutating func timeout(at now: Instant) {
        if let retryAt, now >= retryAt {
            self.retryAt = nil
            switch phase {
            case .waiting: begin(at: now)
            case .blocked, .poweredOff: poll(at: now)
            case .absent: lookAgain(at: now)
            default: break
            }
        }
        if phase == .ready {
            pause.expire(at: now)
            listenForSilence(at: now)
        }
        advance(at: now)
    }

    // MARK: Phases

    /// Leaves whatever phase there is; links, commands and questions of it are gone.
    mutating func leave(for next: Phase) {
        if phase == .ready { emit(.down) }
        phase = next
        flight = nil
        retryAt = nil
        isPolling = false
        links.removeAll()
        requests.removeAll()
        pause = AttemptPause()
        deafness.reset(at: nil)
        (reconcileAt, inspectAt) = (.distantFuture, .distantFuture)
        let (wasAdvertising, wasScanning) = (advertising.isWanted, scanning.isWanted)
        let sharesAntenna = scanning.sharesAntenna
        advertising = AdapterEngine.makeAdvertising(configuration, knownCommands: knownCommands)
        scanning = ScanKeeper(service: configuration.service)
        scanning.sharesAntenna = sharesAntenna
        (advertising.isWanted, scanning.isWanted) = (wasAdvertising, wasScanning)
    }

    /// Sets the controller up, from whatever state it is in.
    mutating func begin(at now: Instant) {
        leave(for: .settingUp)
        if upSince != nil { counters.count(.setUpAgain) }
        setUp = SetUpProgress()
        advance(at: now)
    }

    mutating func becomeReady(as address: BluetoothAddress, at now: Instant) {
        phase = .ready
        upSince = now
        setUpFailures = 0
        if wedge == .silence { unwedge() }
        deafness.reset(at: now)
        reconcileAt = now + ManagementLimits.reconciliation
        inspectAt = now + ManagementLimits.inspection
        emit(.up(address))
    }

    mutating func becomeAbsent(at now: Instant) {
        leave(for: .absent)
        lookAgain(at: now)
    }

    private mutating func lookAgain(at now: Instant) {
        retryAt = now + ManagementLimits.blockedPause
        emit(.readSwitch)
    }

    private mutating func poll(at now: Instant) {
        retryAt = now + ManagementLimits.blockedPause
        isPolling = true
        emit(.readSwitch)
    }

    /// The controller is off, and not by us.
    mutating func powerLost(at now: Instant) {
        leave(for: .poweredOff)
        lookAgain(at: now)
    }

    mutating func powerCycle(at now: Instant) {
        counters.count(.powerCycled)
        begin(at: now)
    }

    mutating func unwedge() {
        wedge = nil
        wedgedPause = ManagementLimits.wedgedPauses.first
    }

    /// Resets continue at growing intervals; restarting the process is left to its watchdog.
    mutating func becomeWedged(_ cause: Wedge, at now: Instant) {
        wedge = cause
        leave(for: .waiting)
        retryAt = now + wedgedPause
        wedgedPause = min(wedgedPause * 2, ManagementLimits.wedgedPauses.last)
    }

    // MARK: Commands

    /// Sends the next command, unless one is under way.
    mutating func advance(at now: Instant) {
        if phase == .ready { letAttemptGo(at: now) }
        guard flight == nil else { return }
        switch phase {
        case .settingUp:
            if let command = setUp.next(at: now) { send(command, for: .setUp) }
        case .ready:
            if let (command, purpose) = nextAirCommand(at: now) { send(command, for: purpose) }
        default: break
        }
    }

    private mutating func send(_ command: ManagementCommand, for purpose: Purpose) {
        nextToken += 1
        flight = Flight(token: nextToken, command: command, purpose: purpose)
        emit(.send(command, token: nextToken))
    }

    /// Queues a command that answers a moment; too many at once are left to the kernel's own timers.
    mutating func request(_ command: ManagementCommand) {
        guard requests.count < ManagementLimits.waitingRequests else { return }
        requests.append(command)
    }
}

import Basics

extension AdapterEngine {
    static let instanceNumber: UInt8 = 1
    /// EHOSTDOWN, which the kernel makes of a connection that failed with 0x3C: the attempt overlapped with advertising
    /// on a controller that cannot do both. No other error of LE becomes it.
    static let collision: Int32 = 112
    /// Codes of the two commands that add an instance with an interval of its own.
    private static let splitAdvertising: Set<UInt16> = [0x54, 0x55]

    static func makeAdvertising(
        _ configuration: AdapterConfiguration, knownCommands: Set<UInt16>?
    ) -> AdvertisingKeeper {
        // The kernel adds the flags field, and refuses one of ours.
        let instance = AdvertisingInstance(
            number: instanceNumber,
            advertisement: AdvertisingData.advertisement(service: configuration.service, withFlags: false))
        return AdvertisingKeeper(
            instance: instance, isSplitKnown: knownCommands.map { $0.isSuperset(of: splitAdvertising) } ?? true)
    }

    // MARK: The next command

    mutating func nextAirCommand(at now: Instant) -> (ManagementCommand, Purpose)? {
        if let request = requests.popFirst() { return (request, .request) }
        // Both make room for an attempt, which waits for neither.
        let scan = scanning.next(isPaused: pause.pausesScanning, hearsEverybody: isSilent(at: now), at: now)
        if let scan, pause.pausesScanning { return (scan, .scanning) }
        if let command = advertising.next(isPaused: pause.pausesAdvertising, at: now) {
            return (command, .advertising)
        }
        if let scan { return (scan, .scanning) }
        if now >= reconcileAt {
            reconcileAt = now + ManagementLimits.reconciliation
            return (.readAdvertisingFeatures, .inspection)
        }
        if now >= inspectAt {
            inspectAt = now + ManagementLimits.inspection
            inspectsConnections.toggle()
            return (inspectsConnections ? .readConnections : .readInformation, .inspection)
        }
        return nil
    }

    /// Lets an attempt go ahead once nothing is on the air, or it has waited long enough.
    mutating func letAttemptGo(at now: Instant) {
        guard let clearBy = pause.clearBy else { return }
        let isChanging = flight.map { $0.purpose == .advertising || $0.purpose == .scanning } ?? false
        let isClear = scanning.since == nil && (advertising.isOff || !pause.pausesAdvertising)
        guard now >= clearBy || isClear && !isChanging else { return }
        pause.cleared()
        emit(.clearedAir)
    }

    /// Nothing has been heard for so long that anybody at all would be welcome, as proof that the receiver works.
    private func isSilent(at now: Instant) -> Bool {
        guard let last = [lastReport, upSince].compactMap({ $0 }).max() else { return false }
        return now - last >= ManagementLimits.silenceBeforeOpenRound
    }

    mutating func airEnded(_ flight: Flight, _ outcome: ManagementOutcome, at now: Instant) {
        // The kernel gives up on a silent controller after two seconds. One that makes the kernel itself fall silent
        // needs a reset.
        if outcome == .timedOut { return powerCycle(at: now) }
        if case .success = outcome, flight.purpose == .advertising || flight.purpose == .scanning { lastAnswer = now }
        switch flight.purpose {
        case .advertising:
            let wasOnAir = advertising.isOnAir
            guard advertising.ended(flight.command, outcome, at: now) else { return powerCycle(at: now) }
            if advertising.isOnAir, !wasOnAir { counters.count(.advertisingRearmed) }
        case .scanning:
            let wasForgotten = scanning.since.map { now - $0 >= ManagementLimits.longestRound } ?? false
            guard scanning.ended(flight.command, outcome, at: now) else { return powerCycle(at: now) }
            if wasForgotten { counters.count(.scanRestarted) }
        case .inspection:
            guard case .success(let answer) = outcome else { return }
            inspect(flight.command, answer, at: now)
        case .request, .setUp: break
        }
    }

    private mutating func inspect(_ command: ManagementCommand, _ answer: [UInt8], at now: Instant) {
        switch command {
        case .readAdvertisingFeatures:
            guard let features = AdvertisingFeatures(parsing: answer) else { return counters.count(.badMessage) }
            if !advertising.compare(features.instances) { counters.count(.advertisingLost) }
        case .readInformation:
            guard let controller = ControllerInformation(parsing: answer) else { return counters.count(.badMessage) }
            settingsChanged(controller.current, at: now)
        case .readConnections:
            guard let list = ConnectionList(parsing: answer) else { return counters.count(.badMessage) }
            let current = Set(list.addresses.compactMap(\.lowEnergy).prefix(ManagementLimits.links))
            // The kernel drops events when nobody reads them fast enough.
            for address in links.subtracting(current).sorted(by: { $0.value < $1.value }) {
                emit(.disconnected(address, reason: 0))
            }
            links = current
        default: break
        }
    }

    // MARK: Events

    mutating func heard(_ event: ManagementEvent, at now: Instant) {
        guard phase == .ready else { return }
        switch event {
        case .controllerError: hardwareFailed(at: now)
        case .newSettings(let settings): settingsChanged(settings, at: now)
        case .deviceConnected(let address, let isOutgoing): connected(address, isOutgoing: isOutgoing, at: now)
        case .deviceDisconnected(let address, let reason): disconnected(address, reason: reason, at: now)
        case .connectFailed(let address, let status):
            if let address = address.lowEnergy { emit(.connectFailed(address, status: status.rawValue)) }
        case .pairingQuestion(let question, let address):
            // Nobody is asked anything, so there is nothing a phone's owner could be shown.
            switch question {
            case .pin: request(.denyPIN(address))
            case .confirmation: request(.denyConfirmation(address))
            case .passkey: request(.denyPasskey(address))
            }
        case .deviceFound(let report): found(report, at: now)
        case .discovering(let isOn): if !isOn { scanning.stopped() }
        case .advertisingAdded(let number):
            if number != AdapterEngine.instanceNumber { reconcileAt = now }
        case .advertisingRemoved(let number):
            if advertising.removed(number) { counters.count(.advertisingLost) }
        case .answer, .indexAdded, .indexRemoved: break
        }
        advance(at: now)
    }

    private mutating func connected(_ address: ManagementAddress, isOutgoing: Bool, at now: Instant) {
        guard let address = address.lowEnergy else { return }
        if links.count < ManagementLimits.links { links.insert(address) }
        deafness.heard(at: now)
        // The controller stops advertising when a phone connects; only adding the instance again restarts it.
        if !isOutgoing {
            connectionProved(at: now)
            advertising.doubt()
        }
        emit(.connected(address))
    }

    private mutating func disconnected(_ address: ManagementAddress, reason: UInt8, at now: Instant) {
        guard let address = address.lowEnergy else { return }
        links.remove(address)
        deafness.heard(at: now)
        advertising.doubt()
        scanning.refresh(at: now)
        emit(.disconnected(address, reason: reason))
    }

    private mutating func found(_ report: DeviceReport, at now: Instant) {
        lastReport = now
        deafness.heard(at: now)
        guard report.isConnectable, let address = report.address.lowEnergy else { return }
        let data = report.data.withUnsafeBytes { AdvertisingData(parsing: $0, service: configuration.service) }
        guard data.offersMesh else { return }
        emit(.heard(Sighting(address: address, rssi: report.rssi, peerHint: data.peerHint)))
    }

    private mutating func settingsChanged(_ current: AdapterSettings, at now: Instant) {
        guard current.contains(.powered) else { return powerLost(at: now) }
        if current.contains(.bondable) { request(.setBondable(false)) }
        guard !SetUpScript.isFit(current.subtracting(.bondable)) else { return }
        if let lastMeddling, now - lastMeddling < ManagementLimits.meddlingPause { return }
        lastMeddling = now
        begin(at: now)
    }

    private mutating func hardwareFailed(at now: Instant) {
        counters.count(.powerCycled)
        leave(for: .waiting)
        retryAt = now + ManagementLimits.faultPause
    }

    // MARK: Recovery

    /// A connection came about, or its data arrived.
    mutating func connectionProved(at now: Instant) {
        ladder.succeeded()
        deafness.heard(at: now)
        if wedge != nil { unwedge() }
    }

    mutating func attemptFailed(isCollision: Bool, at now: Instant) {
        guard phase == .ready else { return }
        counters.count(.connectFailed)
        if isCollision { counters.count(.advertisingCollision) }
        take(isCollision ? ladder.collided() : ladder.failed(), at: now)
    }

    mutating func listenForSilence(at now: Instant) {
        guard scanning.isWanted else { return deafness.reset(at: now) }
        if !links.isEmpty { deafness.heard(at: now) }
        let measure = deafness.check(at: now)
        guard measure != .none else { return }
        counters.count(.deadScan)
        take(measure, at: now)
    }

    private mutating func take(_ measure: RecoveryLadder.Measure, at now: Instant) {
        switch measure {
        case .none: break
        case .restartAir:
            advertising.suspect()
            counters.count(.scanRestarted)
            scanning.restart()
        case .powerCycle: powerCycle(at: now)
        case .giveUp: becomeWedged(.collisions, at: now)
        }
    }

    // MARK: Status

    var status: AdapterStatus {
        AdapterStatus(
            state: state, isAdvertising: phase == .ready && advertising.isOnAir,
            isScanning: phase == .ready && scanning.since != nil, lastReport: lastReport, lastTraffic: lastTraffic,
            lastAnswer: lastAnswer,
            counters: counters)
    }

    private var state: AdapterStatus.State {
        switch phase {
        case .stopped: return isPresent ? .poweredOff : .absent
        case .absent: return AdapterEngine.state(blockedBy: absentBlock) ?? .absent
        case .blocked(let block): return AdapterEngine.state(blockedBy: block) ?? .softBlocked
        case .forbidden: return .forbidden
        case .unsuitable: return .unsuitable
        case .poweredOff: return wedge == nil ? .poweredOff : .wedged
        case .settingUp, .waiting: return wedge == nil ? .settingUp : .wedged
        case .ready: return wedge == nil ? .ready : .wedged
        }
    }

    private static func state(blockedBy block: RadioBlock) -> AdapterStatus.State? {
        switch block {
        case .none: nil
        case .soft: .softBlocked
        case .hard: .hardBlocked
        }
    }
}

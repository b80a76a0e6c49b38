import Basics

/// How far setting up has come.
struct SetUpProgress {
    enum Stage: Equatable {
        case reading
        case steps
        case checking
        case features
    }

    private(set) var stage = Stage.reading
    private var steps: [SetUpScript.Step] = []
    private var position = 0
    private var refusals = 0
    private(set) var notBefore: Instant?

    /// The command that is due, nil while there is a reason to wait.
    mutating func next(at now: Instant) -> ManagementCommand? {
        if let notBefore, now < notBefore { return nil }
        notBefore = nil
        switch stage {
        case .reading, .checking: return .readInformation
        case .features: return .readAdvertisingFeatures
        case .steps: return step?.command
        }
    }

    /// The step that is due; nil before the script is written and after its end.
    var step: SetUpScript.Step? { position < steps.count ? steps[position] : nil }

    mutating func follow(_ script: SetUpScript) {
        steps = script.steps
        position = 0
        stage = .steps
    }

    mutating func stepDone() {
        position += 1
        refusals = 0
        if step == nil { stage = .checking }
    }

    mutating func checked() { stage = .features }

    /// - Returns: false when the kernel has been busy for too long.
    mutating func wait(at now: Instant) -> Bool {
        refusals += 1
        notBefore = now + ManagementLimits.busyPause
        return refusals < ManagementLimits.busySteps
    }
}

extension AdapterEngine {
    mutating func setUpEnded(_ command: ManagementCommand, _ outcome: ManagementOutcome, at now: Instant) {
        switch outcome {
        case .success(let answer):
            switch setUp.stage {
            case .reading: planSetUp(from: answer, at: now)
            case .steps: setUp.stepDone()
            case .checking: checkSetUp(answer, at: now)
            case .features: finishSetUp(answer, at: now)
            }
        case .refused(.busy):
            if !setUp.wait(at: now) { setUpFailed(at: now) }
        case .refused(.blocked): becomeBlocked(at: now)
        case .refused:
            guard let step = setUp.step, setUp.stage == .steps, !step.isEssential else { return setUpFailed(at: now) }
            setUp.stepDone()
        case .timedOut, .lost: setUpFailed(at: now)
        }
    }

    private mutating func planSetUp(from answer: [UInt8], at now: Instant) {
        guard let controller = ControllerInformation(parsing: answer) else {
            counters.count(.badMessage)
            return setUpFailed(at: now)
        }
        guard controller.supported.contains(.lowEnergy) else { return leave(for: .unsuitable) }
        let isRandom = configuration.ownAddress.isAlwaysRandom || controller.address == nil
        setUp.follow(
            SetUpScript(
                of: controller,
                staticAddress: isRandom ? configuration.ownAddress.staticAddress(ofAdapter: place) : 0))
    }

    private mutating func checkSetUp(_ answer: [UInt8], at now: Instant) {
        guard let controller = ControllerInformation(parsing: answer) else {
            counters.count(.badMessage)
            return setUpFailed(at: now)
        }
        guard SetUpScript.isFit(controller.current) else { return setUpFailed(at: now) }
        if controller.current.contains(.staticAddress) {
            ownAddress = BluetoothAddress(
                value: configuration.ownAddress.staticAddress(ofAdapter: place), kind: .random)
        } else {
            ownAddress = controller.address
        }
        guard ownAddress != nil else { return setUpFailed(at: now) }
        self.controller = controller
        setUp.checked()
    }

    private mutating func finishSetUp(_ answer: [UInt8], at now: Instant) {
        guard let features = AdvertisingFeatures(parsing: answer), let ownAddress else {
            counters.count(.badMessage)
            return setUpFailed(at: now)
        }
        guard features.canBeConnected else { return leave(for: .unsuitable) }
        _ = advertising.compare(features.instances)
        becomeReady(as: ownAddress, at: now)
    }

    private mutating func becomeBlocked(at now: Instant) {
        counters.count(.blocked)
        leave(for: .blocked(.soft))
        retryAt = now + ManagementLimits.blockedPause
        emit(.readSwitch)
    }

    /// Tries again later, each time with a reset. A controller that does not even come on is switched off as far as
    /// anybody can tell; one that fails again and again is wedged.
    private mutating func setUpFailed(at now: Instant) {
        let isOff = setUp.step?.command == .setPowered(true)
        setUpFailures += 1
        guard setUpFailures < ManagementLimits.setUpFailures else { return becomeWedged(.silence, at: now) }
        leave(for: isOff ? .poweredOff : .waiting)
        retryAt = now + ManagementLimits.setUpPauses[min(setUpFailures, ManagementLimits.setUpPauses.count) - 1]
        if isOff { emit(.readSwitch) }
    }
}

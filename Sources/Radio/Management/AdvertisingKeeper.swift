import Basics

/// Keeps one advertising instance as it is wanted, whatever the kernel does to it.
struct AdvertisingKeeper {
    enum Presence: Equatable {
        /// The kernel has no such instance.
        case absent
        case onAir
        /// The kernel has it, but it may not be on the air. Adding it again puts it there.
        case doubtful
        /// Only removing it first helps.
        case suspect
    }

    /// How instances are added.
    private enum Method {
        /// In two commands, with an interval of their own.
        case split
        /// In one, with the controller's default interval.
        case whole
    }

    private let instance: AdvertisingInstance
    var isWanted = false
    private(set) var presence = Presence.absent
    private var method: Method
    private var hasParameters = false
    /// Instances of others, which would take turns with ours.
    private var foreign: [UInt8] = []
    private var notBefore: Instant?
    private var refreshAt = Instant.distantFuture
    private var failures = 0
    private var refusals = 0

    init(instance: AdvertisingInstance, isSplitKnown: Bool) {
        self.instance = instance
        method = isSplitKnown ? .split : .whole
    }

    var isOnAir: Bool { presence == .onAir }
    /// Whether nothing is advertised at all.
    var isOff: Bool { presence == .absent && foreign.isEmpty }

    /// When `next` may have something to say without any event.
    func deadline(isPaused: Bool) -> Instant? {
        if let notBefore { return notBefore }
        return isWanted && !isPaused && presence == .onAir ? refreshAt : nil
    }

    /// The command that brings the kernel's instances closer to what is wanted.
    mutating func next(isPaused: Bool, at now: Instant) -> ManagementCommand? {
        if let notBefore, now < notBefore { return nil }
        notBefore = nil
        if let other = foreign.popLast() { return .removeAdvertising(other) }
        guard isWanted, !isPaused else {
            hasParameters = false
            return presence == .absent ? nil : .removeAdvertising(instance.number)
        }
        if presence == .onAir, now >= refreshAt { presence = .suspect }
        switch presence {
        case .onAir: return nil
        case .suspect: return .removeAdvertising(instance.number)
        case .absent, .doubtful:
            guard method == .split else { return .addAdvertising(instance) }
            return hasParameters ? .setAdvertisingData(instance) : .setAdvertisingParameters(instance)
        }
    }

    /// Takes the end of a command that came from `next`.
    /// - Returns: false when the controller does not do what it is told, again and again.
    mutating func ended(_ command: ManagementCommand, _ outcome: ManagementOutcome, at now: Instant) -> Bool {
        switch (command, outcome) {
        case (.removeAdvertising(let number), .success),
            (.removeAdvertising(let number), .refused(.invalidParameters)):
            // Refused means that there is none.
            if number == instance.number { presence = .absent }
            hasParameters = false
        case (.setAdvertisingParameters, .success):
            presence = .doubtful
            hasParameters = true
        case (.addAdvertising, .success), (.setAdvertisingData, .success):
            presence = .onAir
            hasParameters = false
            refreshAt = now + ManagementLimits.refresh
            failures = 0
        case (_, .refused(.busy)):
            notBefore = now + ManagementLimits.busyPause
            refusals += 1
            return refusals < ManagementLimits.busySteps
        case (.setAdvertisingParameters, .refused), (.setAdvertisingData, .refused):
            // Whatever it is that this kernel or controller cannot do, the older command may do.
            method = .whole
            hasParameters = false
            presence = .suspect
            return true
        default:
            presence = .suspect
            notBefore = now + ManagementLimits.failurePause
            failures += 1
            return failures < ManagementLimits.failures
        }
        refusals = 0
        return true
    }

    /// Something happened after which the kernel may have taken it off the air.
    mutating func doubt() { if presence == .onAir { presence = .doubtful } }

    mutating func suspect() { if presence != .absent { presence = .suspect } }

    /// Compares with the instances the kernel has.
    /// - Returns: false when it lacks or has ours against expectation.
    mutating func compare(_ instances: [UInt8]) -> Bool {
        foreign = instances.filter { $0 != instance.number }
        let isThere = instances.contains(instance.number)
        if presence == .absent {
            guard isThere else { return true }
            presence = .suspect
            return false
        }
        guard !isThere else { return true }
        presence = .absent
        hasParameters = false
        return false
    }

    /// Somebody else removed an instance.
    /// - Returns: whether it was ours.
    mutating func removed(_ number: UInt8) -> Bool {
        guard number == instance.number, presence != .absent else { return false }
        presence = .absent
        hasParameters = false
        return true
    }
}

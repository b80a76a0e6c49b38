/// Decides what is done about a controller that makes no connections.
struct RecoveryLadder {
    enum Measure: Equatable {
        case none
        /// Advertising and scanning off and on again.
        case restartAir
        /// The controller off and on again.
        case powerCycle
        /// Nothing more can be done from here.
        case giveUp
    }

    private var collisions = 0
    private var failures = 0
    private var hasRestarted = false
    private var threshold = ManagementLimits.connectFailures.first

    /// A connection came about.
    mutating func succeeded() { self = RecoveryLadder() }

    /// The controller refused because it was advertising: it does so until it is brought to its senses.
    mutating func collided() -> Measure {
        collisions += 1
        return collisions == 1 ? .restartAir : collisions == 2 ? .powerCycle : .giveUp
    }

    /// An attempt failed or was given up. One proves nothing: the neighbour may have left.
    mutating func failed() -> Measure {
        failures += 1
        guard failures >= threshold else { return .none }
        failures = 0
        hasRestarted.toggle()
        guard !hasRestarted else { return .restartAir }
        // Neighbours nobody can connect to must not switch the radio off all the time.
        threshold = min(threshold * 2, ManagementLimits.connectFailures.most)
        return .powerCycle
    }
}

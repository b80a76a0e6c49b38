import Basics

/// Notices a receiver that hears nothing any more (chapter 03 A13.6).
struct DeafnessWatch {
    private var last: Instant?
    private var rounds = 0
    private var threshold = ManagementLimits.deadRounds.first

    var deadline: Instant? { last.map { $0 + ManagementLimits.deadScan } }

    /// A report was heard, or there is a link.
    mutating func heard(at now: Instant) {
        last = now
        (rounds, threshold) = (0, ManagementLimits.deadRounds.first)
    }

    /// Counting begins, or begins anew, since nobody listens.
    mutating func reset(at now: Instant?) { last = now }

    mutating func check(at now: Instant) -> RecoveryLadder.Measure {
        guard let last, now - last >= ManagementLimits.deadScan else { return .none }
        self.last = now
        rounds += 1
        guard rounds >= threshold else { return .restartAir }
        rounds = 0
        threshold = min(threshold * 2, ManagementLimits.deadRounds.most)
        return .powerCycle
    }
}

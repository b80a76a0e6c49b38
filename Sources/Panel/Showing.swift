import Basics

/// What a tap shows for a while: every lamp lit for a second, so that a broken one is seen, then the status. A lone
/// lamp shows mesh, internet and mail one after another.
struct Showing {
    let began: Instant

    private static let test = Interval.seconds(1)
    private static let turn = Interval.seconds(5)
    private static let gap = Interval.seconds(1)
    private static let turns: [Lamp] = [.mesh, .internet, .mail]

    enum Scene: Equatable {
        case everyLamp
        /// What the lamp would show otherwise.
        case status
        /// The lone lamp in the place of another.
        case other(Lamp)
        case dark
        case over
    }

    func scene(isAlone: Bool, at now: Instant) -> Scene {
        var rest = now - began - Showing.test
        if rest < .zero { return .everyLamp }
        guard isAlone else { return now - began < PanelLimits.statusShown ? .status : .over }
        for lamp in Showing.turns {
            if rest < Showing.gap { return .dark }
            rest = rest - Showing.gap
            if rest < Showing.turn { return .other(lamp) }
            rest = rest - Showing.turn
        }
        return .over
    }

    /// The next change of scene.
    func nextChange(isAlone: Bool, after now: Instant) -> Instant? {
        let elapsed = now - began
        var changes = [Showing.test]
        if isAlone {
            for _ in Showing.turns {
                let last = changes[changes.count - 1]
                changes += [last + Showing.gap, last + Showing.gap + Showing.turn]
            }
        } else {
            changes.append(PanelLimits.statusShown)
        }
        return changes.first { $0 > elapsed }.map { began + $0 }
    }
}

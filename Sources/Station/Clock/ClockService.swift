import Basics
import EventLoop
import Uplink
import Wire

/// Keeps mesh time: looks at the system clock, gathers what peers and relays say, and tells what has to be done when
/// the time or its source changes.
final class ClockService {
    /// Carries out one step; all of them at every change, in order.
    var onStep: ((ClockStep) -> Void)?
    /// The steps of a change are done.
    var onChange: ((_ before: ClockStanding) -> Void)?
    /// Keeps the last known time for the next run.
    var onSave: ((WallTime) -> Void)?
    let loop: ClockedLoop
    private(set) var standing: ClockStanding
    private(set) var clock: MeshClock

    private let machine: MachineClock
    private var timer: (any Cancellable)?
    private var nextSave: Instant?

    /// - Parameter lastKnown: what the run before saved.
    init(_ machineLoop: any EventLoop, machine: MachineClock, trustsSystem: Bool, lastKnown: WallTime?) {
        self.machine = machine
        let running = machine.running()
        clock = MeshClock(
            trustsSystem: trustsSystem, lastKnown: lastKnown,
            system: MeshClock.SystemReading(
                wall: machineLoop.now.wall, isSynchronised: machine.isSynchronised()), at: running)
        standing = ClockStanding(clock)
        loop = ClockedLoop(machineLoop, running: machine.running, offset: clock.offset)
    }

    /// Does what the time now known allows, and goes on looking.
    func start() {
        let nothing = ClockStanding(offset: standing.offset, source: .lastKnown, isGoodForMesh: false)
        carry(ClockStep.steps(from: nothing, to: standing))
        onChange?(nothing)
        look()
    }

    /// Nothing follows but `save`.
    func stop() {
        timer?.cancel()
        timer = nil
        (onStep, onChange) = (nil, nil)
    }

    var wall: WallTime { loop.now.wall }
    var error: Int64? { clock.error(at: machine.running()) }

    // MARK: What is heard

    func heard(_ timestamp: WallTime, of peer: PeerID, on link: LinkID) {
        change { $0.heard(timestamp, of: peer, on: link, at: $1) }
    }

    func lost(_ link: LinkID) { clock.lost(link, at: machine.running()) }

    func heard(_ date: ServerDate, of relay: String) {
        change { clock, running in
            clock.heard(
                date: date.date, of: relay, asked: running - (loop.now.monotonic - date.asked), at: running)
        }
    }

    func heard(event createdAt: Int64, by author: [UInt8], of relay: String) {
        change { $0.heard(event: createdAt, by: author, of: relay, at: $1) }
    }

    func use(relays: Set<String>) { change { $0.use(relays: relays, at: $1) } }

    // MARK: The operator's word

    func set(_ wall: WallTime) -> Bool {
        var isSet = false
        change { isSet = $0.set(wall, at: $1) }
        if isSet { onSave?(clock.bound) }
        return isSet
    }

    func accept() {
        change { $0.accept(at: $1) }
        onSave?(clock.bound)
    }

    // MARK: Time passes

    private func look() {
        change {
            $0.look(
                at: MeshClock.SystemReading(
                    wall: loop.machine.now.wall, isSynchronised: machine.isSynchronised()), $1)
        }
        saveIfDue()
        timer = loop.schedule(after: ClockLimits.recheck) { [weak self] in self?.look() }
    }

    private func saveIfDue() {
        let now = loop.now.monotonic
        guard standing.source.isTrusted else {
            nextSave = nil
            return
        }
        guard let due = nextSave else {
            nextSave = now + ClockLimits.firstSave
            return
        }
        guard now >= due else { return }
        nextSave = now + ClockLimits.save
        save()
    }

    /// Notes how late it is, if that is known.
    func save() {
        if let wall = clock.worthSaving(at: machine.running()) { onSave?(wall) }
    }

    private func change(_ input: (inout MeshClock, Instant) -> Void) {
        input(&clock, machine.running())
        let before = standing
        let next = ClockStanding(clock)
        guard next != before else { return }
        standing = next
        carry(ClockStep.steps(from: before, to: next))
        onChange?(before)
    }

    private func carry(_ steps: [ClockStep]) {
        for step in steps {
            if case .shift(let offset) = step { loop.offset = offset }
            onStep?(step)
        }
    }
}

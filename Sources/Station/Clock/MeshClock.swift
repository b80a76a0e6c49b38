import Basics
import Wire

/// Mesh time: the running time of the machine plus an offset, with a stated source. It knows no system: what the
/// system's clock, peers, relays and the operator say comes in, and what follows for the offset comes out.
///
/// *Running time* counts the time the machine was suspended, unlike the monotonic clock, and is never stepped.
struct MeshClock {
    /// What the system says at one moment.
    struct SystemReading {
        var wall: WallTime
        /// The kernel calls its clock synchronised.
        var isSynchronised: Bool
    }

    private struct Reading {
        let offset: ClockOffset
        let taken: Instant
        /// Milliseconds, when taken.
        let error: Int64

        func error(at running: Instant) -> Int64 {
            let age = max(0, (running - taken).nanoseconds / 1_000_000)
            return error + age / ClockLimits.drift
        }
    }

    private(set) var source = ClockSource.lastKnown
    private(set) var offset: ClockOffset
    /// At `lastKnown`: whether those peers that can be heard have about the same time, so that they accept our stamps.
    private(set) var isConfirmed = false
    /// What a better source says, but is before the last known time.
    private(set) var heldBack: ClockSource?
    /// Milliseconds the system's clock is ahead of mesh time.
    private(set) var systemLead: Int64 = 0
    /// Steps of the system's clock seen.
    private(set) var systemSteps = 0

    /// Nothing earlier is believed, unless the operator says so.
    private(set) var bound: WallTime
    /// The relays that have a vote. Others are chosen by those who ask for them, and anybody may.
    private var voters: Set<String> = []
    private let trustsSystem: Bool
    private var readings: [ClockSource: Reading] = [:]
    private var peers = PeerTimes()
    private var relayTimes = RelayTimes()
    private var system: (offset: ClockOffset, reading: SystemReading)?
    private var wasEverProven = false

    /// - Parameters:
    ///   - trustsSystem: the configuration vouches for the system clock.
    ///   - lastKnown: of an earlier run.
    init(trustsSystem: Bool, lastKnown: WallTime?, system: SystemReading, at running: Instant) {
        self.trustsSystem = trustsSystem
        bound = max(ClockLimits.floor, lastKnown ?? ClockLimits.floor)
        offset = max(bound, system.wall).offset(from: running) ?? 0
        look(at: system, running)
    }

    func wall(at running: Instant) -> WallTime { running.wall(offset) }

    /// Milliseconds by which mesh time may be wrong; `nil` when nobody can tell.
    func error(at running: Instant) -> Int64? { readings[source]?.error(at: running) }

    /// Whether own packets may be dated and ages judged.
    var isGoodForMesh: Bool { source.isProven || isConfirmed }

    // MARK: What comes in

    mutating func look(at system: SystemReading, _ running: Instant) {
        if let now = system.wall.offset(from: running) {
            if let before = self.system?.offset, abs(now - before) > ClockLimits.systemStep {
                systemSteps += 1
                // Either before or after it was wrong, so what was believed of it goes.
                readings[.synchronised] = nil
                readings[.configured] = nil
            }
            self.system = (now, system)
        } else {
            self.system = nil
        }
        judge(at: running)
    }

    mutating func heard(_ timestamp: WallTime, of peer: PeerID, on link: LinkID, at running: Instant) {
        peers.note(timestamp, of: peer, on: link, at: running)
        judge(at: running)
    }

    mutating func lost(_ link: LinkID, at running: Instant) { peers.forget(link) }

    mutating func heard(date: WallTime, of relay: String, asked: Instant, at running: Instant) {
        guard voters.contains(relay) else { return }
        relayTimes.note(date: date, of: relay, asked: asked, at: running)
        judge(at: running)
    }

    mutating func heard(event createdAt: Int64, by author: [UInt8], of relay: String, at running: Instant) {
        guard voters.contains(relay) else { return }
        relayTimes.note(event: createdAt, by: author, of: relay, at: running)
        judge(at: running)
    }

    mutating func use(relays: Set<String>, at running: Instant) {
        voters = relays
        relayTimes.keep(relays)
        judge(at: running)
    }

    /// The operator says what time it is. Anything earlier that was known counts no more.
    /// - Returns: false for a time before this release was made.
    mutating func set(_ wall: WallTime, at running: Instant) -> Bool {
        guard wall >= ClockLimits.floor, let offset = wall.offset(from: running) else { return false }
        bound = wall
        readings.removeAll()
        readings[.set] = Reading(offset: offset, taken: running, error: ClockLimits.setError)
        judge(at: running)
        return true
    }

    /// The operator accepts what the best source says although it is earlier than the last known time.
    mutating func accept(at running: Instant) {
        bound = ClockLimits.floor
        judge(at: running)
    }

    /// What a later run must not fall behind; `nil` while nothing is worth it.
    mutating func worthSaving(at running: Instant) -> WallTime? {
        guard source.isTrusted, let error = error(at: running) else { return nil }
        let wall = running.wall(offset - error)
        guard wall > bound else { return nil }
        bound = wall
        return wall
    }

    // MARK: Judgement

    private mutating func judge(at running: Instant) {
        let peerVotes = peers.votes(at: running)
        take(peerVotes, at: running)
        readings = readings.filter { $0.value.error(at: running) <= ClockLimits.tolerance }
        let believable = readings.filter { running.wall($0.value.offset) >= bound }
        heldBack = readings.keys.filter { believable[$0] == nil }.max()
        if let best = believable.max(by: { precedes($0, $1, at: running) }) {
            adopt(best.key, best.value.offset)
            wasEverProven = true
        } else {
            source = .lastKnown
            guess(at: running)
        }
        isConfirmed = source == .lastKnown && isConfirmed(by: peerVotes)
        systemLead = (system?.offset ?? offset) - offset
    }

    /// Peers and relays differ by a little each time: that is no reason to go back and forth with them.
    private mutating func adopt(_ next: ClockSource, _ wanted: ClockOffset) {
        let isEstimate = next == .mesh || next == .relays
        if next != source || !isEstimate || abs(wanted - offset) > ClockLimits.jitter { offset = wanted }
        source = next
    }

    /// What was read just now of a trusted source comes before what was read earlier, and that before the mesh.
    private func precedes(
        _ a: (key: ClockSource, value: Reading), _ b: (key: ClockSource, value: Reading), at running: Instant
    ) -> Bool {
        func order(_ entry: (key: ClockSource, value: Reading)) -> (Int, Int, ClockSource) {
            (entry.key.isTrusted ? 1 : 0, entry.value.taken == running ? 1 : 0, entry.key)
        }
        return order(a) < order(b)
    }

    /// Reads every source that says something now.
    private mutating func take(_ peerVotes: [ClockOffset], at running: Instant) {
        if let system, system.reading.wall >= ClockLimits.floor {
            let reading = Reading(offset: system.offset, taken: running, error: ClockLimits.systemError)
            if system.reading.isSynchronised { readings[.synchronised] = reading }
            if trustsSystem { readings[.configured] = reading }
        }
        let relayVotes = relayTimes.votes(at: running)
        if let agreed = relayVotes.agreed(quorum: max(1, min(voters.count, ClockLimits.relayQuorum))) {
            readings[.relays] = Reading(offset: agreed, taken: running, error: ClockLimits.relayError)
        } else if relayVotes.count > 1 {
            readings[.relays] = nil
        }
        if let agreed = peerVotes.agreed(quorum: ClockLimits.peerQuorum) {
            readings[.mesh] = Reading(offset: agreed, taken: running, error: ClockLimits.meshError)
        } else if let held = readings[.mesh] {
            // Too few to say what time it is are enough to say what it is not.
            let far = peerVotes.count { abs($0 - held.offset) > ClockLimits.tolerance }
            if far > 1, far * 2 >= peerVotes.count { readings[.mesh] = nil }
        }
    }

    /// Nobody vouches for anything: the time goes on from where it was, or stands where the system has it.
    private mutating func guess(at running: Instant) {
        if !wasEverProven, let system, running.wall(system.offset) >= bound { offset = system.offset }
        if running.wall(offset) < bound { offset = bound.offset(from: running) ?? offset }
    }

    private func isConfirmed(by votes: [ClockOffset]) -> Bool {
        votes.count { abs($0 - offset) <= ClockLimits.tolerance } * 2 > votes.count
    }
}

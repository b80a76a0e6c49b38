import Basics

/// Whom to call next, through which adapter, and when (chapter 03 A5). Knows neither sockets nor clocks.
struct ConnectionPlanner {
    enum Step: Equatable {
        case connect(BluetoothAddress, adapter: UInt16)
        /// Nothing may be tried before this instant.
        case wait(until: Instant)
        case nothing
    }

    /// What matters of the moment.
    struct Situation {
        /// Adapters with a free slot for an outgoing link, each with the number of its links.
        var open: [UInt16: Int]
        /// Who is linked or being called, in either role and through any adapter.
        var linked: Set<BluetoothAddress>
    }

    /// How well one adapter hears a neighbour.
    private struct Ear {
        let adapter: UInt16
        let signal: Int
        let at: Instant
    }

    private struct Candidate {
        let address: BluetoothAddress
        /// At most one an adapter.
        var ears: [Ear]

        var signal: Int { ears.reduce(Int.min) { max($0, $1.signal) } }
        var heard: Instant { ears.reduce(Instant(nanoseconds: .min)) { max($0, $1.at) } }
    }

    private var history = AttemptHistory<BluetoothAddress>()
    private var candidates: [BluetoothAddress: Candidate] = [:]
    /// Who is being called, to be a candidate again if that fails.
    private var called: [BluetoothAddress: Candidate] = [:]
    /// Weaker neighbours are not called at once, dBm.
    private(set) var threshold = BluetoothLimits.aloneThreshold

    var waiting: Int { candidates.count }

    /// Sets the threshold, at every tick.
    /// - Parameter aloneSince: nil when there is a link.
    /// - Parameter isSaturated: no adapter has a slot left for an outgoing link.
    mutating func retune(aloneSince: Instant?, isSaturated: Bool, at now: Instant) {
        if let aloneSince {
            threshold =
                now - aloneSince > BluetoothLimits.longAlone
                ? BluetoothLimits.longAloneThreshold : BluetoothLimits.aloneThreshold
        } else {
            let isFull = candidates.count >= BluetoothLimits.candidates
            threshold =
                isSaturated || isFull ? BluetoothLimits.saturatedThreshold : BluetoothLimits.threshold
        }
    }

    /// A connectable neighbour was heard: whether to call it at once. Otherwise it waits in the queue.
    /// - Parameter hesitation: how long one who was not known before waits. Two boxes hear each other at the same time,
    ///   and would call each other at once.
    mutating func heard(
        _ sighting: Sighting, on adapter: UInt16, in situation: Situation, hesitation: Interval = .zero,
        at now: Instant
    ) -> Step {
        let address = sighting.address
        if hesitation > .zero, candidates[address] == nil, !history.isKnown(address) {
            history.bar(address, until: now + hesitation)
        }
        let barred = history.isBarred(address, at: now)
        // It would have gone from the queue before it may be called.
        if let barred, barred - now > BluetoothLimits.candidateLife { return .nothing }
        let signal = sighting.rssi.map(Int.init) ?? BluetoothLimits.unknownSignal
        enqueue(address, Ear(adapter: adapter, signal: signal, at: now), at: now)
        guard signal > threshold, !situation.linked.contains(address),
            let candidate = candidates[address], let ear = bestEar(of: candidate, in: situation, at: now)
        else { return .nothing }
        if let pause = history.pause(at: now) { return .wait(until: pause) }
        if let barred { return .wait(until: barred + RadioLimits.attemptSlack) }
        return call(candidate, through: ear, at: now)
    }

    /// The best of those who wait. Signal strength orders them and excludes nobody, so that a box among weak neighbours
    /// does not stay alone.
    mutating func next(in situation: Situation, at now: Instant) -> Step {
        history.forgetOld(at: now)
        candidates = candidates.filter { now - $0.value.heard <= BluetoothLimits.candidateLife }
        guard !situation.open.isEmpty else { return .nothing }
        var best: (candidate: Candidate, ear: Ear, score: Int)?
        var earliest: Instant?
        for candidate in candidates.values where !situation.linked.contains(candidate.address) {
            guard let ear = bestEar(of: candidate, in: situation, at: now) else { continue }
            if let until = delay(of: candidate, at: now) {
                earliest = min(earliest ?? until, until)
                continue
            }
            let score = score(candidate, at: now)
            let rank = (score, candidate.heard, candidate.address.value)
            if best.map({ ($0.score, $0.candidate.heard, $0.candidate.address.value) < rank }) ?? true {
                best = (candidate, ear, score)
            }
        }
        guard let best else { return earliest.map { .wait(until: $0) } ?? .nothing }
        if let pause = history.pause(at: now) { return .wait(until: pause) }
        return call(best.candidate, through: best.ear, at: now)
    }

    // MARK: Outcomes

    /// The link came up and can carry frames.
    mutating func succeeded(_ address: BluetoothAddress) {
        history.succeeded(address)
        called[address] = nil
    }

    mutating func timedOut(
        _ address: BluetoothAddress, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        history.timedOut(address, at: now)
        let pause = RadioLimits.afterTimeout + random.interval(.zero, BluetoothLimits.timeoutJitter)
        history.bar(address, until: now + pause)
        callAgain(address)
    }

    /// The attempt failed, or an outgoing link ended before it could carry frames.
    mutating func failed(
        _ address: BluetoothAddress, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        let isPersistent = history.failures(address) + 1 >= BluetoothLimits.quickAttempts
        let pause = isPersistent ? RadioLimits.afterTimeout : RadioLimits.afterDisconnect
        history.disconnected(
            address, failed: true, pause: pause + random.interval(.zero, BluetoothLimits.retryJitter), at: now)
        callAgain(address)
    }

    /// A link that worked has ended: no more than a short pause, since people walk away and come back.
    mutating func ended(_ address: BluetoothAddress, at now: Instant) {
        history.disconnected(address, failed: false, pause: RadioLimits.afterDisconnect, at: now)
    }

    /// We have ended the link, or it is no use to us.
    mutating func leaveAlone(_ address: BluetoothAddress, for span: Interval, at now: Instant) {
        history.bar(address, until: now + span)
        called[address] = nil
        candidates[address] = nil
    }

    /// It called us while we were calling: neither a failure nor a success of ours.
    mutating func calledUs(_ address: BluetoothAddress) { called[address] = nil }

    /// An adapter is gone, and with it what it heard.
    mutating func forget(adapter: UInt16) {
        for address in Array(candidates.keys) {
            candidates[address]?.ears.removeAll { $0.adapter == adapter }
            if candidates[address]?.ears.isEmpty == true { candidates[address] = nil }
        }
    }

    // MARK: Rules

    private mutating func call(_ candidate: Candidate, through ear: Ear, at now: Instant) -> Step {
        candidates[candidate.address] = nil
        called[candidate.address] = candidate
        history.begin(candidate.address, at: now)
        return .connect(candidate.address, adapter: ear.adapter)
    }

    private mutating func callAgain(_ address: BluetoothAddress) {
        guard let candidate = called.removeValue(forKey: address), candidates[address] == nil else { return }
        insert(candidate)
    }

    private mutating func enqueue(_ address: BluetoothAddress, _ ear: Ear, at now: Instant) {
        guard var candidate = candidates[address] else {
            return insert(Candidate(address: address, ears: [ear]))
        }
        candidate.ears.removeAll { $0.adapter == ear.adapter || now - $0.at > BluetoothLimits.candidateLife }
        candidate.ears.append(ear)
        candidates[address] = candidate
    }

    /// Overflow drops the weakest, and of the equally weak the one heard longest ago.
    private mutating func insert(_ candidate: Candidate) {
        candidates[candidate.address] = candidate
        guard candidates.count > BluetoothLimits.candidates else { return }
        let rank = { (candidate: Candidate) in
            (candidate.signal, candidate.heard.nanoseconds, candidate.address.value)
        }
        if let weakest = candidates.values.min(by: { rank($0) < rank($1) }) { candidates[weakest.address] = nil }
    }

    /// Through which of the adapters that hear it: the one that hears it best, then the emptiest.
    private func bestEar(of candidate: Candidate, in situation: Situation, at now: Instant) -> Ear? {
        let able = candidate.ears.filter {
            situation.open[$0.adapter] != nil && now - $0.at <= BluetoothLimits.candidateLife
        }
        let rank = { (ear: Ear) in (-ear.signal, situation.open[ear.adapter] ?? 0, ear.adapter) }
        return able.min { rank($0) < rank($1) }
    }

    /// Until when a candidate has to wait; nil when it may be called.
    private func delay(of candidate: Candidate, at now: Instant) -> Instant? {
        let barred = history.isBarred(candidate.address, at: now).map { $0 + RadioLimits.attemptSlack }
        guard candidate.signal <= BluetoothLimits.weakSignal, let timedOut = history.timedOut(candidate.address),
            now - timedOut < BluetoothLimits.weakTimeout
        else { return barred }
        let rest = timedOut + BluetoothLimits.weakTimeout - now
        let retry = now + min(max(rest, BluetoothLimits.weakRetry.lowerBound), BluetoothLimits.weakRetry.upperBound)
        return max(retry, barred ?? retry)
    }

    private func score(_ candidate: Candidate, at now: Instant) -> Int {
        let age = Int((now - candidate.heard).nanoseconds / 100_000_000)
        return 1_000 + 2 * (candidate.signal + 100) - age - history.penalty(candidate.address, at: now)
    }
}

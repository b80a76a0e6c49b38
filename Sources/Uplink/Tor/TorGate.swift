import Basics

/// Decides whether anything may be sent through Tor: the one place where what is wanted and what is observed meet. It
/// takes proven time, a bootstrap, and a connection that really went through (chapter 05 §15.2). Does no I/O: it asks
/// for probes with `takeProbe`, and is told what happened.
///
/// Tor never takes "bootstrapped" back, and a listening SOCKS port proves nothing, so every doubt closes the way until
/// a probe begun after it has come through. Nothing is ever restarted, and there is no other way.
struct TorGate {
    /// Why the way is not taken for good.
    private enum Doubt: Equatable {
        case unproven
        case controlLost
        case circuitsLost
        case networkDown
        case clockJumped
        case startedAnew
        case failures(String)

        var text: String {
            switch self {
            case .unproven: "no connection has gone through yet"
            case .controlLost: "tor has closed its control port"
            case .circuitsLost: "tor has lost its circuits"
            case .networkDown: "tor cannot reach the network"
            case .clockJumped: "the clock was set, which ends tor's circuits"
            case .startedAnew: "tor has been started anew"
            case .failures(let text): text
            }
        }
    }

    private(set) var access = RouteAccess.closed
    private(set) var stage = TorStage.waitingForTime
    /// Whether streams may be made: the way is proven, whatever the time is.
    var isProven: Bool { doubt == nil && !isBootstrapping }

    private var isTimeProven = false
    private var control: TorReport.Control
    private var version: String?
    private var bootstrap: TorBootstrap?
    private var bootstrapMovedAt = Instant.zero
    private var bootstrapBeganAt = Instant.zero
    private var steps: [TorBootstrapStep] = []
    private var clockSkew: Int?
    /// As tor said last; it is asked again and again.
    private var hasCircuits: Bool?
    private var isNetworkUp: Bool?

    /// `nil` while the way is taken for good.
    private var doubt: Doubt? = .unproven
    private var provenAt: Instant?
    private var failures = 0
    /// When the last of these began to count.
    private var failedAt: Instant?

    private var probes: UInt64 = 0
    /// The probe on its way. One begun before the latest doubt is given up: it proves nothing.
    private var probe: UInt64?
    private var probeDeadline = Instant.zero
    private var failedProbes: Int64 = 0
    private var nextProbeAt: Instant?
    private var firstProbeAt: Instant?
    private var probeProblem: String?
    private var isProxyDown = false

    init(hasControlPort: Bool) { control = hasControlPort ? .pending : .none }

    // MARK: What is told

    /// Nothing is said to relays before the time is known; the way there is looked for all the same, since they may be
    /// the ones to tell it.
    mutating func setTimeProven(_ isProven: Bool, at now: Instant) {
        guard isProven != isTimeProven else { return }
        isTimeProven = isProven
        bootstrapMovedAt = now
        if isProven { clockSkew = nil }
        probeSoon(at: now)
        reconcile(at: now)
    }

    mutating func observe(_ observation: TorObservation, at now: Instant) {
        switch observation {
        case .connected(let version):
            control = .connected
            self.version = version
            probeSoon(at: now)
        case .lost(let fault):
            if control == .connected { raise(.controlLost, at: now) }
            control = .lost(fault)
            (bootstrap, hasCircuits, isNetworkUp) = (nil, nil, nil)
        case .bootstrap(let bootstrap): take(bootstrap, at: now)
        case .circuits(let isEstablished):
            news(\.hasCircuits, isEstablished, .circuitsLost, at: now)
        case .network(let isUp):
            news(\.isNetworkUp, isUp, .networkDown, at: now)
        case .clockSkew(let seconds): clockSkew = seconds
        case .clockJumped:
            clockSkew = nil
            raise(.clockJumped, at: now)
        }
        reconcile(at: now)
    }

    /// What a connection that is no probe met with, or bytes that came over one.
    mutating func witnessed(_ evidence: RouteEvidence, at now: Instant) {
        // While in doubt only a probe counts: what comes now may have been on its way before.
        guard doubt == nil else { return }
        switch evidence {
        case .worked:
            failures = 0
            provenAt = now
            return
        case .failed(let text):
            if failures > 0, let failedAt, now - failedAt < TorLimits.failureSpacing { return }
            failed(text, at: now)
        case .fellSilent(let text): failed(text, at: now)
        case .proxyFailed(let text): raise(.failures(text), at: now)
        }
        reconcile(at: now)
    }

    private mutating func failed(_ text: String, at now: Instant) {
        failures += 1
        failedAt = now
        if failures >= TorLimits.failuresForDoubt { raise(.failures(text), at: now) }
    }

    /// The probe to begin now, if one is due.
    mutating func takeProbe(at now: Instant) -> UInt64? {
        guard wantsProbe, probe == nil, let due = nextProbeAt, due <= now else { return nil }
        probes += 1
        probe = probes
        probeDeadline = now + TorLimits.probeTimeout
        firstProbeAt = firstProbeAt ?? now
        nextProbeAt = nil
        return probes
    }

    /// Whether this probe's outcome is still wanted.
    func isCurrent(_ number: UInt64) -> Bool { probe == number }

    mutating func probeEnded(_ number: UInt64, _ evidence: RouteEvidence, at now: Instant) {
        guard isCurrent(number) else { return }
        probe = nil
        switch evidence {
        case .worked:
            doubt = nil
            provenAt = now
            failures = 0
            (failedProbes, firstProbeAt, probeProblem, isProxyDown) = (0, nil, nil, false)
        case .failed(let text), .fellSilent(let text): probeFailed(text, isProxyDown: false, at: now)
        case .proxyFailed(let text): probeFailed(text, isProxyDown: true, at: now)
        }
        reconcile(at: now)
    }

    mutating func timeout(at now: Instant) {
        if let number = probe, probeDeadline <= now {
            probeEnded(number, .failed("nobody answered"), at: now)
        }
        reconcile(at: now)
    }

    var nextDeadline: Instant? {
        var next: Instant?
        func consider(_ deadline: Instant?) {
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        if probe != nil { consider(probeDeadline) } else if wantsProbe { consider(nextProbeAt) }
        if stage == .bootstrapping { consider(bootstrapMovedAt + TorLimits.stalledBootstrap) }
        if stage == .proving { consider(firstProbeAt.map { $0 + TorLimits.stalledAttempt }) }
        return next
    }

    func report(at now: Instant) -> TorReport {
        TorReport(
            stage: stage, access: access, control: control, version: version, bootstrap: bootstrap, steps: steps,
            sinceProof: provenAt.map { now - $0 }, problem: problem, clockSkew: clockSkew,
            nextProbe: wantsProbe && probe == nil ? nextProbeAt.map { max(.zero, $0 - now) } : nil)
    }

    private var problem: String? {
        if isBootstrapping { return bootstrap?.warning }
        guard let doubt else { return nil }
        return probeProblem ?? doubt.text
    }

    // MARK: Deciding

    private var isBootstrapping: Bool {
        control == .connected && !(bootstrap?.isComplete ?? false)
    }

    private var wantsProbe: Bool { doubt != nil && !isBootstrapping && control != .pending }

    private mutating func reconcile(at now: Instant) {
        if isBootstrapping {
            doubt = doubt ?? .unproven
            access = .waiting
            stage = stageOfBootstrap(at: now)
        } else if doubt == nil {
            (access, stage) = (.open, .ready)
        } else {
            access = .waiting
            stage = stageOfDoubt(at: now)
        }
        if !isTimeProven { (access, stage) = (.closed, .waitingForTime) }
        if !wantsProbe { probe = nil }
        if wantsProbe, probe == nil, nextProbeAt == nil { nextProbeAt = now }
    }

    private func stageOfBootstrap(at now: Instant) -> TorStage {
        if clockSkew != nil { return .clockSkew }
        return now - bootstrapMovedAt >= TorLimits.stalledBootstrap ? .stalled : .bootstrapping
    }

    private func stageOfDoubt(at now: Instant) -> TorStage {
        if control == .pending { return .starting }
        if isProxyDown { return .unreachable }
        if provenAt != nil { return .degraded }
        if let firstProbeAt, now - firstProbeAt >= TorLimits.stalledAttempt { return .stalled }
        return .proving
    }

    /// Only news count: what tor repeats would otherwise close a proven way, and hurry probes that fail.
    private mutating func news(
        _ known: WritableKeyPath<TorGate, Bool?>, _ isGood: Bool, _ doubt: Doubt, at now: Instant
    ) {
        guard self[keyPath: known] != isGood else { return }
        self[keyPath: known] = isGood
        if isGood { probeSoon(at: now) } else if self.doubt == nil { raise(doubt, at: now) }
    }

    private mutating func raise(_ doubt: Doubt, at now: Instant) {
        self.doubt = doubt
        probe = nil
        (probeProblem, firstProbeAt) = (nil, nil)
        failures = 0
        probeSoon(at: now)
    }

    /// Something has changed: what failed before is no reason to wait.
    private mutating func probeSoon(at now: Instant) {
        guard doubt != nil else { return }
        failedProbes = 0
        if probe == nil { nextProbeAt = now }
    }

    private mutating func probeFailed(_ text: String, isProxyDown: Bool, at now: Instant) {
        let slowest = isProxyDown ? TorLimits.slowestProxyRetry : TorLimits.slowestProbeRetry
        nextProbeAt = now + min(TorLimits.firstProbeRetry * (1 << min(failedProbes, 8)), slowest)
        failedProbes += 1
        probeProblem = text
        self.isProxyDown = isProxyDown
    }

    private mutating func take(_ next: TorBootstrap, at now: Instant) {
        let last = bootstrap
        bootstrap = next
        guard next != last else { return }
        bootstrapMovedAt = now
        if next.isComplete { clockSkew = nil }
        if let last = steps.last, next.progress < last.progress || last.progress == 100 && !next.isComplete {
            steps = []
            raise(.startedAnew, at: now)
        }
        if steps.isEmpty { bootstrapBeganAt = now }
        if steps.last.map({ $0.progress != next.progress || $0.tag != next.tag }) ?? true,
            steps.count < TorLimits.bootstrapSteps
        {
            steps.append(
                TorBootstrapStep(
                    progress: next.progress, tag: next.tag, summary: next.summary, after: now - bootstrapBeganAt))
        }
        if next.isComplete, last?.isComplete != true { probeSoon(at: now) }
    }
}

import Basics
import Crypto
import Wire

/// Everything about sessions with one peer: the state machine of chapter 02 §4.3–4.6, for one claimed ID.
struct SessionSlot {
    enum Phase {
        case none
        case initiating(HandshakeAttempt)
        case responding(HandshakeAttempt)
        case established(NoiseSession)
    }

    enum Outcome {
        /// A handshake message to the peer.
        case send([UInt8])
        case established
        /// The former session is back; `isTerminal` when no attempt of ours follows.
        case restored(isTerminal: Bool)
        case failed(NoiseSessionFailure)
    }

    enum Opening {
        /// `isCurrent` is false under the keys of a session that was pushed aside or replaced.
        case opened([UInt8], Fingerprint, isCurrent: Bool)
        /// May be readable once the handshake completes.
        case early
        case refused
        case noSession
    }

    let peer: PeerID
    /// Ours is the smaller ID: when both begin at once the peer's attempt yields to ours.
    let keepsInitiative: Bool

    private(set) var phase = Phase.none
    private(set) var quarantine: QuarantinedSession?
    /// When we last completed as initiator.
    private var completedAt: Instant?
    private var ignoresFirstUntil: Instant?
    /// Armed when a crossing first message was put off.
    private var deferredRecovery: Instant?
    private(set) var recovery: Instant?
    /// Put back, but the peer may have let go of these keys: nothing is sent before a new handshake.
    private var isParked = false
    private(set) var failedAt: Instant?
    private var failures = 0
    private var resyncedAt: Instant?

    /// What the last call came to, in order; whoever makes the call takes it out.
    private(set) var outcomes: [Outcome] = []

    init(peer: PeerID, me: PeerID) {
        self.peer = peer
        keepsInitiative = me < peer
    }

    mutating func takeOutcomes() -> [Outcome] {
        defer { outcomes.removeAll() }
        return outcomes
    }

    // MARK: Observation

    var session: NoiseSession? { if case .established(let session) = phase { session } else { nil } }
    var isEstablished: Bool { session != nil }
    var isResponding: Bool { if case .responding = phase { true } else { false } }
    var isShakingHands: Bool {
        switch phase {
        case .initiating, .responding: true
        case .none, .established: false
        }
    }
    /// The link an unfinished answer was drawn from.
    var respondingLink: LinkID? { if case .responding(let attempt) = phase { attempt.link } else { nil } }
    var begun: Instant? {
        switch phase {
        case .none: nil
        case .initiating(let attempt), .responding(let attempt): attempt.begun
        case .established(let session): session.begun
        }
    }

    /// Whether something could be encrypted now.
    func canSend(at now: Instant) -> Bool { session.map { !isParked && !$0.isSpent(at: now) } ?? false }

    var nextDeadline: Instant? {
        let phaseDeadline: Instant? =
            switch phase {
            case .initiating(let attempt), .responding(let attempt): attempt.deadline
            case .established: quarantine?.deadline
            case .none: nil
            }
        return [phaseDeadline, deferredRecovery, recovery].compactMap { $0 }.min()
    }

    /// Nothing left that would be missed.
    func isIdle(at now: Instant) -> Bool {
        guard case .none = phase, quarantine == nil, recovery == nil else { return false }
        return failedAt.map { now - $0 > NoiseSessionLimits.failedPeerPause } ?? true
    }

    // MARK: Own handshakes

    /// Begins a handshake of ours. An established session is kept to read under until the new one counts (§4.4).
    mutating func begin(
        _ staticKey: NoiseStaticKey, ownsRetry: Bool, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        var handshake = NoiseHandshake(.initiator, staticKey: staticKey, ephemeral: .generate(using: &random))
        guard let first = try? handshake.write() else { return }
        if case .established(let session) = phase { quarantine = QuarantinedSession(session: session) }
        ignoresFirstUntil = nil
        deferredRecovery = nil
        recovery = nil
        phase = .initiating(
            HandshakeAttempt(
                handshake: handshake, begun: now, deadline: now + NoiseSessionLimits.initiatorTimeout,
                ownsRetry: ownsRetry))
        outcomes.append(.send(first))
    }

    mutating func requestRecovery(due: Instant) { recovery = due }

    // MARK: Received handshake messages

    /// Whether a message of this length has a meaning now. XX lets every message carry a payload; no client sends one,
    /// and taking exactly these lengths keeps a late message 2 or 3 from passing for a message 1 (§4.5).
    func expects(_ length: Int) -> Bool {
        switch (length, phase) {
        case (HandshakeSize.first, _), (HandshakeSize.second, .initiating), (HandshakeSize.third, .responding): true
        default: false
        }
    }

    /// Whether a handshake is under way that did not begin on this link.
    func goesOn(elsewhereThan link: LinkID) -> Bool {
        switch phase {
        case .initiating: true
        case .responding(let attempt): attempt.link != link
        case .none, .established: false
        }
    }

    mutating func receive(
        _ message: [UInt8], on link: LinkID, staticKey: NoiseStaticKey, isReachable: Bool, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> HandshakeReception {
        switch (message.count, phase) {
        case (HandshakeSize.first, _):
            return receiveFirst(message, on: link, staticKey: staticKey, at: now, using: &random)
        case (HandshakeSize.second, .initiating(var attempt)):
            guard (try? attempt.handshake.read(message)) != nil else {
                return fail(.notAuthentic, isReachable: isReachable, at: now)
            }
            // Before anything is answered or derived (§4.8).
            guard attempt.handshake.remoteStatic?.peerID == peer else {
                return fail(.wrongIdentity, isReachable: isReachable, at: now)
            }
            guard let third = try? attempt.handshake.write() else {
                return fail(.notAuthentic, isReachable: isReachable, at: now)
            }
            outcomes.append(.send(third))
            return establish(attempt, isReachable: isReachable, at: now)
        case (HandshakeSize.third, .responding(var attempt)):
            guard (try? attempt.handshake.read(message)) != nil else {
                return fail(.notAuthentic, isReachable: isReachable, at: now)
            }
            guard attempt.handshake.remoteStatic?.peerID == peer else {
                return fail(.wrongIdentity, isReachable: isReachable, at: now)
            }
            return establish(attempt, isReachable: isReachable, at: now)
        default: return .ignored
        }
    }

    private mutating func receiveFirst(
        _ message: [UInt8], on link: LinkID, staticKey: NoiseStaticKey, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> HandshakeReception {
        guard !putsOff(at: now) else { return .ignored }
        var handshake = NoiseHandshake(.responder, staticKey: staticKey, ephemeral: .generate(using: &random))
        // Nothing is given up for a message that cannot be answered.
        guard (try? handshake.read(message)) != nil, let second = try? handshake.write() else { return .failed }
        var attempt = HandshakeAttempt(
            handshake: handshake, begun: now, deadline: now + NoiseSessionLimits.responderTimeout, ownsRetry: false,
            link: link)
        switch phase {
        case .none: break
        case .initiating(let former):
            attempt.ownsRetry = former.ownsRetry
            attempt.hasYielded = true
        case .responding(let former):
            attempt.ownsRetry = former.ownsRetry
            attempt.hasYielded = former.hasYielded
            attempt.deadline = former.deadline
        case .established(let session): quarantine = QuarantinedSession(session: session)
        }
        if let quarantined = quarantine {
            attempt.deadline = quarantined.deadline ?? attempt.deadline
            quarantine?.deadline = attempt.deadline
        }
        phase = .responding(attempt)
        outcomes.append(.send(second))
        return .processed
    }

    /// The moments at which a first message is not answered: after a session was put back, and where it crossed an
    /// attempt of ours that takes precedence.
    private mutating func putsOff(at now: Instant) -> Bool {
        if let until = ignoresFirstUntil {
            if now < until, isEstablished { return true }
            ignoresFirstUntil = nil
        }
        if deferredRecovery != nil, keepsInitiative, isEstablished { return true }
        if let completed = completedAt {
            completedAt = nil
            let graceEnd = completed + NoiseSessionLimits.crossingGrace
            if now < graceEnd, keepsInitiative, isEstablished {
                deferredRecovery = graceEnd
                return true
            }
        }
        if case .initiating = phase { return keepsInitiative }
        return false
    }

    private mutating func establish(
        _ attempt: HandshakeAttempt, isReachable: Bool, at now: Instant
    ) -> HandshakeReception {
        guard let transport = attempt.handshake.transport(), let remoteKey = attempt.handshake.remoteStatic else {
            return fail(.notAuthentic, isReachable: isReachable, at: now)
        }
        let role = attempt.handshake.role
        phase = .established(
            NoiseSession(
                transport: transport, remoteKey: remoteKey, fingerprint: remoteKey.fingerprint, role: role,
                begun: attempt.begun, lastActivity: now, lastHeard: now))
        // The peer goes on writing under the old keys until our third message reaches it.
        quarantine = role == .initiator ? quarantine : nil
        quarantine?.deadline = now + NoiseSessionLimits.replacedKeysLinger
        completedAt = role == .initiator ? now : nil
        ignoresFirstUntil = nil
        deferredRecovery = nil
        recovery = nil
        isParked = false
        failedAt = nil
        failures = 0
        outcomes.append(.established)
        return .processed
    }

    // MARK: Failure

    private mutating func fail(
        _ reason: NoiseSessionFailure, isReachable: Bool, at now: Instant
    ) -> HandshakeReception {
        var ownsRetry = false
        var isPlainResponder = false
        switch phase {
        case .initiating(let attempt): ownsRetry = attempt.ownsRetry
        case .responding(let attempt):
            ownsRetry = attempt.ownsRetry
            isPlainResponder = !attempt.hasYielded
        case .none, .established: break
        }
        let wasOurs = if case .initiating = phase { true } else { false }
        phase = .none
        completedAt = nil
        let isRestored = restore(at: now)
        if reason == .wrongIdentity {
            // The ID is whatever the sender wrote: nothing new begins because of it.
            if recovery != nil { recovery = now + NoiseSessionLimits.recoveryDelay }
        } else if ownsRetry {
            recovery = now + NoiseSessionLimits.recoveryDelay
        } else if isPlainResponder, !isRestored, isReachable {
            recovery = now
        }
        let isTerminal = reason == .wrongIdentity || recovery == nil
        if isRestored {
            isParked = !isTerminal
            outcomes.append(.restored(isTerminal: isTerminal))
        } else if wasOurs, recovery == nil {
            giveUp(reason, at: now)
        }
        return reason == .wrongIdentity ? .wrongIdentity : .failed
    }

    private mutating func giveUp(_ reason: NoiseSessionFailure, at now: Instant) {
        quarantine = nil
        failedAt = now
        outcomes.append(.failed(reason))
    }

    /// Makes room: an unfinished answer is given up, and what it had pushed aside is back.
    mutating func abandonAnswer(at now: Instant) {
        guard isResponding else { return }
        phase = .none
        if restore(at: now) { outcomes.append(.restored(isTerminal: true)) }
    }

    /// Puts the quarantined session back, the same generation as before.
    private mutating func restore(at now: Instant) -> Bool {
        guard let former = quarantine else { return false }
        quarantine = nil
        phase = .established(former.session)
        ignoresFirstUntil = now + NoiseSessionLimits.rollbackCooldown
        return true
    }

    // MARK: Time

    /// Whether a recovery is due that needs a new handshake; everything else that is due is done.
    mutating func runTimers(isReachable: Bool, at now: Instant) -> Bool {
        switch phase {
        case .initiating(let attempt) where attempt.deadline <= now:
            phase = .none
            if attempt.ownsRetry { recovery = now } else { giveUp(.noAnswer, at: now) }
        case .responding(let attempt) where attempt.deadline <= now:
            phase = .none
            let isRestored = restore(at: now)
            if isRestored || attempt.ownsRetry { recovery = now }
            if isRestored {
                isParked = true
                outcomes.append(.restored(isTerminal: false))
            }
        case .established:
            if let end = quarantine?.deadline, end <= now { quarantine = nil }
        case .none, .initiating, .responding: break
        }
        if let due = deferredRecovery, due <= now {
            deferredRecovery = nil
            if isEstablished { recovery = now }
        }
        guard let due = recovery, due <= now else { return false }
        recovery = nil
        return recover(isReachable: isReachable, at: now)
    }

    private mutating func recover(isReachable: Bool, at now: Instant) -> Bool {
        switch phase {
        case _ where !isReachable:
            if case .none = phase { giveUp(.unreachable, at: now) }
            if isParked {
                isParked = false
                outcomes.append(.restored(isTerminal: true))
            }
            return false
        case .initiating(var attempt):
            attempt.ownsRetry = true
            attempt.deadline = now + NoiseSessionLimits.initiatorTimeout
            phase = .initiating(attempt)
            return false
        case .responding(var attempt):
            attempt.ownsRetry = true
            attempt.deadline = quarantine?.deadline ?? now + NoiseSessionLimits.responderTimeout
            phase = .responding(attempt)
            return false
        case .none, .established: return true
        }
    }

    // MARK: Messages

    /// Nil when there is no session to send in; see `canSend`.
    mutating func encrypt(_ plaintext: [UInt8], at now: Instant) -> [UInt8]? {
        guard canSend(at: now), case .established(var session) = phase else { return nil }
        // The session leaves its place while it changes, so that its tables are not copied.
        phase = .none
        defer { phase = .established(session) }
        guard let message = try? session.transport.encrypt(plaintext) else { return nil }
        session.lastActivity = now
        return message
    }

    mutating func decrypt(_ message: [UInt8], at now: Instant) -> Opening {
        switch phase {
        case .established(var session):
            phase = .none
            let plaintext = try? session.transport.decrypt(message)
            if plaintext != nil { (session.lastActivity, session.lastHeard) = (now, now) }
            phase = .established(session)
            if let plaintext {
                failures = 0
                return .opened(plaintext, session.fingerprint, isCurrent: true)
            }
            let opening = openQuarantined(message, else: .refused)
            if case .refused = opening { failures += 1 }
            return opening
        case .responding: return openQuarantined(message, else: .early)
        case .initiating: return openQuarantined(message, else: .refused)
        case .none: return openQuarantined(message, else: quarantine == nil ? .noSession : .refused)
        }
    }

    /// What opens under neither keys may belong to the session about to be.
    private mutating func openQuarantined(_ message: [UInt8], else opening: Opening) -> Opening {
        guard var session = quarantine?.session else { return opening }
        defer { quarantine?.session = session }
        do throws(NoiseRejection) {
            return .opened(try session.transport.decrypt(message), session.fingerprint, isCurrent: false)
        } catch {
            return error == .notAuthentic || error == .replayed ? opening : .refused
        }
    }

    /// Whether so many messages in a row did not open that the keys are to be doubted; at most once a minute.
    mutating func takeResync(at now: Instant) -> Bool {
        guard failures >= NoiseSessionLimits.failuresBeforeResync else { return false }
        if let last = resyncedAt, now - last < NoiseSessionLimits.resyncInterval { return false }
        resyncedAt = now
        failures = 0
        return true
    }
}

/// What a received handshake message came to.
enum HandshakeReception: Equatable {
    case processed
    /// Fits no state, or comes at a bad moment: nothing changed.
    case ignored
    /// Too many of them: nothing changed.
    case limited
    /// Did not authenticate.
    case failed
    /// Proved another identity than the one it claims.
    case wrongIdentity
}

/// Lengths of the three messages (chapter 02 §3.3).
enum HandshakeSize {
    static let first = 32
    static let second = 96
    static let third = 64
}

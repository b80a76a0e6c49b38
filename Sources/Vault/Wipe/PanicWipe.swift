/// One step of the panic wipe, in order (chapter 06 §11.5; its letters in brackets).
public enum WipeStep: String, CaseIterable, Sendable {
    /// [A] Nothing but the wipe's status is answered from here on.
    case block
    /// [B] Marker in the state directory.
    case markState
    /// [B] Marker beside the configuration.
    case markConfiguration
    /// [C] Radios, sockets and timers are closed, without a goodbye.
    case silence
    /// [D] The master key is overwritten and removed; what is sealed under it is gone with it.
    case destroyKey
    /// [D] Every key in memory is overwritten.
    case forgetKeys
    /// [E] All that the state directory holds is removed, and looked for again.
    case deleteStores
    /// [F] What the engines hold in memory is let go of: by the process, in whose place a fresh one comes however the
    /// wipe ends.
    case clearMemory
    /// [G] Traces outside the state directory.
    case removeTraces
    /// [H] New identity and master key, and what the operator is told about it.
    case createIdentity
    /// [H] The marker in the state directory goes first.
    case unmarkState
    case unmarkConfiguration
}

/// Why a step did not do what it should.
public struct WipeFailure: Error, Equatable, Sendable {
    public let step: WipeStep
    /// The system's words; no content.
    public let reason: String

    public init(step: WipeStep, reason: String) {
        self.step = step
        self.reason = reason
    }
}

/// The panic wipe as a transaction: which step is next, and what its failures mean. It does nothing itself.
///
/// Every step may be repeated, so a wipe that was cut short begins again at the start, before any radio or socket is
/// opened. A failing step does not stop those after it; it only keeps the wipe from succeeding. The markers alone may
/// fail: they are there to repeat what is about to be done anyway.
public struct PanicWipe: Sendable {
    public enum Outcome: Equatable, Sendable {
        case complete
        case incomplete([WipeFailure])
    }

    private var position = 0
    private var failures: [WipeFailure] = []

    public init() {}

    /// The step to carry out now; nil when the wipe has come to its end.
    public var next: WipeStep? {
        guard position < WipeStep.allCases.count else { return nil }
        let step = WipeStep.allCases[position]
        return step.needsSuccess && !failures.isEmpty ? nil : step
    }

    /// Tells how the step `next` went; nil for success.
    public mutating func finished(_ failure: String?) {
        guard let step = next else { return }
        position += 1
        if let failure, !step.mayFail { failures.append(WipeFailure(step: step, reason: failure)) }
    }

    /// Nil until the wipe has come to its end.
    public var outcome: Outcome? {
        guard next == nil else { return nil }
        return failures.isEmpty ? .complete : .incomplete(failures)
    }
}

extension WipeStep {
    /// If one marker cannot be written the other remains; without both, the wipe still continues.
    fileprivate var mayFail: Bool { self == .markState || self == .markConfiguration }

    /// A new identity is made, and the markers go, only after everything else has worked.
    fileprivate var needsSuccess: Bool {
        switch self {
        case .createIdentity, .unmarkState, .unmarkConfiguration: true
        default: false
        }
    }
}

/// What carries out the steps.
public protocol WipeWorker: AnyObject {
    /// - Returns: what went wrong; nil for success. Doing a step twice is as good as doing it once.
    func perform(_ step: WipeStep) -> String?
}

extension PanicWipe {
    /// Carries out the whole transaction, in one go: nothing else runs between its steps, so nothing that was on its
    /// way before can come back in between.
    /// - Parameter after: called when a step is done.
    public static func run(with worker: some WipeWorker, after: (WipeStep) -> Void = { _ in }) -> Outcome {
        var wipe = PanicWipe()
        while let step = wipe.next {
            wipe.finished(worker.perform(step))
            after(step)
        }
        return wipe.outcome ?? .complete
    }
}

import Vault

/// How it stands with wiping, for the operator.
public struct WipeReport: Equatable, Sendable {
    public enum State: String, CaseIterable, Sendable {
        /// No wipe since the last one was acknowledged.
        case none
        case wiping
        case wiped
        /// Data may remain. Radios and network stay off.
        case incomplete
        /// What would tell of an incomplete wipe cannot be read. Radios and network stay off.
        case unknown
    }

    public var state: State
    public var cause: WipeCause?
    public var failures: [Failure]

    public struct Failure: Equatable, Sendable {
        public var step: String
        public var reason: String

        static let unnoted = Failure(
            step: "note",
            reason:
                "nothing that outlasts the power takes a note of this wipe: once it is cut, the box starts with what "
                + "is left; destroy the card first")
    }

    public init(state: State, cause: WipeCause? = nil, failures: [Failure] = []) {
        self.state = state
        self.cause = cause
        self.failures = failures
    }

    /// - Parameter isNoted: whether something that outlasts the power tells of the wipe.
    init(_ failures: [WipeFailure], isNoted: Bool) {
        self.init(
            state: .incomplete, failures: failures.map { Failure(step: $0.step.rawValue, reason: $0.reason) })
        if !isNoted { self.failures.append(.unnoted) }
    }
}

extension WipeReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        guard let state = State(rawValue: try json.text("state")) else { throw JSONMismatch(member: "state") }
        self.state = state
        cause = try json.optionalText("cause").flatMap { WipeCause(rawValue: $0) }
        failures = try json.convert("failures")
    }

    public var json: JSONValue {
        ["state": .text(state.rawValue), "cause": cause.map { .text($0.rawValue) }, "failures": failures.json]
    }
}

extension WipeReport.Failure: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        step = try json.text("step")
        reason = try json.text("reason")
    }

    public var json: JSONValue { ["step": .text(step), "reason": .text(reason)] }
}

/// What must be typed for a wipe to begin.
public enum WipeConfirmation {
    public static let word = "destroy"
}

extension ControlCommand {
    /// What a box answers whatever it does otherwise.
    static func ofEveryBox(status: @escaping () -> WipeReport, wipe: @escaping () -> WipeReport) -> [ControlCommand] {
        [ControlCommand("ping") { ["version": Version.text] }, ControlCommand("wipe_status", status), .wipe(wipe)]
    }

    /// Begins a wipe when the request repeats the word.
    private static func wipe(_ begin: @escaping () -> WipeReport) -> ControlCommand {
        ControlCommand("wipe") { (request: ControlRequest) throws(ControlError) -> WipeReport in
            guard request.confirmation == WipeConfirmation.word else {
                throw ControlError(
                    code: "not_confirmed",
                    message: "a wipe begins only when \"confirm\" is \"\(WipeConfirmation.word)\"; nothing was done")
            }
            return begin()
        }
    }
}

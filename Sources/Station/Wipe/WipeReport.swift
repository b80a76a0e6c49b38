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
    }

    public var state: State
    public var cause: WipeCause?
    public var failures: [Failure]

    public struct Failure: Equatable, Sendable {
        public var step: String
        public var reason: String
    }

    public init(state: State, cause: WipeCause? = nil, failures: [Failure] = []) {
        self.state = state
        self.cause = cause
        self.failures = failures
    }

    init(_ failures: [WipeFailure]) {
        self.init(
            state: .incomplete, failures: failures.map { Failure(step: $0.step.rawValue, reason: $0.reason) })
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
    /// Begins a wipe when the request repeats the word.
    static func wipe(_ begin: @escaping () -> WipeReport) -> ControlCommand {
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

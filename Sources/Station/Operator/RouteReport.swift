extension StatusReport {
    /// The way through Tor, step by step. The values of `state` are those of `TorStage`.
    public struct Route: Equatable, Sendable {
        public var state: String
        /// `closed`, `waiting` or `open`: what becomes of what is to be sent.
        public var access: String
        /// What is in the way, in words; absent when nothing is.
        public var problem: String?
        /// Seconds since bytes last came through; absent when none ever did.
        public var lastProofSeconds: Int?
        /// Seconds until the way is tried again.
        public var retrySeconds: Int?
        public var bootstrap: Bootstrap?
        /// The bootstrap under way, or the last one seen, from its beginning.
        public var steps: [Step]
        /// By how much the clock is off, negative when slow, if somebody on the network says so.
        public var clockSkewSeconds: Int?
        /// `connected`, `pending`, `none`, or why the control port cannot be read.
        public var control: String
        public var controlProblem: String?
        public var torVersion: String?
    }

    public struct Bootstrap: Equatable, Sendable {
        public var progress: Int
        public var tag: String
        public var summary: String
        public var warning: String?
        public var reason: String?
        /// Tor thinks that somebody should look into it.
        public var serious: Bool
    }

    public struct Step: Equatable, Sendable {
        public var progress: Int
        public var tag: String
        public var summary: String
        /// Since the first step.
        public var milliseconds: Int
    }
}

extension StatusReport.Route: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        state = try json.text("state")
        access = try json.text("access")
        problem = try json.optionalText("problem")
        lastProofSeconds = try json.optionalInteger("last_proof_seconds")
        retrySeconds = try json.optionalInteger("retry_seconds")
        bootstrap = json.optional("bootstrap") == nil ? nil : try json.convert("bootstrap")
        steps = try json.convert("steps")
        clockSkewSeconds = try json.optionalInteger("clock_skew_seconds")
        control = try json.text("control")
        controlProblem = try json.optionalText("control_problem")
        torVersion = try json.optionalText("tor_version")
    }

    public var json: JSONValue {
        [
            "state": .text(state), "access": .text(access), "problem": problem.map { .text($0) },
            "last_proof_seconds": lastProofSeconds.map { .count($0) },
            "retry_seconds": retrySeconds.map { .count($0) }, "bootstrap": bootstrap?.json, "steps": steps.json,
            "clock_skew_seconds": clockSkewSeconds.map { .integer(Int64($0)) }, "control": .text(control),
            "control_problem": controlProblem.map { .text($0) }, "tor_version": torVersion.map { .text($0) },
        ]
    }
}

extension StatusReport.Bootstrap: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        progress = try json.integer("progress")
        tag = try json.text("tag")
        summary = try json.text("summary")
        warning = try json.optionalText("warning")
        reason = try json.optionalText("reason")
        serious = try json.truth("serious")
    }

    public var json: JSONValue {
        [
            "progress": .count(progress), "tag": .text(tag), "summary": .text(summary),
            "warning": warning.map { .text($0) }, "reason": reason.map { .text($0) }, "serious": .truth(serious),
        ]
    }
}

extension StatusReport.Step: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        progress = try json.integer("progress")
        tag = try json.text("tag")
        summary = try json.text("summary")
        milliseconds = try json.integer("milliseconds")
    }

    public var json: JSONValue {
        [
            "progress": .count(progress), "tag": .text(tag), "summary": .text(summary),
            "milliseconds": .count(milliseconds),
        ]
    }
}

import Basics

/// What time it is, as far as the box knows. The JSON names are stable.
public struct ClockReport: Equatable, Sendable {
    public var source: String
    /// Whether it is good enough to publish by.
    public var trusted: Bool
    /// Whether the box speaks on its mesh by it.
    public var mesh: Bool
    /// Mesh time, RFC 3339.
    public var time: String
    /// How far it may be off; absent when nobody can tell.
    public var errorSeconds: Int?
    /// What must be added to the system's clock to have mesh time.
    public var offsetSeconds: Int
    /// A source that is not believed, since what it says is before the last known time.
    public var heldBack: String?

    public init(
        source: String, trusted: Bool, mesh: Bool, time: String, errorSeconds: Int?, offsetSeconds: Int,
        heldBack: String? = nil
    ) {
        self.source = source
        self.trusted = trusted
        self.mesh = mesh
        self.time = time
        self.errorSeconds = errorSeconds
        self.offsetSeconds = offsetSeconds
        self.heldBack = heldBack
    }

    init(_ service: ClockService) {
        let standing = service.standing
        self.init(
            source: standing.source.rawValue, trusted: standing.source.isTrusted, mesh: standing.isGoodForMesh,
            time: TimeText.text(service.wall), errorSeconds: service.error.map { Int(($0 + 999) / 1_000) },
            offsetSeconds: Int(-service.clock.systemLead / 1_000), heldBack: service.clock.heldBack?.rawValue)
    }
}

extension ClockReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        source = try json.text("source")
        trusted = try json.truth("trusted")
        mesh = try json.truth("mesh")
        time = try json.text("time")
        errorSeconds = try json.optionalInteger("error_seconds")
        offsetSeconds = try json.integer("offset_seconds")
        heldBack = try json.optionalText("held_back")
    }

    public var json: JSONValue {
        [
            "source": .text(source), "trusted": .truth(trusted), "mesh": .truth(mesh), "time": .text(time),
            "error_seconds": errorSeconds.map { .count($0) }, "offset_seconds": .count(offsetSeconds),
            "held_back": heldBack.map { .text($0) },
        ]
    }
}

extension OperatorText {
    public static func clock(_ report: ClockReport) -> String { "\(clockLine(report))\n" }

    /// After the operator has set it.
    public static func clockSet(_ report: ClockReport) -> String {
        guard let source = ClockSource(rawValue: report.source), source > .set else { return clock(report) }
        let why = source == .configured ? " (clock.trust_system)" : ""
        return clock(report) + "what you set is overruled by a better source: \(source.rawValue)\(why)\n"
    }

    static func clockLine(_ clock: ClockReport) -> String {
        var text = clock.trusted ? "trusted" : clock.mesh ? "good for the mesh only" : "not trusted"
        text += ", \(TerminalText.escape(clock.source))"
        if let error = clock.errorSeconds { text += " within \(span(error))" }
        text += ": \(TerminalText.escape(clock.time))"
        if abs(clock.offsetSeconds) > 1 {
            text +=
                ", the system's clock is \(span(abs(clock.offsetSeconds))) "
                + (clock.offsetSeconds > 0 ? "behind" : "ahead")
        }
        if let source = clock.heldBack {
            text += "; what \(TerminalText.escape(source)) says is before the last known time"
        }
        return text
    }
}

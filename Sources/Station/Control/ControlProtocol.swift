import Basics

/// The control socket's language: one JSON object a line, each way.
///
/// A request is `{"v":1,"cmd":"status"}`; its answer `{"ok":true,"status":{…},"v":1}` or
/// `{"error":{"code":"…","message":"…"},"ok":false,"v":1}`, one answer for each line, in order.
public enum ControlProtocol {
    public static let version = 1
}

enum ControlLimits {
    /// Longest request line, its newline not counted.
    static let requestSize = 4_096
    static let clients = 8
    /// Answers a client has not read yet when it asks on; more and it is dropped.
    static let unreadSize = 262_144
    /// Longest answer, its newline counted: ours.
    static let answerSize = 1_048_576
    /// Of an answer that lists what strangers wrote, so that the rest of it fits.
    static let listSize = 786_432
    /// A client that completes no request is dropped.
    static let idle = Interval.seconds(30)
}

struct ControlRequest: Equatable {
    let command: String
    /// The word that stands for a deed nobody can take back.
    let confirmation: String?
    /// What the command is about, where it takes something.
    let argument: String?

    /// Reads one request line.
    init(_ line: [UInt8]) throws(ControlError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: line)
        } catch {
            let place = "column \(error.offset + 1)"
            throw ControlError(
                code: ControlError.malformed,
                message: error.offset < line.count
                    ? "not JSON: unexpected byte at \(place)" : "not JSON: the line ends at \(place)")
        }
        let version: Int
        do {
            version = try json.integer("v")
            command = try json.text("cmd")
            confirmation = try json.optionalText("confirm")
            argument = try json.optionalText("arg")
        } catch {
            throw ControlError(
                code: ControlError.malformed,
                message: #"not a request: expected {"v":\#(ControlProtocol.version),"cmd":"…"}, see \#(error.member)"#)
        }
        guard version == ControlProtocol.version else {
            throw ControlError(
                code: "version", message: "this daemon speaks version \(ControlProtocol.version), not \(version)")
        }
    }

    init(command: String, confirmation: String? = nil, argument: String? = nil) {
        self.command = command
        self.confirmation = confirmation
        self.argument = argument
    }

    /// The request as a line, newline included.
    var line: [UInt8] {
        ([
            "v": .count(ControlProtocol.version), "cmd": .text(command), "confirm": confirmation.map { .text($0) },
            "arg": argument.map { .text($0) },
        ] as JSONValue).encoded() + [0x0a]
    }
}

/// Why a request was not carried out. The codes are stable, the messages are for people.
public struct ControlError: Error, Equatable, Sendable {
    public let code: String
    public let message: String

    /// The code of the refusal that passes by itself.
    static let busy = "busy"
    /// The code of a request that says what cannot be.
    static let malformed = "malformed"

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

extension ControlError: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        code = try json.text("code")
        message = try json.text("message")
    }

    public var json: JSONValue { ["code": .text(code), "message": .text(message)] }
}

/// An answer line.
enum ControlAnswer: Equatable {
    case done(JSONValue, name: String)
    case refused(ControlError)

    /// The line, newline included.
    var line: [UInt8] {
        let version = JSONValue.count(ControlProtocol.version)
        let object: JSONValue
        switch self {
        case .done(let body, let name): object = ["v": version, "ok": .truth(true), name: body]
        case .refused(let error): object = ["v": version, "ok": .truth(false), "error": error.json]
        }
        return object.encoded() + [0x0a]
    }

    /// Reads the answer to the command `name`; `nil` when it is none.
    init?(_ line: [UInt8], to name: String) {
        guard let json = try? JSONValue(parsing: line), let isDone = try? json.truth("ok") else { return nil }
        if isDone {
            guard let body = try? json.member(name) else { return nil }
            self = .done(body, name: name)
        } else {
            guard let error: ControlError = try? json.convert("error") else { return nil }
            self = .refused(error)
        }
    }
}

import Basics
import FoundationEssentials

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
    /// Answers a client has not read yet; more and it is dropped.
    static let unreadSize = 262_144
    /// A client that says nothing is dropped.
    static let idle = Interval.seconds(30)
}

struct ControlRequest: Decodable, Equatable {
    let v: Int
    let cmd: String
}

/// Why a request was not carried out. The codes are stable, the messages are for people.
public struct ControlError: Error, Codable, Equatable, Sendable {
    public let code: String
    public let message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

enum ControlMessage {
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    /// Reads one request line.
    static func request(_ line: [UInt8]) throws(ControlError) -> ControlRequest {
        if let offset = JSONSyntax.firstError(in: line) {
            throw ControlError(
                code: "malformed",
                message: offset < line.count
                    ? "not JSON: unexpected byte at column \(offset + 1)"
                    : "not JSON: the line ends at column \(offset + 1)"
            )
        }
        let request: ControlRequest
        do {
            request = try JSONDecoder().decode(ControlRequest.self, from: Data(line))
        } catch {
            throw ControlError(
                code: "malformed", message: #"not a request: expected {"v":\#(ControlProtocol.version),"cmd":"…"}"#)
        }
        guard request.v == ControlProtocol.version else {
            throw ControlError(
                code: "version", message: "this daemon speaks version \(ControlProtocol.version), not \(request.v)")
        }
        return request
    }

    /// An answer line, newline included, with `body` as the member `name`.
    static func answer(_ name: String, _ body: some Encodable) -> [UInt8] {
        line(Answer(name: name, body: body))
    }

    static func refusal(_ error: ControlError) -> [UInt8] { line(Refusal(error: error)) }

    private static func line(_ message: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(message) else {
            return Array(#"{"error":{"code":"internal","message":"no answer"},"ok":false,"v":1}"#.utf8) + [0x0a]
        }
        return [UInt8](data) + [0x0a]
    }

    private struct Answer<Body: Encodable>: Encodable {
        let name: String
        let body: Body

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Name.self)
            try members.encode(ControlProtocol.version, forKey: Name("v"))
            try members.encode(true, forKey: Name("ok"))
            try members.encode(body, forKey: Name(name))
        }
    }

    private struct Refusal: Encodable {
        let v = ControlProtocol.version
        let ok = false
        let error: ControlError
    }

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }
}

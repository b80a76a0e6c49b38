import Nostr

/// A JSON text as a value (RFC 8259).
///
/// Built on the scanner and the writer that relay events need anyway. FoundationEssentials' decoder would do, but
/// linking it costs the daemon 7 MB of code and 2 MB of memory, and it does not say where a text is wrong.
public enum JSONValue: Equatable, Sendable {
    case null
    case truth(Bool)
    case integer(Int64)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    static func count(_ number: Int) -> JSONValue { .integer(Int64(clamping: number)) }
    static func count(_ number: UInt64) -> JSONValue { .integer(Int64(clamping: number)) }

    /// One line without spaces; members in the order of their names, so that equal values give equal bytes.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.raw("null")
        case .truth(let truth): writer.raw(truth ? "true" : "false")
        case .integer(let number): writer.integer(number)
        case .text(let text): writer.string(text)
        case .list(let values): writer.array(values) { $1.write(to: &$0) }
        case .object(let members):
            writer.raw("{")
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { writer.raw(",") }
                writer.string(member.key)
                writer.raw(":")
                member.value.write(to: &writer)
            }
            writer.raw("}")
        }
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Members whose value is `nil` are left out.
    public init(dictionaryLiteral members: (String, JSONValue?)...) {
        self = .object(Dictionary(members.compactMap { name, value in value.map { (name, $0) } }) { $1 })
    }
}

/// A value that can be read from JSON and written as JSON.
public protocol JSONConvertible {
    init(json: JSONValue) throws(JSONMismatch)
    var json: JSONValue { get }
}

/// A member is missing or of another kind.
public struct JSONMismatch: Error, Equatable {
    public let member: String
}

extension JSONValue {
    func member(_ name: String) throws(JSONMismatch) -> JSONValue {
        guard let value = optional(name) else { throw JSONMismatch(member: name) }
        return value
    }

    /// `nil` when the member is absent or null.
    func optional(_ name: String) -> JSONValue? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    func text(_ name: String) throws(JSONMismatch) -> String {
        guard case .text(let text) = try member(name) else { throw JSONMismatch(member: name) }
        return text
    }

    func truth(_ name: String) throws(JSONMismatch) -> Bool {
        guard case .truth(let truth) = try member(name) else { throw JSONMismatch(member: name) }
        return truth
    }

    func integer<Number: FixedWidthInteger>(_ name: String) throws(JSONMismatch) -> Number {
        guard case .integer(let number) = try member(name), let exact = Number(exactly: number) else {
            throw JSONMismatch(member: name)
        }
        return exact
    }

    func convert<Value: JSONConvertible>(_ name: String) throws(JSONMismatch) -> Value {
        try Value(json: try member(name))
    }

    func optionalText(_ name: String) throws(JSONMismatch) -> String? { optional(name) == nil ? nil : try text(name) }
    func optionalInteger(_ name: String) throws(JSONMismatch) -> Int? {
        optional(name) == nil ? nil : try integer(name)
    }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        guard case .list(let values) = json else { throw JSONMismatch(member: "[]") }
        self = []
        for value in values { append(try Element(json: value)) }
    }

    public var json: JSONValue { .list(map(\.json)) }
}

extension Dictionary: JSONConvertible where Key == String, Value: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        guard case .object(let members) = json else { throw JSONMismatch(member: "{}") }
        self = [:]
        for (name, value) in members { self[name] = try Value(json: value) }
    }

    public var json: JSONValue { .object(mapValues(\.json)) }
}

extension String: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        guard case .text(let text) = json else { throw JSONMismatch(member: "text") }
        self = text
    }

    public var json: JSONValue { .text(self) }
}

extension UInt64: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        guard case .integer(let number) = json, let exact = UInt64(exactly: number) else {
            throw JSONMismatch(member: "number")
        }
        self = exact
    }

    public var json: JSONValue { .count(self) }
}

/// A JSON text as a value (RFC 8259).
///
/// The library's decoder would do, but linking it costs the daemon 7 MB of code and 2 MB of memory, and it does not say
/// where a text is wrong.
public enum JSONValue: Equatable, Sendable {
    case null
    case truth(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    static func count(_ number: Int) -> JSONValue { .integer(Int64(clamping: number)) }
    static func count(_ number: UInt64) -> JSONValue { .integer(Int64(clamping: number)) }

    /// One line without spaces; members in the order of their names, so that equal values give equal bytes.
    public func encoded() -> [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }

    private func write(to out: inout [UInt8]) {
        switch self {
        case .null: out += "null".utf8
        case .truth(let truth): out += (truth ? "true" : "false").utf8
        case .integer(let number): out += "\(number)".utf8
        case .real(let number): out += (number.isFinite ? "\(number)" : "null").utf8
        case .text(let text): JSONValue.write(text, to: &out)
        case .list(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                value.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                JSONValue.write(member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), byte]
            case 0x0a: out += "\\n".utf8
            case 0x0d: out += "\\r".utf8
            case 0x09: out += "\\t".utf8
            case 0..<0x20: out += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
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

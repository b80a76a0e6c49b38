import Nostr

/// Where a text stops being JSON that the control protocol uses.
public struct JSONSyntaxError: Error, Equatable {
    /// Offset of the first byte or escape sequence that cannot stand where it stands; the text's length when it ends
    /// too early.
    public let offset: Int
}

extension JSONValue {
    /// Reads a whole JSON text. Of members with one name the last counts. Numbers are integers of 64 bits: the protocol
    /// has no others.
    public init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
        self = try bytes.withUnsafeBytes { text in
            guard text.isValidUTF8 else { return Result<JSONValue, JSONSyntaxError>.failure(.init(offset: 0)) }
            var scanner = JSONScanner(text)
            do throws(JSONError) {
                let value = try JSONValue(&scanner, depth: 0)
                try scanner.expectEnd()
                return .success(value)
            } catch {
                return .failure(JSONSyntaxError(offset: scanner.position))
            }
        }.get()
    }

    private init(_ scanner: inout JSONScanner, depth: Int) throws(JSONError) {
        guard depth < JSONScanner.maximumDepth else { throw .tooDeep }
        switch scanner.peek() {
        case UInt8(ascii: "{"): self = .object(try JSONValue.members(&scanner, depth: depth + 1))
        case UInt8(ascii: "["): self = .list(try JSONValue.elements(&scanner, depth: depth + 1))
        case UInt8(ascii: "\""): self = .text(try scanner.string().text)
        case UInt8(ascii: "n"):
            try scanner.literal("null")
            self = .null
        default:
            if let truth = try scanner.boolean() {
                self = .truth(truth)
            } else {
                self = .integer(try scanner.integer())
            }
        }
    }

    private static func members(_ scanner: inout JSONScanner, depth: Int) throws(JSONError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        try scanner.expect("{")
        if scanner.take("}") { return members }
        repeat {
            let name = try scanner.string().text
            try scanner.expect(":")
            members[name] = try JSONValue(&scanner, depth: depth)
        } while scanner.take(",")
        try scanner.expect("}")
        return members
    }

    private static func elements(_ scanner: inout JSONScanner, depth: Int) throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try scanner.expect("[")
        if scanner.take("]") { return elements }
        repeat {
            elements.append(try JSONValue(&scanner, depth: depth))
        } while scanner.take(",")
        try scanner.expect("]")
        return elements
    }
}

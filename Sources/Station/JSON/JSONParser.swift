import Basics

/// Where a text stops being JSON.
public struct JSONSyntaxError: Error, Equatable {
    /// Offset of the first byte that cannot stand where it stands; the text's length when it ends too early.
    public let offset: Int
}

extension JSONValue {
    /// Deepest nesting read.
    static let depthLimit = 32

    /// Reads a whole JSON text. Of members with one name the last counts.
    public init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.offset == bytes.count else { throw JSONSyntaxError(offset: parser.offset) }
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    var offset = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }
    var error: JSONSyntaxError { JSONSyntaxError(offset: offset) }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { offset += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    mutating func expect(_ byte: UInt8) throws(JSONSyntaxError) {
        guard take(byte) else { throw error }
    }

    mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        guard depth < JSONValue.depthLimit else { throw error }
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .list(try elements(depth: depth))
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .truth(true))
        case UInt8(ascii: "f"): return try word("false", .truth(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    mutating func members(depth: Int) throws(JSONSyntaxError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        offset += 1
        skipSpace()
        if take(UInt8(ascii: "}")) { return members }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error }
            let name = try string()
            skipSpace()
            try expect(UInt8(ascii: ":"))
            members[name] = try value(depth: depth + 1)
            skipSpace()
            if take(UInt8(ascii: "}")) { return members }
            try expect(UInt8(ascii: ","))
        }
    }

    mutating func elements(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        var elements: [JSONValue] = []
        offset += 1
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return elements }
            try expect(UInt8(ascii: ","))
        }
    }

    mutating func string() throws(JSONSyntaxError) -> String {
        let start = offset
        offset += 1
        var text: [UInt8] = []
        while let byte = next {
            if byte < 0x20 { throw error }
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw JSONSyntaxError(offset: start) }
                return string
            case UInt8(ascii: "\\"): try escape(into: &text)
            default: text.append(byte)
            }
        }
        throw error
    }

    mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
        switch next {
        case UInt8(ascii: "u"):
            offset += 1
            text += try scalar().utf8
            return
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[offset])
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        default: throw error
        }
        offset += 1
    }

    /// What follows `\u`: one code unit, or a surrogate pair.
    mutating func scalar() throws(JSONSyntaxError) -> String {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return String(scalar) }
        guard UTF16.isLeadSurrogate(first) else { throw error }
        try expect(UInt8(ascii: "\\"))
        try expect(UInt8(ascii: "u"))
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw error }
        return String(decoding: [first, second], as: UTF16.self)
    }

    mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap(Hex.value) else { throw error }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    mutating func word(_ text: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for byte in text.utf8 { try expect(byte) }
        return value
    }

    mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = offset
        var isInteger = true
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isInteger, let number = Int64(text) { return .integer(number) }
        return .real(Double(text) ?? .infinity)
    }

    mutating func digits() throws(JSONSyntaxError) {
        guard let first = next, (0x30...0x39).contains(first) else { throw error }
        while let byte = next, (0x30...0x39).contains(byte) { offset += 1 }
    }
}

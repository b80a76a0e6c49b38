import Basics

/// What one look at a relay's frame shows: that it brings an event, for which subscription, and under which id.
///
/// Every event comes from several relays, and a copy is recognised by its id alone, so a copy is not worth parsing. The
/// look goes over the whole frame once, since of equal names the last counts: where brackets and strings end is
/// followed exactly, what they hold is skipped. Of a frame that is valid it finds what parsing finds, or nothing; one
/// that is not valid has no effect either way.
struct EventGlance {
    /// What stands between the quotes.
    let subscription: UnsafeRawBufferPointer
    let event: EventID
    /// When it says that it was made, in Unix seconds; `nil` unless that is said in plain digits.
    let createdAt: Int64?

    /// `nil` for anything that is not plainly `["EVENT","…",{…,"id":"…",…}]`: with escapes in the subscription's id or
    /// in a name, no id or two of them, or an id that is spelled as none is. Parsing decides about those.
    init?(_ frame: UnsafeRawBufferPointer) {
        var look = JSONStructure(frame)
        guard look.next() == UInt8(ascii: "["), look.next() == UInt8(ascii: "\""), let command = look.plainString(),
            command.isText("EVENT"), look.next() == UInt8(ascii: ","), look.next() == UInt8(ascii: "\""),
            let subscription = look.plainString(), look.next() == UInt8(ascii: ","), look.next() == UInt8(ascii: "{")
        else { return nil }
        var event: EventID?
        var createdAt: Int64?
        var separator: UInt8?
        repeat {
            guard look.next() == UInt8(ascii: "\""), let name = look.plainString(), look.next() == UInt8(ascii: ":")
            else { return nil }
            if name.isText("id") {
                guard event == nil, look.next() == UInt8(ascii: "\""), let digits = look.plainString(),
                    let id = EventID(hexDigits: digits)
                else { return nil }
                event = id
            } else if name.isText("created_at") {
                guard let digits = look.plainValue() else { return nil }
                createdAt = digits.decimal
            } else {
                guard look.skipValue() else { return nil }
            }
            separator = look.next()
        } while separator == UInt8(ascii: ",")
        guard separator == UInt8(ascii: "}"), look.next() == UInt8(ascii: "]"), look.next() == nil, let event
        else { return nil }
        self.subscription = subscription
        self.event = event
        self.createdAt = createdAt
    }
}

/// A cursor over the structure of a JSON text: where strings, arrays and objects end. It checks no grammar inside of
/// what it skips.
private struct JSONStructure {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next byte that is no white space, consumed; nil at the end.
    @inline(__always) mutating func next() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte != 0x20, byte != 0x0a, byte != 0x0d, byte != 0x09 { return byte }
        }
        return nil
    }

    /// The rest of a string whose opening quote is consumed; nil when it has an escape or a control character.
    mutating func plainString() -> UnsafeRawBufferPointer? {
        let start = position
        position += bytes.plainJSONRun(from: start)
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        position += 1
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position - 1])
    }

    /// False when the string does not end.
    private mutating func skipString() -> Bool {
        while true {
            position += bytes.plainJSONRun(from: position)
            guard position < bytes.count else { return false }
            let byte = bytes[position]
            // The byte after a backslash is no end, whatever it is; a control character stands in no valid string.
            guard byte >= 0x20 else { return false }
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return true }
        }
    }

    /// Consumes one value; false when it does not end.
    mutating func skipValue() -> Bool {
        var depth = 0
        repeat {
            guard let byte = next() else { return false }
            switch byte {
            case UInt8(ascii: "\""): guard skipString() else { return false }
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): guard depth > 0 else { return false }
            default: skipWord()
            }
        } while depth > 0
        return depth == 0
    }

    /// Consumes one value and the white space before it; nil when it does not end.
    mutating func plainValue() -> UnsafeRawBufferPointer? {
        while position < bytes.count, [0x20, 0x0a, 0x0d, 0x09].contains(bytes[position]) { position += 1 }
        let start = position
        return skipValue() ? UnsafeRawBufferPointer(rebasing: bytes[start..<position]) : nil
    }

    /// Consumes the rest of a number, `true`, `false` or `null`.
    private mutating func skipWord() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
                UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
                position += 1
            default: return
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// What these bytes say if they are digits, of which no time has more than 18.
    fileprivate var decimal: Int64? {
        guard (1...18).contains(count) else { return nil }
        var value: Int64 = 0
        for byte in self {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    /// Whether these bytes are those of `text`.
    @inline(__always) fileprivate func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}

import Nostr

/// What a client says to a relay (NIP-01), read without the client's own code.
enum ClientMessage {
    case event(NostrEvent)
    case request(id: String, filters: [NostrFilter])
    case close(id: String)

    init?(_ bytes: [UInt8]) {
        guard case .array(let parts) = JSONReader.read(bytes), parts.count > 1, let verb = parts[0].string else {
            return nil
        }
        switch verb {
        case "EVENT":
            guard let event = ClientMessage.event(in: bytes) else { return nil }
            self = .event(event)
        case "REQ":
            let filters = parts.dropFirst(2).compactMap(NostrFilter.init)
            guard let id = parts[1].string, !filters.isEmpty, filters.count == parts.count - 2 else { return nil }
            self = .request(id: id, filters: filters)
        case "CLOSE":
            guard let id = parts[1].string else { return nil }
            self = .close(id: id)
        default: return nil
        }
    }

    /// The object between the verb and the last bracket.
    private static func event(in bytes: [UInt8]) -> NostrEvent? {
        guard let start = bytes.firstIndex(of: UInt8(ascii: "{")), let end = bytes.lastIndex(of: UInt8(ascii: "}")),
            start < end
        else { return nil }
        return try? NostrEvent(json: Array(bytes[start...end]))
    }
}

extension NostrFilter {
    fileprivate init?(_ json: JSONReader.Value) {
        guard case .object(let members) = json else { return nil }
        self.init()
        for (name, value) in members {
            switch name {
            case "ids": ids = value.strings
            case "authors": authors = value.strings
            case "kinds": kinds = value.array?.compactMap(\.integer).map { Int($0) }
            case "since": since = value.integer
            case "until": until = value.integer
            case "limit": limit = value.integer.map { Int($0) }
            default:
                guard name.first == "#", name.count == 2, let letter = name.last else { return nil }
                tags[letter] = value.strings
            }
        }
    }
}

/// As much of JSON as a relay needs to understand requests.
struct JSONReader {
    enum Value {
        case string(String)
        case number(Int64)
        case array([Value])
        case object([(String, Value)])

        var string: String? { if case .string(let text) = self { text } else { nil } }
        var integer: Int64? { if case .number(let number) = self { number } else { nil } }
        var array: [Value]? { if case .array(let values) = self { values } else { nil } }
        var strings: [String]? { array?.compactMap(\.string) }
    }

    private let bytes: [UInt8]
    private var position = 0

    static func read(_ bytes: [UInt8]) -> Value? {
        var reader = JSONReader(bytes: bytes)
        guard let value = reader.value(), reader.position == bytes.count else { return nil }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func take(_ character: Character) -> Bool {
        guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func value() -> Value? {
        if take("[") { return list("]") { $0.value() }.map(Value.array) }
        if take("{") {
            return list("}") { reader in
                guard let name = reader.value()?.string, reader.take(":"), let value = reader.value() else {
                    return nil
                }
                return (name, value)
            }.map(Value.object)
        }
        if take("\"") { return text().map(Value.string) }
        let start = position
        while position < bytes.count, bytes[position] == UInt8(ascii: "-") || 0x30...0x39 ~= bytes[position] {
            position += 1
        }
        return Int64(String(decoding: bytes[start..<position], as: UTF8.self)).map(Value.number)
    }

    private mutating func list<Item>(_ end: Character, item: (inout JSONReader) -> Item?) -> [Item]? {
        var items: [Item] = []
        if take(end) { return items }
        repeat {
            guard let next = item(&self) else { return nil }
            items.append(next)
        } while take(",")
        return take(end) ? items : nil
    }

    /// Escapes other than of one character occur in events only, which are not read here.
    private mutating func text() -> String? {
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard position < bytes.count else { return nil }
                text.append(bytes[position])
                position += 1
            default: text.append(byte)
            }
        }
        return nil
    }
}

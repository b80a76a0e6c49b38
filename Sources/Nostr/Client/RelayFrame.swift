/// A message from a relay (chapter 05 §5.2), its event located but not decoded. It refers to the bytes it was parsed
/// from.
enum RelayFrame {
    /// `createdAt` also of an event that is beyond the limits.
    case event(subscription: JSONString, createdAt: Int64?, Result<EventLayout, NostrEventRejection>)
    case ok(event: JSONString, RelayAnswer)
    case endOfStored(subscription: JSONString)
    case closed(subscription: JSONString, RelayAnswer)
    case notice
    case auth(challenge: JSONString?)
    case unknown

    static func parse(_ message: UnsafeRawBufferPointer) throws(JSONError) -> RelayFrame {
        var scanner = JSONScanner(message)
        try scanner.expect("[")
        let command = try scanner.string()
        let frame: RelayFrame
        if command.equals("EVENT") {
            let subscription = try nextString(&scanner)
            try scanner.expect(",")
            let (createdAt, event) = try EventLayout.read(&scanner, in: message)
            frame = .event(subscription: subscription, createdAt: createdAt, event)
        } else if command.equals("OK") {
            let event = try nextString(&scanner)
            try scanner.expect(",")
            guard let isAccepted = try scanner.boolean() else { throw .malformed }
            let answer = RelayAnswer(prefixOf: try optionalString(&scanner))
            frame = .ok(event: event, isAccepted ? answer.ofAccepted : answer.ofRefused)
        } else if command.equals("EOSE") {
            frame = .endOfStored(subscription: try nextString(&scanner))
        } else if command.equals("CLOSED") {
            let subscription = try nextString(&scanner)
            frame = .closed(subscription: subscription, RelayAnswer(prefixOf: try optionalString(&scanner)))
        } else if command.equals("NOTICE") {
            frame = .notice
        } else if command.equals("AUTH") {
            frame = .auth(challenge: try optionalString(&scanner))
        } else {
            frame = .unknown
        }
        while scanner.take(",") { try scanner.skipValue() }
        try scanner.expect("]")
        try scanner.expectEnd()
        return frame
    }

    private static func nextString(_ scanner: inout JSONScanner) throws(JSONError) -> JSONString {
        try scanner.expect(",")
        return try scanner.string()
    }

    private static func optionalString(_ scanner: inout JSONScanner) throws(JSONError) -> JSONString? {
        guard scanner.take(",") else { return nil }
        if scanner.peek() == UInt8(ascii: "\"") { return try scanner.string() }
        try scanner.skipValue()
        return nil
    }
}

/// Messages to a relay (chapter 05 §5.1).
enum ClientFrame {
    static func event(_ json: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(capacity: json.count + 10)
        writer.raw("[\"EVENT\",")
        writer.raw(json)
        writer.raw("]")
        return writer.bytes
    }

    static func authentication(_ json: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(capacity: json.count + 9)
        writer.raw("[\"AUTH\",")
        writer.raw(json)
        writer.raw("]")
        return writer.bytes
    }

    static func request(_ subscription: String, _ filter: NostrFilter) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("[\"REQ\",")
        writer.string(subscription)
        writer.raw(",")
        writer.raw(filter.json())
        writer.raw("]")
        return writer.bytes
    }

    static func close(_ subscription: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("[\"CLOSE\",")
        writer.string(subscription)
        writer.raw("]")
        return writer.bytes
    }
}

/// What a relay says of itself (NIP-11), as far as it matters here. Claims of a stranger: they may make us send less
/// to that relay and never more.
public struct RelayInformation: Hashable, Sendable {
    /// Longest document taken.
    public static let maximumBytes = 65_536

    public var maximumMessageBytes: Int?
    public var maximumSubscriptions: Int?
    /// Most stored events of one request.
    public var maximumLimit: Int?
    /// Leading zero bits an event's id must have (NIP-13).
    public var minimumWork: Int?
    public var requiresAuthentication = false
    public var requiresPayment = false
    public var restrictsWrites = false

    public init() {}

    /// Reads a document; `nil` for one that is too long or no JSON object. Members of other types than they should have
    /// count as absent.
    public init?(json: [UInt8]) {
        guard json.count <= RelayInformation.maximumBytes else { return nil }
        let information = json.withUnsafeBytes { bytes -> RelayInformation? in
            guard bytes.isValidUTF8 else { return nil }
            var scanner = JSONScanner(bytes)
            var information = RelayInformation()
            do throws(JSONError) {
                try scanner.members { (name, scanner) throws(JSONError) in
                    guard name.equals("limitation"), scanner.peek() == UInt8(ascii: "{") else {
                        return try scanner.skipValue()
                    }
                    try scanner.members { (name, scanner) throws(JSONError) in
                        try information.readLimitation(name, &scanner)
                    }
                }
                try scanner.expectEnd()
            } catch {
                return nil
            }
            return information
        }
        guard let information else { return nil }
        self = information
    }

    private mutating func readLimitation(_ name: JSONString, _ scanner: inout JSONScanner) throws(JSONError) {
        if name.equals("max_message_length") {
            maximumMessageBytes = try scanner.number(from: NostrLimits.leastMessageBytes)
        } else if name.equals("max_subscriptions") {
            maximumSubscriptions = try scanner.number(from: 1)
        } else if name.equals("max_limit") {
            maximumLimit = try scanner.number(from: 1)
        } else if name.equals("min_pow_difficulty") {
            minimumWork = try scanner.number(from: 1)
        } else if name.equals("auth_required") {
            requiresAuthentication = try scanner.truth()
        } else if name.equals("payment_required") {
            requiresPayment = try scanner.truth()
        } else if name.equals("restricted_writes") {
            restrictsWrites = try scanner.truth()
        } else {
            try scanner.skipValue()
        }
    }

    /// Whether a message of this size may be sent.
    func takes(messageBytes: Int) -> Bool { maximumMessageBytes.map { messageBytes <= $0 } ?? true }
}

extension JSONScanner {
    /// Reads an object; `body` consumes the value of each member.
    fileprivate mutating func members(
        _ body: (JSONString, inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        try expect("{")
        if take("}") { return }
        repeat {
            let name = try string()
            try expect(":")
            try body(name, &self)
        } while take(",")
        try expect("}")
    }

    /// An integer of at least `least` that fits; `nil` for every other value.
    fileprivate mutating func number(from least: Int) throws(JSONError) -> Int? {
        let start = self
        do throws(JSONError) {
            let value = try integer()
            return value >= Int64(least) ? Int(exactly: value) : nil
        } catch {
            self = start
            try skipValue()
            return nil
        }
    }

    /// Whether the value is `true`.
    fileprivate mutating func truth() throws(JSONError) -> Bool {
        if let truth = try boolean() { return truth }
        try skipValue()
        return false
    }
}

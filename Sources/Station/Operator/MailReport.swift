/// What `mail` answers: the letters in the box's care, in numbers. Whose they are it does not tell.
public struct MailReport: Equatable, Sendable {
    public var enabled: Bool
    /// Letters are taken in and handed over; not while it is off or the clock is not known.
    public var working: Bool
    /// Copies are left at relays, and letters for neighbours are fetched there.
    public var usingRelays: Bool
    public var tiers: [Tier]
    /// Of the letters carried, those a relay has confirmed a copy of.
    public var atRelays: Int
    /// Copies on their way to relays now.
    public var publishing: Int
    /// Letters of relays whose addressee has not proven to be near yet.
    public var undelivered: Int
    /// Neighbours whose letters relays are asked for, and in how many subscriptions.
    public var watched: Int
    public var subscriptions: Int
    /// What became of letters since the daemon started, by reason.
    public var outcomes: [String: UInt64]

    public struct Tier: Equatable, Sendable {
        /// `trusted` or `verified`.
        public var name: String
        public var carried: Int
        public var limit: Int
        /// How long the oldest has been here, in whole hours; absent when there is none.
        public var oldestHours: Int?
    }
}

extension MailReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        enabled = try json.truth("enabled")
        working = try json.truth("working")
        usingRelays = try json.truth("using_relays")
        tiers = try json.convert("tiers")
        atRelays = try json.integer("at_relays")
        publishing = try json.integer("publishing")
        undelivered = try json.integer("undelivered")
        watched = try json.integer("watched")
        subscriptions = try json.integer("subscriptions")
        outcomes = try json.convert("outcomes")
    }

    public var json: JSONValue {
        [
            "enabled": .truth(enabled), "working": .truth(working), "using_relays": .truth(usingRelays),
            "tiers": tiers.json, "at_relays": .count(atRelays), "publishing": .count(publishing),
            "undelivered": .count(undelivered), "watched": .count(watched), "subscriptions": .count(subscriptions),
            "outcomes": outcomes.json,
        ]
    }
}

extension MailReport.Tier: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        name = try json.text("tier")
        carried = try json.integer("carried")
        limit = try json.integer("limit")
        oldestHours = try json.optionalInteger("oldest_hours")
    }

    public var json: JSONValue {
        [
            "tier": .text(name), "carried": .count(carried), "limit": .count(limit),
            "oldest_hours": oldestHours.map { .count($0) },
        ]
    }
}

/// One line of `limits`: a bound of the box, how much of it is used, and what was refused for its sake.
public struct LimitReport: Equatable, Sendable {
    /// The part it bounds: `mesh`, `gateway`, `bridge`, `mail`, `relays` or `storage`.
    public var part: String
    public var name: String
    public var limit: Int
    /// Absent where it is counted for each peer apart.
    public var used: Int?
    /// Since the daemon started; absent where that is not counted apart, or what is oldest makes room.
    public var refused: UInt64?
}

extension LimitReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        part = try json.text("part")
        name = try json.text("name")
        limit = try json.integer("limit")
        used = try json.optionalInteger("used")
        refused = json.optional("refused") == nil ? nil : try json.integer("refused")
    }

    public var json: JSONValue {
        [
            "part": .text(part), "name": .text(name), "limit": .count(limit), "used": used.map { .count($0) },
            "refused": refused.map { .count($0) },
        ]
    }
}

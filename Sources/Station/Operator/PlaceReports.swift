/// One line of `channels`: a location channel that is listened to.
public struct ChannelReport: Equatable, Sendable {
    public var channel: String
    /// In gateway.channels; the others are in use on the mesh.
    public var configured: Bool
    /// People of the last five minutes.
    public var people: Int
    /// Relays of the place, and how many of them have it subscribed.
    public var relays: Int
    public var subscribed: Int
}

/// What `notes` answers: the notes pinned to a place and its neighbourhood. Names and texts are untrusted.
public struct NotesReport: Equatable, Sendable {
    public var place: String
    /// Whether the relays have said what they have.
    public var complete: Bool
    /// Relays of the place, and how many of them are asked.
    public var relays: Int
    public var subscribed: Int
    /// Own notes and deletions that no relay has confirmed yet.
    public var unconfirmed: Int
    public var notes: [Note]
    /// Older notes that are known and not listed, since the answer would be too long.
    public var leftOut = 0

    public struct Note: Equatable, Sendable {
        public var id: String
        public var name: String
        public var text: String
        public var cell: String
        public var ageSeconds: Int
        /// Until it expires; absent when it never does.
        public var leftSeconds: Int?
        public var urgent: Bool
        /// Pinned by this box, which can take it away.
        public var own: Bool
    }
}

extension ChannelReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        channel = try json.text("channel")
        configured = try json.truth("configured")
        people = try json.integer("people")
        relays = try json.integer("relays")
        subscribed = try json.integer("subscribed")
    }

    public var json: JSONValue {
        [
            "channel": .text(channel), "configured": .truth(configured), "people": .count(people),
            "relays": .count(relays), "subscribed": .count(subscribed),
        ]
    }
}

extension NotesReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        place = try json.text("place")
        complete = try json.truth("complete")
        relays = try json.integer("relays")
        subscribed = try json.integer("subscribed")
        unconfirmed = try json.integer("unconfirmed")
        notes = try json.convert("notes")
        leftOut = try json.optionalInteger("left_out") ?? 0
    }

    public var json: JSONValue {
        [
            "place": .text(place), "complete": .truth(complete), "relays": .count(relays),
            "subscribed": .count(subscribed), "unconfirmed": .count(unconfirmed), "notes": notes.json,
            "left_out": .count(leftOut),
        ]
    }
}

extension NotesReport.Note: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        id = try json.text("id")
        name = try json.text("name")
        text = try json.text("text")
        cell = try json.text("cell")
        ageSeconds = try json.integer("age_seconds")
        leftSeconds = try json.optionalInteger("left_seconds")
        urgent = try json.truth("urgent")
        own = try json.truth("own")
    }

    public var json: JSONValue {
        [
            "id": .text(id), "name": .text(name), "text": .text(text), "cell": .text(cell),
            "age_seconds": .count(ageSeconds), "left_seconds": leftSeconds.map { .count($0) },
            "urgent": .truth(urgent), "own": .truth(own),
        ]
    }
}

import Nostr
import Wire

/// What `board` answers: what is pinned on the board of the mesh. Names and texts are untrusted.
public struct BoardReport: Equatable, Sendable {
    public var posts: [Post]

    public struct Post: Equatable, Sendable {
        public var id: String
        public var name: String
        public var text: String
        /// The place it is about; absent when it is about the mesh itself.
        public var place: String?
        public var ageSeconds: Int
        public var leftSeconds: Int
        public var urgent: Bool
        /// Pinned by this box, which can take it down.
        public var own: Bool
        /// What became of the copy for relays; absent without one.
        public var copy: BoardCopyState?
        /// No board of the mesh has room for it any more: only relays have the copy.
        public var displaced = false
    }
}

extension BoardReport: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) { posts = try json.convert("posts") }
    public var json: JSONValue { ["posts": posts.json] }
}

extension BoardReport.Post: JSONConvertible {
    public init(json: JSONValue) throws(JSONMismatch) {
        id = try json.text("id")
        name = try json.text("name")
        text = try json.text("text")
        place = try json.optionalText("place")
        ageSeconds = try json.integer("age_seconds")
        leftSeconds = try json.integer("left_seconds")
        urgent = try json.truth("urgent")
        own = try json.truth("own")
        copy = try json.optionalText("copy").flatMap { BoardCopyState(rawValue: $0) }
        displaced = try json.truth("displaced")
    }

    public var json: JSONValue {
        [
            "id": .text(id), "name": .text(name), "text": .text(text), "place": place.map { .text($0) },
            "age_seconds": .count(ageSeconds), "left_seconds": .count(leftSeconds), "urgent": .truth(urgent),
            "own": .truth(own), "copy": copy.map { .text($0.rawValue) }, "displaced": .truth(displaced),
        ]
    }
}

/// How far the copy of an own post has come. The names are stable.
public enum BoardCopyState: String, CaseIterable, Sendable {
    /// Its work is being done.
    case beingMade = "being-made"
    case waiting, published
    /// Too much waits to be published.
    case refused
}

/// A post the operator pins, as one argument of the control socket: place or `-`, days, whether it is urgent, whether
/// relays of the place get a copy, and the text.
public struct BoardRequest: Equatable, Sendable {
    public static let days = 1...7
    public static let standardDays = 1
    /// Stands for no place.
    public static let nowhere = "-"

    /// `nil`: the mesh itself.
    public var place: String?
    public var days: Int
    public var isUrgent: Bool
    /// Only with a place.
    public var isCopied: Bool
    public var text: String

    public init(place: String?, days: Int, isUrgent: Bool, isCopied: Bool, text: String) {
        self.place = place
        self.days = days
        self.isUrgent = isUrgent
        self.isCopied = isCopied
        self.text = text
    }

    public var argument: String {
        let words = [
            place ?? BoardRequest.nowhere, "\(days)", isUrgent ? "urgent" : "plain", isCopied ? "copied" : "here", text,
        ]
        return words.joined(separator: " ")
    }

    init?(argument: String) {
        let parts = argument.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0] == BoardRequest.nowhere || Geohash.isCanonical(parts[0]),
            let days = Int(parts[1]), BoardRequest.days.contains(days), ["urgent", "plain"].contains(parts[2]),
            ["copied", "here"].contains(parts[3]), parts[3] == "here" || parts[0] != BoardRequest.nowhere,
            BoardPost.contentSizes.contains(parts[4].utf8.count)
        else { return nil }
        self.init(
            place: parts[0] == BoardRequest.nowhere ? nil : parts[0], days: days, isUrgent: parts[2] == "urgent",
            isCopied: parts[3] == "copied", text: parts[4])
    }
}

import Nostr

/// A note the operator pins, as one argument of the control socket: place, hours (0: for ever), whether it is urgent,
/// and the text.
public struct NoteRequest: Equatable, Sendable {
    /// Hours a note may last.
    public static let hours = 0...720
    /// How long one lasts when nothing is said (chapter 05 §10).
    public static let standardHours = 24
    /// Longest text, so that the request fits a line of the control socket.
    public static let textBytes = 2_000

    public var place: String
    public var hours: Int
    public var isUrgent: Bool
    public var text: String

    public init(place: String, hours: Int, isUrgent: Bool, text: String) {
        self.place = place
        self.hours = hours
        self.isUrgent = isUrgent
        self.text = text
    }

    public var argument: String { "\(place) \(hours) \(isUrgent ? "urgent" : "plain") \(text)" }

    init?(argument: String) {
        let parts = argument.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, Geohash.isCanonical(parts[0]), let hours = Int(parts[1]),
            NoteRequest.hours.contains(hours), ["urgent", "plain"].contains(parts[2]),
            parts[3].utf8.count <= NoteRequest.textBytes
        else { return nil }
        self.init(place: parts[0], hours: hours, isUrgent: parts[2] == "urgent", text: parts[3])
    }
}

import Basics
import Nostr

/// The note by which an own post on the board of the mesh is copied to the relays of its place.
public struct BoardCopy: Hashable, Sendable {
    public let boardPost: [UInt8]
    public let id: EventID
    public let geohash: String
    public let text: String
    public let postedAt: WallTime
    public let expiresAt: WallTime
    /// Too much waited to be published.
    public internal(set) var isRefused = false

    public init(
        boardPost: [UInt8], id: EventID, geohash: String, text: String, postedAt: WallTime, expiresAt: WallTime
    ) {
        self.boardPost = boardPost
        self.id = id
        self.geohash = geohash
        self.text = text
        self.postedAt = postedAt
        self.expiresAt = expiresAt
    }
}

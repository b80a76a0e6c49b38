import Basics
import Wire

/// An own message that a relay confirmed a copy of (chapter 06 §5.8).
public struct PublishedDrop: Hashable, Sendable {
    /// A hash of message and recipient, or the bare message ID, as earlier versions of the apps kept it.
    public let key: String
    public let at: WallTime

    public init(key: String, at: WallTime) {
        self.key = key
        self.at = at
    }
}

/// What an earlier run of the messenger kept.
public struct MessengerMemory: Sendable {
    public var messages: [OutboxRecord] = []
    public var received: [ReceivedMessage] = []
    public var drops: [PublishedDrop] = []
    /// Mail that waits for the clock.
    public var held: [CourierEnvelope] = []

    public init() {}
}

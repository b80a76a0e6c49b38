import Basics

/// Every bound of the ATT bearer.
enum ATTLimits {
    /// Before an exchange, and the least an exchange can agree on (Core Specification, Vol 3 Part F 3.2.8).
    static let smallestMTU = 23
    /// What we offer in either direction (chapter 03 A7).
    static let ownMTU = 517
    /// Largest entry of a response that gives its entries' length in one byte.
    static let longestEntry = 255

    /// Prepared writes held for one link, in parts and in bytes (chapter 03 A13.4).
    static let preparedParts = 64
    static let preparedBytes = 4_096

    /// A request not answered after this long ends the bearer (Core Specification, Vol 3 Part F 3.3.3).
    static let requestTimeout = Interval.seconds(30)
    /// From the first request to the subscription (chapter 03 A13.5).
    static let setUpTime = Interval.seconds(10)
    /// An incoming connection of no use to the mesh is ended after this long (chapter 03 A13.6).
    static let unusedTime = Interval.seconds(30)

    /// A subscriber that has not exchanged the MTU by then is asked to. Phones have done so long before: iOS at once,
    /// Android after 0.2 s.
    static let beforeOwnExchange = Interval.seconds(2)
    /// A subscriber's MTU counts as the smallest when nothing was agreed on by then.
    static let exchangePatience = Interval.seconds(5)

    /// Changes of the peer's services followed at once, and regained per second: each is a discovery.
    static let serviceChanges = TokenBucket(capacity: 4, perSecond: 1.0 / 15)
    /// Times a peer may unsubscribe at once, and per second: each makes a new link for the mesh.
    static let unsubscriptions = TokenBucket(capacity: 8, perSecond: 1.0 / 30)
}

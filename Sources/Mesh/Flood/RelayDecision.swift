import Basics
import Wire

/// How a packet is flooded, by what it is (chapter 03 B6).
public enum RelayClass: Hashable, Sendable {
    case never
    /// Rule 3: a Noise handshake.
    case handshake
    /// Rule 3: a fragment, Noise message, courier envelope, ping, pong or carrier with a recipient field.
    case directed
    /// Rule 4: a fragment without recipient, or live voice.
    case stream
    /// Rule 5 with the wider limit of announces and urgent board posts.
    case urgent
    case ordinary

    /// - Parameter hasRecipient: the field is there, even if it holds the all-`ff` address.
    @inlinable
    public init(type: MessageType, hasRecipient: Bool, isUrgentBoardPost: Bool = false) {
        switch type {
        case .requestSync: self = .never
        case .noiseHandshake: self = .handshake
        case .fragment: self = hasRecipient ? .directed : .stream
        case .noiseEncrypted, .courierEnvelope, .ping, .pong, .nostrCarrier:
            self = hasRecipient ? .directed : .ordinary
        case .voiceFrame: self = .stream
        case .announce: self = .urgent
        case .boardPost: self = isUrgentBoardPost ? .urgent : .ordinary
        default: self = .ordinary
        }
    }
}

/// Relay with this TTL after a delay drawn from this range.
public struct RelayDecision: Equatable, Sendable {
    public let ttl: UInt8
    /// Milliseconds, both ends included.
    public let delay: ClosedRange<UInt8>

    /// The flood decision of chapter 03 B6. Nothing is relayed with a TTL of 1 or less, nor when we are the author or
    /// the addressee.
    /// - Parameters:
    ///   - degree: peers flagged connected.
    ///   - highDegreeThreshold: where the limits (not the delay bands) of a dense neighbourhood begin.
    /// - Returns: nil for "do not relay".
    @inlinable
    public static func decide(
        _ relayClass: RelayClass, ttl received: UInt8, degree: Int, isOurs: Bool,
        highDegreeThreshold: Int = MeshLimits.highDegreeThreshold
    ) -> RelayDecision? {
        let ttl = min(received, Packet.originTTL)
        guard relayClass != .never, ttl > 1, !isOurs else { return nil }
        let isDense = degree >= highDegreeThreshold
        switch relayClass {
        case .never: return nil
        case .handshake: return RelayDecision(ttl: ttl - 1, delay: 10...35)
        case .directed: return RelayDecision(ttl: ttl - 1, delay: 20...60)
        case .stream: return RelayDecision(ttl: (isDense ? min(ttl, 5) : ttl) - 1, delay: 8...25)
        case .urgent, .ordinary:
            if degree <= 2 { return RelayDecision(ttl: ttl - 1, delay: 10...40) }
            let limit: UInt8 = isDense ? 5 : relayClass == .urgent ? 7 : 6
            let delay: ClosedRange<UInt8> = degree <= 5 ? 60...150 : degree <= 9 ? 80...180 : 100...220
            return RelayDecision(ttl: max(2, min(ttl, limit)) - 1, delay: delay)
        }
    }

    @inlinable
    public init(ttl: UInt8, delay: ClosedRange<UInt8>) {
        self.ttl = ttl
        self.delay = delay
    }

    /// One draw of the delay.
    public func jitter(using random: inout some RandomNumberGenerator) -> Interval {
        let milliseconds = UInt8.random(in: delay, using: &random)
        return Interval.milliseconds(Int(milliseconds))
    }
}

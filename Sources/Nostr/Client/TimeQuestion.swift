import Basics

/// Learns what time a relay has from events that come in while they are new, where it does not tell the time itself.
public struct TimeQuestion {
    /// What a message of the relay's says.
    public enum Answer: Equatable, Sendable {
        /// Published while we listened, and verified.
        case live(createdAt: Int64, author: [UInt8])
        case ended
        case nothing
    }

    private static let subscription: StaticString = "now"
    private var isLive = false
    private var checks = 0
    /// Signatures checked in all.
    static let checks = 32

    public init() {}

    /// To send first. The one stored event asked for is not looked at: some relays take a limit of none for no limit.
    public static let request = ClientFrame.request(
        "\(subscription)",
        NostrFilter(kinds: [1, EventKind.channelMessage, EventKind.presence], limit: 1))

    public mutating func read(_ message: [UInt8]) -> Answer {
        message.withUnsafeBytes { bytes in
            guard bytes.count <= NostrLimits.messageBytes, bytes.isValidUTF8, let frame = try? RelayFrame.parse(bytes)
            else { return .nothing }
            switch frame {
            case .endOfStored(let id) where id.equals(TimeQuestion.subscription):
                isLive = true
                return .nothing
            case .closed: return .ended
            case .event(let id, _, .success(let layout)) where isLive && id.equals(TimeQuestion.subscription):
                checks += 1
                guard checks <= TimeQuestion.checks else { return .ended }
                guard let event = VerifiedEvent(verifying: NostrEvent(layout)) else { return .nothing }
                return .live(createdAt: event.event.createdAt, author: event.author.bytes)
            default: return .nothing
            }
        }
    }
}

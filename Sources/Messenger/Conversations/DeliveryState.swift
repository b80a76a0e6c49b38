/// How far a private message has come, as far as is known (chapter 06 §7.1).
public enum DeliveryState: Hashable, Sendable {
    /// Kept here, until there is a session with its addressee.
    case sending
    /// Encrypted and given to the mesh.
    case sent
    /// Sealed and taken by a courier or a relay.
    case carried
    case delivered
    case read
    case failed(DeliveryFailure)

    /// Certainty only grows, and what arrived cannot fail any more.
    func mayBecome(_ next: DeliveryState) -> Bool {
        switch (self, next) {
        case (.failed, .failed): false
        case (.failed, _): true
        case (_, .failed): rank < DeliveryState.delivered.rank
        default: rank < next.rank
        }
    }

    private var rank: Int {
        switch self {
        case .failed: 0
        case .sending: 1
        case .sent: 2
        case .carried: 3
        case .delivered: 4
        case .read: 5
        }
    }
}

/// Why a message is given up.
public enum DeliveryFailure: String, CaseIterable, Sendable {
    /// No receipt within a day.
    case expired
    /// Sent eight times without a receipt.
    case unanswered
    /// A newer message took its place among those kept for one peer.
    case displaced
    /// The person blocked its addressee.
    case blocked
}

/// Priority of output when a link has too much of it. Every header field is the sender's
/// choice, so what is relayed counts only within the share of the link it came in on: whoever fills one link with a
/// thousand names, or with directed packets to nobody, has one share.
enum OutputClass {
    /// Ours.
    case own
    /// Relayed to one recipient, within the ingress link's share.
    case directed
    /// Relayed to everybody, within the ingress link's share.
    case broadcast
    /// Relayed beyond the share of its ingress link, and answers to sync requests.
    case excess

    /// Tokens of the link's output that it leaves for others.
    var reserve: Double {
        switch self {
        case .own, .directed: 0
        case .broadcast: MeshLimits.outputKeptFromBroadcasts
        case .excess: MeshLimits.outputKeptFromExcess
        }
    }
}

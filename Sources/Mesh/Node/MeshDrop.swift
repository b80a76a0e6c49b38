/// Why something received, or due to be sent, went no further. Each name is a metric; none carries content.
public enum MeshDrop: String, CaseIterable, Sendable {
    // Received
    case unknownLink = "unknown-link"
    case malformedFrame = "malformed-frame"
    case selfLoopback = "self-loopback"
    case senderMismatch = "sender-mismatch"
    case unaskedSyncAnswer = "unasked-sync-answer"
    case syncAnswerRefused = "sync-answer-refused"
    case clockSkew = "clock-skew"
    case repeated = "repeated"
    case duplicate = "duplicate"
    case linkBudget = "link-budget"
    case inflationBudget = "inflation-budget"
    case undecodablePayload = "undecodable-payload"
    case knownForgery = "known-forgery"
    // Refused by a handler
    case badSignature = "bad-signature"
    case unknownAuthor = "unknown-author"
    case malformedPayload = "malformed-payload"
    case announceMismatch = "announce-mismatch"
    case announceStale = "announce-stale"
    case announceOutdated = "announce-outdated"
    case pinnedKeyMismatch = "pinned-key-mismatch"
    case stale = "stale"
    case notAddressed = "not-addressed"
    case misdirectedCarrier = "misdirected-carrier"
    case pingBudget = "ping-budget"
    case assemblyLimit = "assembly-limit"
    case assemblyExpired = "assembly-expired"
    case registryFull = "registry-full"
    case rebindRefused = "rebind-refused"
    case syncRequestRefused = "sync-request-refused"
    case syncRequestLimit = "sync-request-limit"
    case boardRefused = "board-refused"
    // Not sent
    case unverifiedRelayBudget = "unverified-relay-budget"
    case relayScheduleFull = "relay-schedule-full"
    case relayCancelled = "relay-cancelled"
    case frameTooLong = "frame-too-long"
    case spoolFull = "spool-full"
    case spoolExpired = "spool-expired"
    case trainLimit = "train-limit"
    case noLink = "no-link"
    case announceThrottled = "announce-throttled"
    case syncBacklog = "sync-backlog"
    case syncRequestBudget = "sync-request-budget"
    // Refused from the archive
    case historyRefused = "history-refused"
}

/// What the node did, for `status` and metrics.
public enum MeshCount: String, CaseIterable, Sendable {
    case framesReceived = "frames-received"
    case packetsAccepted = "packets-accepted"
    case framesSent = "frames-sent"
    case packetsRelayed = "packets-relayed"
    case packetsForwarded = "packets-forwarded"
    case packetsOriginated = "packets-originated"
    case fragmentsSent = "fragments-sent"
    case packetsReassembled = "packets-reassembled"
    case announcesSent = "announces-sent"
    case announcesVerified = "announces-verified"
    case messagesDelivered = "messages-delivered"
    case pingsAnswered = "pings-answered"
    case syncRequestsSent = "sync-requests-sent"
    case syncRequestsAnswered = "sync-requests-answered"
    /// Frames sent as sync answers, fragments included.
    case syncFramesServed = "sync-frames-served"
    /// Packets accepted as sync answers.
    case syncAnswersAccepted = "sync-answers-accepted"
    /// Duplicates forgotten for want of room before their time: the table is too small for the traffic.
    case duplicatesForgottenEarly = "duplicates-forgotten-early"
    /// The same for packets gossip remembers.
    case historyForgottenEarly = "history-forgotten-early"
}

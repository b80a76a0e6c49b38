/// Why something the relay client was given went no further. Every drop is counted here, and nothing of its content
/// kept.
public enum NostrDrop: String, CaseIterable, Sendable {
    // Frames
    case frameOversized = "frame-oversized"
    case frameInvalidUTF8 = "frame-invalid-utf8"
    case frameMalformed = "frame-malformed"
    case frameBinary = "frame-binary"
    /// NOTICE: for people, and relays put anything into it.
    case notice
    /// A challenge that nothing has made it worth to answer, or that is none.
    case authIgnored = "auth-ignored"
    case frameUnknown = "frame-unknown"
    case frameShed = "frame-shed"
    case staleSocket = "stale-socket"
    // Events
    case eventMalformed = "event-malformed"
    case eventBeyondLimits = "event-beyond-limits"
    case eventIDInvalid = "event-id-invalid"
    case eventUnrequested = "event-unrequested"
    case eventDuplicate = "event-duplicate"
    case eventOutsideFilter = "event-outside-filter"
    case eventOutsidePeriod = "event-outside-period"
    case eventExpired = "event-expired"
    case eventSignatureInvalid = "event-signature-invalid"
    // Answers
    case answerUnmatched = "answer-unmatched"
    case endOfStoredUnmatched = "eose-unmatched"
    case closedUnmatched = "closed-unmatched"
    // Publications
    case publicationGateClosed = "publication-gate-closed"
    case publicationOversized = "publication-oversized"
    case publicationWithoutRelay = "publication-without-relay"
    case publicationOverflow = "publication-overflow"
    case publicationTooOld = "publication-too-old"
    case publicationRelayRemoved = "publication-relay-removed"
    /// By what the relay says of itself it takes no message of that size, or none with so little work.
    case publicationBeyondRelay = "publication-beyond-relay"
    // Requests of the owner
    /// As many relays are known as may be, and every one is asked for something. Each try counts.
    case relayWithoutPlace = "relay-without-place"
    case subscriptionRefused = "subscription-refused"
}

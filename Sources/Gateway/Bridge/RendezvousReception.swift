import Basics
import Crypto
import Nostr
import Wire

/// What every receiver of bridge events keeps, whether they come from relays or by radio (chapter 06 §4.8, §4.11).
struct RendezvousReception {
    var verification = VerificationBudget()
    private var received = BoundedSet<EventID>(capacity: GatewayLimits.rememberedIDs)
    private var inbound = InboundRates()
    private(set) var participants = Participants()
    private(set) var radio = RadioMemory()
    private var rows = ReplaceableRows()

    /// After verification: first arrival, then the limits. A refused event stays received.
    mutating func admit(_ event: VerifiedEvent, at now: Instant) throws(CarriageOutcome) {
        guard received.insert(event.id) else { throw .repeated }
        guard inbound.admit(event.author, at: now) else { throw .keyOrTotalLimit }
    }

    mutating func presence(of author: NostrPublicKey, at now: Instant) {
        participants.record(author, nickname: nil, at: now)
    }

    /// Whether the island has the authenticated radio message that this one claims to be a copy of. If so the copy is
    /// neither shown nor counted nor sent.
    func isRadioCopy(_ message: RendezvousMessage) -> Bool { message.radioHint.map { radio.contains($0) } ?? false }

    /// Shows a message, and counts its author only if it was shown.
    mutating func show(
        _ event: VerifiedEvent, _ message: RendezvousMessage, cell: String, on display: inout MessageDisplay,
        at now: Now
    ) -> GatewayMessage? {
        guard let shown = display.bridgedMessage(event, message, cell: cell, at: now) else { return nil }
        participants.record(event.author, nickname: message.nickname, at: now.monotonic)
        if let hint = message.radioHint { rows.add(event.id, hint: hint) }
        return shown
    }

    /// A signature-verified public radio message was heard, live or through sync, bridge on or off.
    /// - Returns: the shown copies it replaces.
    mutating func radioSeen(_ stableID: String, at now: Instant) -> [EventID] {
        radio.insert(stableID, at: now)
        return rows.take(hint: stableID)
    }

    mutating func prune(at now: Instant) { participants.prune(at: now) }

    /// Switched off. The ID sets and rows stay: a radio copy may still come for a row shown earlier (chapter 06 §4.12).
    mutating func clear() {
        inbound.removeAll()
        participants.removeAll()
    }
}

/// How many signatures of bridge events may be checked: 720, refilled at 12/s, independent of what is accepted, so that
/// invalid events create no state (chapter 06 §4.8 step 5).
struct VerificationBudget {
    private var bucket = TokenBucket(
        capacity: GatewayLimits.verifications, perSecond: GatewayLimits.verificationsPerSecond)

    mutating func take(at now: Instant) throws(CarriageOutcome) {
        guard bucket.take(at: now) else { throw .verificationLimit }
    }

    mutating func verify(_ event: NostrEvent, at now: Instant) throws(CarriageOutcome) -> VerifiedEvent {
        try take(at: now)
        guard let verified = VerifiedEvent(verifying: event) else { throw .forged }
        return verified
    }
}

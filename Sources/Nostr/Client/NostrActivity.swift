/// What the relay client has done since it was made, over all relays: counters that outlive the relays they count for.
public enum NostrActivity: String, CaseIterable, Sendable {
    case dialled
    case connected
    case frameReceived = "frame-received"
    case signatureChecked = "signature-checked"
    case eventDelivered = "event-delivered"
    case requestSent = "request-sent"
    case eventSent = "event-sent"
    case authenticationSent = "authentication-sent"
    case authenticationAccepted = "authentication-accepted"
    case clockStepped = "clock-stepped"
}

/// What an `AttributeBearer` asks of the link that holds its socket.
public enum BearerEffect: Equatable, Sendable {
    /// Send before everything else, from a slot of its own that is never behind data (chapter 03 A10). While one waits
    /// for the socket, read nothing more from it: a peer that does not take its answers asks no further questions. One
    /// PDU received has at most one.
    case transmitResponse([UInt8])
    /// Send after responses and before frames. At most one is under way at a time.
    case transmitRequest([UInt8])
    /// The link is one for the mesh now: subscribed, or it delivered a frame (chapter 03 A13.4); as central, set up.
    /// After `down` it may come once more, for a new link ID on the same connection.
    case up(frameLimit: Int)
    /// Only between `up` and `down`.
    case frameLimitChanged(Int)
    /// One whole frame, as far as its header tells; only between `up` and `down`.
    case frame([UInt8])
    /// Frames that had to wait (`FrameFit.wait`) may go now.
    case readyForFrames
    /// The peer no longer listens; the connection stays (chapter 03 A11.6: an incoming link ends by unsubscribing).
    case down
    /// Close the connection. Nothing follows, and the bearer ignores what still arrives.
    case fail(BearerFailure)
}

/// Whether a frame can leave over a bearer.
public enum FrameFit: Equatable, Sendable {
    /// Now.
    case ready
    /// After the next `BearerEffect.readyForFrames`; the order of frames is kept by waiting behind this one.
    case wait
    /// Never: it exceeds the frame limit. It is not cut (chapter 03 A7).
    case tooLong
    /// The peer has not subscribed.
    case nobodyListens
}

/// Why a bearer gave its connection up.
public enum BearerFailure: String, CaseIterable, Sendable {
    /// The peer does not offer the mesh service, the characteristic, or its CCCD (chapter 03 A13.5).
    case serviceMissing = "service_missing"
    case characteristicMissing = "characteristic_missing"
    case descriptorMissing = "descriptor_missing"
    /// The characteristic can be neither written nor subscribed to as the mesh needs it.
    case characteristicUnsuitable = "characteristic_unsuitable"
    /// It had the service, and announced a change after which it was not to be found where it said.
    case serviceGone = "service_gone"
    /// An error response during set-up.
    case refused
    /// A response that breaks the protocol.
    case malformedResponse = "malformed_response"
    /// A request of ours was not answered within 30 s: the bearer is dead by definition (Core Specification, Vol 3
    /// Part F 3.3.3).
    case requestTimedOut = "request_timed_out"
    /// Set-up took longer than 10 s (chapter 03 A13.5).
    case setUpTimedOut = "set_up_timed_out"
    /// An incoming connection that in 30 s neither subscribed nor delivered a frame (chapter 03 A13.6).
    case unused
    /// It subscribed and unsubscribed without end.
    case restless

    /// Leave the address alone for 15 min: it is no mesh node and will not be one in a moment (chapter 03 A13.5).
    public var isLasting: Bool {
        switch self {
        case .serviceMissing, .characteristicMissing, .descriptorMissing, .characteristicUnsuitable: true
        case .serviceGone, .refused, .malformedResponse, .requestTimedOut, .setUpTimedOut, .unused, .restless: false
        }
    }
}

/// What a bearer ignored or refused.
public enum BearerDrop: String, CaseIterable, Sendable {
    /// A PDU of no bytes, or one too short for what it has to say that may not be answered.
    case malformedPDU = "malformed_pdu"
    /// A request answered with an error.
    case requestRefused = "request_refused"
    /// A command we do not know, or a write command to what is not written.
    case commandIgnored = "command_ignored"
    /// A response nobody asked for.
    case unexpectedResponse = "unexpected_response"
    /// A confirmation, a notification or an indication of something we did not ask for.
    case unexpectedValue = "unexpected_value"
    /// A written value that is no frame.
    case notAFrame = "not_a_frame"
    /// Notifications that make no frame: stray bytes, and partial frames given up (chapter 03 A8.2).
    case undecodableStream = "undecodable_stream"
    /// A write request of ours that was answered with an error.
    case writeRefused = "write_refused"
    /// An announced change of the peer's services that was not followed, having come too soon after others.
    case serviceChangeIgnored = "service_change_ignored"
}

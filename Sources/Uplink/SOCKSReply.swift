/// A proxy's answer to CONNECT (RFC 1928 §6), with the codes that Tor adds for onion services when its flag
/// `ExtendedErrors` is set.
enum SOCKSReply: UInt8, CaseIterable {
    case succeeded = 0x00
    case generalFailure = 0x01
    case notAllowed = 0x02
    case networkUnreachable = 0x03
    case hostUnreachable = 0x04
    case refused = 0x05
    case expired = 0x06
    case commandUnsupported = 0x07
    case addressUnsupported = 0x08
    case descriptorMissing = 0xf0
    case descriptorInvalid = 0xf1
    case introductionFailed = 0xf2
    case rendezvousFailed = 0xf3
    case authorizationMissing = 0xf4
    case authorizationWrong = 0xf5
    case addressInvalid = 0xf6
    case introductionTimedOut = 0xf7

    /// What the redial rules make of it (chapter 05 §6.3); nil for success. Tor answers 0x01 for most of what happens
    /// behind the exit, a closed port included, and 0x04 for names that do not exist.
    var failure: StreamFailure? {
        let text = "\(meaning) (SOCKS5 reply \(SOCKSReply.hex(rawValue)))"
        switch self {
        case .succeeded: return nil
        case .hostUnreachable, .descriptorInvalid, .addressInvalid: return .nameUnusable(text)
        case .networkUnreachable, .refused, .introductionFailed, .rendezvousFailed: return .refused(text)
        case .expired, .introductionTimedOut: return .timedOut(text)
        case .generalFailure, .notAllowed, .commandUnsupported, .addressUnsupported, .descriptorMissing,
            .authorizationMissing, .authorizationWrong:
            return .failed(text)
        }
    }

    static func unknown(_ code: UInt8) -> StreamFailure {
        .failed("the proxy gave an answer of no known meaning (SOCKS5 reply \(hex(code)))")
    }

    private static func hex(_ code: UInt8) -> String {
        "0x" + (code < 16 ? "0" : "") + String(code, radix: 16)
    }

    private var meaning: String {
        switch self {
        case .succeeded: "connected"
        case .generalFailure: "no connection could be made beyond the proxy"
        case .notAllowed: "the proxy's rules forbid this connection"
        case .networkUnreachable: "its network cannot be reached"
        case .hostUnreachable: "its name does not exist, or leads nowhere"
        case .refused: "it refused the connection"
        case .expired: "the proxy found no way to it in time"
        case .commandUnsupported: "the proxy cannot make connections"
        case .addressUnsupported: "the proxy does not take host names"
        case .descriptorMissing: "the onion service is not announced: it is down, or its address is wrong"
        case .descriptorInvalid: "the onion service's announcement is invalid"
        case .introductionFailed: "the onion service could not be asked in"
        case .rendezvousFailed: "the onion service did not come to the meeting point"
        case .authorizationMissing: "the onion service wants a client key"
        case .authorizationWrong: "the onion service refused the client key"
        case .addressInvalid: "the onion address is invalid"
        case .introductionTimedOut: "the onion service did not answer in time"
        }
    }
}

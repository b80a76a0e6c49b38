import Basics

/// Why a TLS connection was not made or not trusted, in words an operator can act on.
public enum TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The certificate ended at this time; the second is when it was checked.
    case expired(WallTime, checked: WallTime)
    /// The certificate begins at this time; the second is when it was checked.
    case notYetValid(WallTime, checked: WallTime)
    /// The certificate is for other names; at most three of them, none when it has none that can be shown.
    case wrongHost(names: [String])
    case selfSigned
    /// The issuer is not among the trusted ones, or the server left out a certificate between.
    case unknownIssuer
    /// The certificate is not meant for servers.
    case unsuitablePurpose
    /// The certificate, or its issuer's, has a key or a signature too weak to be trusted.
    case tooWeak
    /// What else is wrong with the certificate.
    case untrusted(String)
    /// No common version or cipher: the server speaks nothing as new as TLS 1.2.
    case noCommonVersion
    /// The server's alert, by its number (RFC 8446 §6).
    case refusedByServer(alert: Int)
    /// The server broke the protocol, or is no TLS server.
    case protocolError
    /// The connection ended without the server saying that this was all.
    case truncated
    /// The handshake was cut off.
    case hungUp
    /// The library could not do its part.
    case library(String)

    public var description: String {
        switch self {
        case .expired(let end, let checked):
            "its certificate expired on \(TLSFailure.date(end)); it is \(TLSFailure.date(checked)) here"
        case .notYetValid(let start, let checked):
            "its certificate is valid from \(TLSFailure.date(start)) only; it is \(TLSFailure.date(checked)) here"
        case .wrongHost(let names):
            names.isEmpty
                ? "its certificate is not for this host name, nor for any other"
                : "its certificate is for other host names: \(names.joined(separator: ", "))"
        case .selfSigned: "its certificate is self-signed, so anybody may have made it"
        case .unknownIssuer: "its certificate's issuer is not trusted here, or a certificate between is missing"
        case .unsuitablePurpose: "its certificate is not meant for a server"
        case .tooWeak: "its certificate's key or signature is too weak"
        case .untrusted(let text): "its certificate is not trusted: \(text)"
        case .noCommonVersion: "it offers no TLS 1.2 or newer with a cipher that is still safe"
        case .refusedByServer(let alert): "it ended the TLS connection (alert \(alert))"
        case .protocolError: "it broke the TLS protocol, or does not speak TLS on this port"
        case .truncated: "the TLS connection was cut off"
        case .hungUp: "it hung up during the TLS handshake"
        case .library(let text): "TLS is not available: \(text)"
        }
    }

    /// The day and time in UTC, to the minute.
    private static func date(_ time: WallTime) -> String { CivilDate(time).minuteText }
}

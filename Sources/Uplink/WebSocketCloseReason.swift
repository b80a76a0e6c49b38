/// Why a WebSocket is closed.
public enum WebSocketCloseReason: Equatable, Sendable, CustomStringConvertible {
    /// `close` was called and the connection is gone.
    case closedByUs
    /// The server closed with this code, nil when it gave none. The text is the server's and untrusted.
    case closedByServer(code: UInt16?, text: String)
    /// The host's name means nothing.
    case nameUnusable(String)
    /// This build or configuration cannot reach the server; the text names what is needed.
    case unsupported(String)
    /// The way out is not there; says nothing about the server.
    case routeUnavailable(String)
    /// No connection was made.
    case connectFailed(String)
    /// The server did not prove who it is, or broke TLS, before the connection was up.
    case tlsFailed(TLSFailure)
    /// A proper HTTP response, but not status 101.
    case upgradeRefused(status: Int)
    /// Status 101 with this part of the header missing or wrong.
    case upgradeInvalid(String)
    /// The answer to the upgrade request cannot be read.
    case invalidResponse(String)
    /// No connection, or no upgrade, within the time allowed.
    case openTimedOut(String)
    /// The connection ended or broke without a closing handshake.
    case connectionLost(String)
    /// Nothing arrived for the keep-alive's time, not even an answer to a ping.
    case unresponsive
    /// The server sent frames that break RFC 6455.
    case protocolError
    /// A text message is not UTF-8.
    case invalidText
    /// A message exceeds 512 KiB, or 1,024 frames.
    case messageTooLarge

    /// Redialling soon is pointless: name resolution failure or a non-upgrade HTTP response (chapter 05 §6.3), and
    /// what this build cannot do at all.
    public var isPermanent: Bool {
        switch self {
        case .nameUnusable, .unsupported, .upgradeRefused, .upgradeInvalid: true
        case .closedByUs, .closedByServer, .routeUnavailable, .connectFailed, .tlsFailed, .invalidResponse,
            .openTimedOut, .connectionLost, .unresponsive, .protocolError, .invalidText, .messageTooLarge:
            false
        }
    }

    /// For `status`: contains nothing the server sent except numbers and, of a certificate, plain host names.
    public var description: String {
        switch self {
        case .closedByUs: "closed"
        case .closedByServer(let code, _): code.map { "closed by the server with code \($0)" } ?? "closed by the server"
        case .nameUnusable(let text), .unsupported(let text), .routeUnavailable(let text), .connectFailed(let text),
            .openTimedOut(let text):
            text
        case .tlsFailed(let failure): failure.description
        case .upgradeRefused(let status): "the server answered HTTP \(status) instead of 101"
        case .upgradeInvalid(let part): "the server's upgrade is invalid: \(part)"
        case .invalidResponse(let text): text
        case .connectionLost(let text): "connection lost: \(text)"
        case .unresponsive: "the server has stopped answering"
        case .protocolError: "the server broke the WebSocket protocol"
        case .invalidText: "the server sent text that is not UTF-8"
        case .messageTooLarge:
            "the server sent a message of more than \(UplinkLimits.messageBytes) bytes or "
                + "\(UplinkLimits.messageFragments) frames"
        }
    }

    init(_ failure: StreamFailure) {
        switch failure {
        case .nameUnusable(let text): self = .nameUnusable(text)
        case .unsupported(let text): self = .unsupported(text)
        case .routeUnavailable(let text): self = .routeUnavailable(text)
        case .tlsFailed(let failure): self = .tlsFailed(failure)
        case .timedOut(let text): self = .openTimedOut(text)
        case .refused(let text), .failed(let text): self = .connectFailed(text)
        }
    }
}

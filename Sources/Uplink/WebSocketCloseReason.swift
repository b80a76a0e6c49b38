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
    /// No connection was made.
    case connectFailed(String)
    /// A proper HTTP response, but not status 101.
    case upgradeRefused(status: Int)
    /// Status 101 with this part of the header missing or wrong.
    case upgradeInvalid(String)
    /// The answer to the upgrade request cannot be read.
    case invalidResponse(String)
    /// No upgrade within the time allowed.
    case openTimedOut
    /// The connection ended or broke without a closing handshake.
    case connectionLost(String)
    /// Nothing arrived for the keep-alive's time, not even an answer to a ping.
    case unresponsive
    /// The server sent frames that break RFC 6455.
    case protocolError
    /// A text message is not UTF-8.
    case invalidText
    /// A message exceeds 512 KiB.
    case messageTooLarge

    /// Redialling soon is pointless: name resolution failure or a non-upgrade HTTP response (chapter 05 §6.3), and
    /// what this build cannot do at all.
    public var isPermanent: Bool {
        switch self {
        case .nameUnusable, .unsupported, .upgradeRefused, .upgradeInvalid: true
        case .closedByUs, .closedByServer, .connectFailed, .invalidResponse, .openTimedOut, .connectionLost,
            .unresponsive, .protocolError, .invalidText, .messageTooLarge:
            false
        }
    }

    /// For `status`: contains nothing the server sent except numbers.
    public var description: String {
        switch self {
        case .closedByUs: "closed"
        case .closedByServer(let code, _): code.map { "closed by the server with code \($0)" } ?? "closed by the server"
        case .nameUnusable(let text), .unsupported(let text), .connectFailed(let text): text
        case .upgradeRefused(let status): "the server answered HTTP \(status) instead of 101"
        case .upgradeInvalid(let part): "the server's upgrade is invalid: \(part)"
        case .invalidResponse(let text): text
        case .openTimedOut: "no answer to the upgrade request"
        case .connectionLost(let text): "connection lost: \(text)"
        case .unresponsive: "the server has stopped answering"
        case .protocolError: "the server broke the WebSocket protocol"
        case .invalidText: "the server sent text that is not UTF-8"
        case .messageTooLarge: "the server sent a message of more than \(UplinkLimits.messageBytes) bytes"
        }
    }

    init(_ failure: StreamFailure) {
        switch failure {
        case .nameUnusable(let text): self = .nameUnusable(text)
        case .unsupported(let text): self = .unsupported(text)
        case .failed(let text): self = .connectFailed(text)
        }
    }
}

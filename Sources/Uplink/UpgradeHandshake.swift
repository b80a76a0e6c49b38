import Basics
import Copenssl

/// The HTTP/1.1 exchange that opens a WebSocket, client side (RFC 6455 §4.1).
struct UpgradeHandshake {
    enum Outcome: Equatable {
        /// The header is not complete yet.
        case incomplete
        /// Upgraded; this many bytes at the end already belong to frames.
        case upgraded(surplus: Int)
        case failed(WebSocketCloseReason)
    }

    /// What is left of the request to send.
    private(set) var unsent: ArraySlice<UInt8>
    /// The `Date` of the answer, once there is one.
    private(set) var date: WallTime?
    private let expectedAccept: String
    private var header: [UInt8] = []

    /// - Parameter nonce: 16 fresh random bytes.
    init(address: WebSocketAddress, nonce: [UInt8]) {
        let key = UpgradeHandshake.base64(nonce)
        // No Origin, no User-Agent, no extensions, no subprotocol (chapter 05 §6.10).
        let lines = [
            "GET \(address.resource) HTTP/1.1", "Host: \(address.hostHeader)", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13", "", "",
        ]
        unsent = Array(lines.joined(separator: "\r\n").utf8)[...]
        expectedAccept = UpgradeHandshake.accept(forKey: key)
    }

    /// The answer a server must give to a key (RFC 6455 §4.2.2).
    static func accept(forKey key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        return base64(digest)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        // The encoder adds a closing zero.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }

    mutating func sent(_ count: Int) { unsent = unsent.dropFirst(count) }

    /// Takes more bytes of the response.
    mutating func receive(_ bytes: some Collection<UInt8>) -> Outcome {
        let searched = max(0, header.count - 3)
        header.append(contentsOf: bytes)
        let terminator = Array("\r\n\r\n".utf8)
        var position = searched
        while position + terminator.count <= min(header.count, UplinkLimits.headerBytes) {
            if header[position..<position + terminator.count].elementsEqual(terminator) {
                return judge(header[..<position], surplus: header.count - position - terminator.count)
            }
            position += 1
        }
        return header.count >= UplinkLimits.headerBytes
            ? .failed(.invalidResponse("the header exceeds \(UplinkLimits.headerBytes) bytes")) : .incomplete
    }

    private mutating func judge(_ header: ArraySlice<UInt8>, surplus: Int) -> Outcome {
        guard let response = HTTPResponseHead(header) else {
            return .failed(.invalidResponse("the answer is not HTTP/1.1"))
        }
        date = response.date
        guard response.status == 101 else { return .failed(.upgradeRefused(status: response.status)) }
        func refuse(_ what: String) -> Outcome { .failed(.upgradeInvalid(what)) }
        guard response.isVersion11 else { return refuse("HTTP version") }
        guard response.tokens("upgrade") == ["websocket"] else { return refuse("Upgrade") }
        guard response.tokens("connection").contains("upgrade") else { return refuse("Connection") }
        guard response.values("sec-websocket-accept") == [expectedAccept] else { return refuse("Sec-WebSocket-Accept") }
        // We offered neither, so the server must choose neither.
        guard response.values("sec-websocket-extensions").isEmpty else { return refuse("Sec-WebSocket-Extensions") }
        guard response.values("sec-websocket-protocol").isEmpty else { return refuse("Sec-WebSocket-Protocol") }
        return .upgraded(surplus: surplus)
    }
}

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

    private func judge(_ header: ArraySlice<UInt8>, surplus: Int) -> Outcome {
        guard let response = UpgradeResponse(header) else {
            return .failed(.invalidResponse("the answer is not HTTP/1.1"))
        }
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

/// The header of an HTTP/1 response, without its closing blank line (RFC 9112).
struct UpgradeResponse {
    let status: Int
    let isVersion11: Bool
    private var fields: [(name: String, value: String)] = []

    init?(_ header: ArraySlice<UInt8>) {
        var lines: [ArraySlice<UInt8>] = []
        var rest = header
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
            guard end + 1 < rest.endIndex, rest[end + 1] == UInt8(ascii: "\n") else { return nil }
            lines.append(rest[rest.startIndex..<end])
            rest = rest[(end + 2)...]
        }
        lines.append(rest)
        guard lines.count <= UplinkLimits.headerFields + 1,
            lines.allSatisfy({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") } })
        else { return nil }
        let texts = lines.map { String(decoding: $0, as: UTF8.self) }
        let words = texts[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, ["HTTP/1.1", "HTTP/1.0"].contains(words[0]), words[1].utf8.count == 3,
            words[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let status = Int(words[1])
        else { return nil }
        self.status = status
        isVersion11 = words[0] == "HTTP/1.1"
        for line in texts.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                line[..<colon].utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else { return nil }
            fields.append((line[..<colon].lowercased(), UpgradeResponse.trimmed(line[line.index(after: colon)...])))
        }
    }

    /// Every value of a field, in order. Names are given in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The comma-separated tokens of a field, in lower case.
    func tokens(_ name: String) -> [String] {
        values(name).flatMap { $0.split(separator: ",").map { UpgradeResponse.trimmed($0).lowercased() } }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(text[first...last])
    }
}

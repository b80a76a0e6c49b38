import Basics
import Wire

/// A relay's address in normal form, the key under which everything about a relay is kept (chapter 05 §4.1).
public struct NostrRelayURL: Sendable {
    /// Longest address taken.
    public static let maximumBytes = 2_048

    /// Whole URL: `ws` or `wss`, lower-case host, no default port, no fragment, no path `/`.
    public let text: String
    /// Whether the connection is made with TLS.
    public let isSecure: Bool
    /// Lower case; an IPv6 literal without its brackets.
    public let host: String
    public let port: UInt16
    /// What the HTTP request names: path and query, never empty.
    public let resource: String
    public let hasUserInfo: Bool

    /// Normalises an address; `nil` when it is none.
    ///
    /// - Parameter defaultScheme: taken for text without `://`, which is no address otherwise.
    public init?(_ text: String, defaultScheme: String? = nil) {
        var text = TextTrimming.trim(text)
        guard !text.isEmpty, text.utf8.count <= NostrRelayURL.maximumBytes else { return nil }
        if text.schemeMark == nil {
            guard let defaultScheme else { return nil }
            text = defaultScheme + "://" + text
        }
        guard let parts = URLParts(text) else { return nil }
        switch parts.scheme {
        case "wss", "https": isSecure = true
        case "ws", "http": isSecure = false
        default: return nil
        }
        let defaultPort: UInt16 = isSecure ? 443 : 80
        port = parts.port ?? defaultPort
        host = parts.host.lowercased()
        hasUserInfo = parts.userInfo != nil
        let path = parts.path == "/" ? "" : parts.path
        let query = parts.query.map { "?" + $0 } ?? ""
        resource = (path.isEmpty ? "/" : path) + query
        self.text =
            (isSecure ? "wss://" : "ws://") + (parts.userInfo.map { $0 + "@" } ?? "")
            + (parts.isIPv6 ? "[\(host)]" : host) + (port == defaultPort ? "" : ":\(port)") + path + query
    }

    public var isOnion: Bool { host.hasSuffix(".onion") }

    public var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0 < 0x3a })
    }
}

extension NostrRelayURL: Hashable, Comparable, CustomStringConvertible {
    public static func == (a: NostrRelayURL, b: NostrRelayURL) -> Bool { a.text == b.text }
    public static func < (a: NostrRelayURL, b: NostrRelayURL) -> Bool { a.text < b.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
    public var description: String { text }
}

/// Which relay addresses this box may dial (chapter 05 §4.1).
public struct RelayURLPolicy: Hashable, Sendable {
    /// A test switch: clear-text sockets to this machine.
    public var allowsLoopback: Bool

    public init(allowsLoopback: Bool = false) { self.allowsLoopback = allowsLoopback }

    /// Clear text only inside an onion circuit, and credentials for nobody.
    public func permits(_ url: NostrRelayURL) -> Bool {
        !url.hasUserInfo && (url.isSecure || url.isOnion || (allowsLoopback && url.isLoopback))
    }
}

extension String {
    /// Where the first `://` begins.
    fileprivate var schemeMark: String.Index? {
        utf8.indices.first { utf8[$0...].starts(with: "://".utf8) }
    }
}

/// The parts of an absolute URL with an authority, ASCII only (RFC 3986). Hosts in other scripts are refused, not
/// converted.
private struct URLParts {
    let scheme: String
    let userInfo: String?
    let host: String
    let isIPv6: Bool
    let port: UInt16?
    let path: String
    let query: String?

    init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let mark = text.schemeMark else { return nil }
        scheme = text[..<mark].lowercased()
        var rest = text[mark...].dropFirst(3)
        if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
        query = rest.firstIndex(of: "?").map { String(rest[rest.index(after: $0)...]) }
        if let mark = rest.firstIndex(of: "?") { rest = rest[..<mark] }
        let pathStart = rest.firstIndex(of: "/") ?? rest.endIndex
        path = String(rest[pathStart...])
        var authority = rest[..<pathStart]
        let at = authority.lastIndex(of: "@")
        userInfo = at.map { String(authority[..<$0]) }
        if let at { authority = authority[authority.index(after: at)...] }

        var portText: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = String(authority[authority.index(after: authority.startIndex)..<end])
            isIPv6 = true
            let tail = authority[authority.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { return nil }
            if !tail.isEmpty { portText = tail.dropFirst() }
            guard host.contains(":"),
                host.utf8.allSatisfy({ Hex.value(of: $0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { return nil }
        } else {
            let colon = authority.firstIndex(of: ":")
            host = String(authority[..<(colon ?? authority.endIndex)])
            isIPv6 = false
            if let colon { portText = authority[authority.index(after: colon)...] }
            guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy({ URLParts.isHostCharacter($0) })
            else { return nil }
        }
        if let portText {
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(portText), number > 0
            else { return nil }
            port = number
        } else {
            port = nil
        }
    }

    private static func isHostCharacter(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

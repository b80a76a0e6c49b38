/// Where a server is: the parts of a `ws://` or `wss://` URL (RFC 6455 §3), or of the `http://` or `https://` URL that
/// leads to the same place.
public struct WebSocketAddress: Equatable, Sendable, CustomStringConvertible {
    public let isSecure: Bool
    /// Lower case; an IPv6 literal without its brackets.
    public let host: String
    public let port: UInt16
    /// Path and query, at least `/`.
    public let resource: String

    public enum ParseError: String, Error, CaseIterable {
        case tooLong = "longer than 2048 bytes"
        case badCharacter = "a character other than printable ASCII"
        case badScheme = "neither ws:// nor wss://"
        case badWebScheme = "neither http:// nor https://"
        case userInfo = "a user name or password"
        case fragment = "a fragment"
        case badHost = "not a host name or IP address"
        case badPort = "not a port number"
    }

    public init(parsing url: String) throws(ParseError) {
        try self.init(url, clear: "ws://", secure: "wss://", otherwise: .badScheme)
    }

    public init(parsingHTTP url: String) throws(ParseError) {
        try self.init(url, clear: "http://", secure: "https://", otherwise: .badWebScheme)
    }

    private init(_ url: String, clear: String, secure: String, otherwise badScheme: ParseError) throws(ParseError) {
        guard url.utf8.count <= UplinkLimits.addressBytes else { throw .tooLong }
        guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .badCharacter }
        let rest: Substring
        if url.lowercased().hasPrefix(clear) {
            isSecure = false
            rest = url.dropFirst(clear.count)
        } else if url.lowercased().hasPrefix(secure) {
            isSecure = true
            rest = url.dropFirst(secure.count)
        } else {
            throw badScheme
        }
        guard !rest.contains("#") else { throw .fragment }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else { throw .userInfo }
        (host, port) = try WebSocketAddress.hostAndPort(authority, defaultPort: isSecure ? 443 : 80)
        let resource = rest.dropFirst(authority.count)
        self.resource = resource.hasPrefix("/") ? String(resource) : "/" + resource
    }

    /// What the `Host` header says: the port only when it is not the scheme's own.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    public var description: String { (isSecure ? "wss://" : "ws://") + hostHeader + (resource == "/" ? "" : resource) }

    private static func hostAndPort(
        _ authority: Substring, defaultPort: UInt16
    ) throws(ParseError) -> (String, UInt16) {
        let host: Substring
        let isLiteral = authority.hasPrefix("[")
        if isLiteral {
            guard let end = authority.firstIndex(of: "]") else { throw .badHost }
            host = authority[authority.index(after: authority.startIndex)..<end]
            guard !host.isEmpty, host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { throw .badHost }
        } else {
            host = authority.prefix { $0 != ":" }
            guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) }) else {
                throw .badHost
            }
        }
        guard host.utf8.count <= UplinkLimits.hostBytes else { throw .badHost }
        let rest = authority[host.endIndex...].dropFirst(isLiteral ? 1 : 0)
        guard !rest.isEmpty else { return (host.lowercased(), defaultPort) }
        let digits = rest.dropFirst()
        guard rest.first == ":", (1...5).contains(digits.count), digits.allSatisfy(\.isNumber),
            let port = UInt16(digits), port > 0
        else { throw .badPort }
        return (host.lowercased(), port)
    }
}

import Uplink

/// What follows `Bridge` in tor's configuration: the address of a way into Tor that is not public (chapter 05 §15.2).
/// Whoever knows it can block it, so it is never printed.
struct TorBridgeLine: Equatable {
    struct Problem: Error, Equatable {
        let message: String
    }

    /// Longest line, in bytes (chapter 05 §15.2).
    static let lengthLimit = 2_048
    static let transports = ["obfs4", "snowflake", "webtunnel", "meek_lite"]

    /// `nil` for a bridge that speaks Tor's own protocol.
    let transport: String?

    init(_ text: Substring) throws(Problem) {
        guard text.utf8.count <= TorBridgeLine.lengthLimit else {
            throw Problem(message: "is longer than \(TorBridgeLine.lengthLimit) bytes")
        }
        guard text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            throw Problem(message: "holds something that is not printable ASCII")
        }
        var words = text.split(separator: " ")[...]
        guard let first = words.first else { throw Problem(message: "is empty") }
        if first.contains(":") {
            transport = nil
        } else {
            guard TorBridgeLine.transports.contains(String(first)) else {
                throw Problem(
                    message: "must begin with an address or one of " + TorBridgeLine.transports.joined(separator: ", "))
            }
            transport = String(first)
            words = words.dropFirst()
        }
        guard let address = words.popFirst(), TorBridgeLine.isAddress(address) else {
            throw Problem(message: "needs an address and port, such as 192.0.2.7:443 or [2001:db8::7]:443")
        }
        if let next = words.first, !next.contains("=") {
            guard TorBridgeLine.isFingerprint(next) else {
                throw Problem(message: "has a fingerprint that is not 40 hex digits")
            }
            words = words.dropFirst()
        }
        try TorBridgeLine.checkArguments(words, of: transport)
    }

    private static func checkArguments(_ words: ArraySlice<Substring>, of transport: String?) throws(Problem) {
        var names: Set<Substring> = []
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw Problem(message: "has a part that is no name=value")
            }
            names.insert(parts[0])
        }
        let needed: [Substring]
        switch transport {
        case "obfs4": needed = ["cert", "iat-mode"]
        case "webtunnel", "meek_lite": needed = ["url"]
        case nil where !names.isEmpty: throw Problem(message: "names no transport, and so takes no name=value")
        default: needed = []
        }
        if let missing = needed.first(where: { !names.contains($0) }) {
            throw Problem(message: "lacks \(missing)=, without which \(transport ?? "it") cannot connect")
        }
    }

    private static func isAddress(_ text: Substring) -> Bool {
        guard let colon = text.lastIndex(of: ":") else { return false }
        var host = text[..<colon]
        let port = text[text.index(after: colon)...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return port.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(port) ?? 0 > 0
            && IPEndpoint(literal: String(host), port: 1) != nil
    }

    private static func isFingerprint(_ text: Substring) -> Bool {
        let digits = text.hasPrefix("$") ? text.dropFirst() : text
        return digits.utf8.count == 40 && digits.allSatisfy(\.isHexDigit)
    }
}

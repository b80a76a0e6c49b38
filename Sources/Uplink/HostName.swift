/// What a host name tells by itself.
enum HostName {
    /// Names under `.onion` are for Tor alone and are never resolved (RFC 7686).
    static func isOnion(_ host: String) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return name.lowercased() == "onion" || name.lowercased().hasSuffix(".onion")
    }

    /// Whether text that a server chose can be shown as a host name: short, and of a name's characters only.
    static func isPlain(_ text: String) -> Bool {
        (1...UplinkLimits.hostBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0)
                    || [0x2a, 0x2d, 0x2e, 0x5f].contains($0)
            }
    }
}

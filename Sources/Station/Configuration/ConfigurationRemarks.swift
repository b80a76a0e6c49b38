import Nostr

extension Configuration {
    /// What is allowed and yet cannot come true, each as `KEY: what is the matter`.
    public var remarks: [String] {
        var remarks: [String] = []
        if radio.outgoingLinks > radio.links {
            remarks.append(
                "radio.outgoing_links: \(radio.outgoingLinks) are never reached, since radio.links is \(radio.links)")
        }
        if network.tor == .required {
            remarks += nostr.relays.filter { !$0.isSecure && !$0.isOnion }.map {
                "nostr.relays: \($0.text) is never dialled: with network.tor = \"required\", ws:// is for .onion names"
            }
        }
        return remarks
    }
}

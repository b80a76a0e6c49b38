import Wire

/// How the name a peer announces is shown to people: it may be 255 bytes of anything.
enum PeerName {
    static let anonymous = "anon"

    /// The trimmed name, cut to what phones let their users choose; `anonymous` when nothing is left. Still untrusted.
    static func shown(_ nickname: String) -> String {
        let name = TextTrimming.trim(nickname)
        guard !name.isEmpty else { return anonymous }
        let most = Nickname.lengths.upperBound
        return name.count > most ? name.prefix(most) + "…" : name
    }
}

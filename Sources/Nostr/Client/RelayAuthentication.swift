/// How a relay that wants to know its clients is answered (NIP-42): once per connection, only when it has refused
/// something for it, and by a key made for this one answer, so that nothing said here can be linked to an identity
/// (chapter 05 §5.2).
struct RelayAuthentication {
    /// The relay has asked for it, on this connection or an earlier one.
    private(set) var isDemanded = false
    private var challenge: String?
    private var answer: EventID?
    private(set) var isAccepted = false

    mutating func demand() { isDemanded = true }

    mutating func challenged(_ text: String) { challenge = text }

    /// The challenge, if it is time to answer it; answer it then.
    mutating func takeChallenge() -> String? {
        guard isDemanded, answer == nil else { return nil }
        defer { challenge = nil }
        return challenge
    }

    mutating func answered(with event: EventID) { answer = event }

    func isAnswer(_ event: EventID) -> Bool { answer == event }

    mutating func accepted() { isAccepted = true }

    mutating func connectionEnded() {
        challenge = nil
        answer = nil
        isAccepted = false
    }
}

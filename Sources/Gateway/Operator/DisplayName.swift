import Nostr
import Wire

/// How a Nostr author is shown: nickname or `anon`, then `#` and the last 4 hex digits of the key (chapter 05 §3.5).
public enum DisplayName {
    public static func of(nickname: String?, pubkey: String) -> String { "\(nickname ?? "anon")#\(pubkey.suffix(4))" }

    /// The nickname in an event's first `n` tag, which may be 1024 bytes of anything: trimmed, without control
    /// characters, at most 50 characters (chapter 05 §2). nil when nothing is left.
    static func nickname(of event: NostrEvent) -> String? {
        guard let claimed = event.firstValue(ofTag: "n") else { return nil }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: claimed.unicodeScalars.filter { $0.properties.generalCategory != .control })
        let nickname = TextTrimming.trim(String(scalars)).prefix(GatewayLimits.nicknameCharacters)
        return nickname.isEmpty ? nil : String(nickname)
    }
}

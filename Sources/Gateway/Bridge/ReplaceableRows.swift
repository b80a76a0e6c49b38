import Basics
import Nostr

/// Bridged messages on display, by the radio message each claims to be a copy of, so that the authenticated radio copy
/// can replace them when it comes later (chapter 06 §4.8). At most 1337, oldest first forgotten.
struct ReplaceableRows {
    private var rows: [(id: EventID, hint: String)] = []

    var count: Int { rows.count }

    mutating func add(_ id: EventID, hint: String) {
        if rows.count >= GatewayLimits.replaceableRows { rows.removeFirst() }
        rows.append((id, hint))
    }

    /// Takes the rows that claim `hint`.
    mutating func take(hint: String) -> [EventID] {
        let taken = rows.filter { $0.hint == hint }.map(\.id)
        if !taken.isEmpty { rows.removeAll { $0.hint == hint } }
        return taken
    }
}

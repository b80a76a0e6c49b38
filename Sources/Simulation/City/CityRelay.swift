import Basics
import Nostr

/// The default relays of a city as one: keeps drops, and tells them to whoever asks for their tags.
struct CityRelay {
    private struct Asker: Hashable {
        let box: Int
        let subscription: String
    }

    private var stored: [String: [VerifiedEvent]] = [:]
    private var askers: [String: Set<Asker>] = [:]
    private var asked: [Asker: [String]] = [:]
    private(set) var count = 0

    private static func tags(of event: VerifiedEvent) -> [String] {
        event.event.tags.filter { $0.count > 1 && $0[0] == "x" }.map { $0[1] }
    }

    /// - Returns: who is told at once.
    mutating func take(_ event: VerifiedEvent) -> [Int] {
        count += 1
        var told: Set<Int> = []
        for tag in CityRelay.tags(of: event) {
            stored[tag, default: []].append(event)
            for asker in askers[tag] ?? [] {
                told.insert(asker.box)
            }
        }
        return told.sorted()
    }

    /// - Returns: what is stored of that, the newest first.
    mutating func subscribe(_ box: Int, _ subscription: String, _ filter: NostrFilter) -> [VerifiedEvent] {
        let asker = Asker(box: box, subscription: subscription)
        unsubscribe(asker)
        let tags = filter.tags["x"] ?? []
        asked[asker] = tags
        var found: [VerifiedEvent] = []
        for tag in tags {
            askers[tag, default: []].insert(asker)
            found += (stored[tag] ?? []).filter {
                $0.event.createdAt >= filter.since ?? .min && $0.event.createdAt <= filter.until ?? .max
            }
        }
        found.sort { $0.event.createdAt > $1.event.createdAt }
        return Array(found.prefix(filter.limit ?? found.count))
    }

    mutating func unsubscribe(_ box: Int, _ subscription: String) {
        unsubscribe(Asker(box: box, subscription: subscription))
    }

    private mutating func unsubscribe(_ asker: Asker) {
        for tag in asked.removeValue(forKey: asker) ?? [] { askers[tag]?.remove(asker) }
    }

    /// The box's connection is gone, and all it asked with it.
    mutating func disconnect(_ box: Int) {
        for asker in asked.keys where asker.box == box { unsubscribe(asker) }
    }
}

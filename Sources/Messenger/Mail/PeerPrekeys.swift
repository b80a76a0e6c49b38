import Basics
import Crypto
import Wire

/// Prekey bundles of others, and which of their keys we have sealed to (chapter 02 §7.8).
///
/// A prekey serves one message for ever; the same message sealed again, for another courier, keeps it.
public struct PeerPrekeys: Sendable {
    private struct Entry: Sendable {
        var bundle: PrekeyBundle
        /// Of ids the bundle offers; unused ones are absent.
        var messages: [UInt32: String]
        var updated: UInt64
    }

    private var entries: [NoisePublicKey: Entry] = [:]
    private var updates: UInt64 = 0

    public init() {}

    public var count: Int { entries.count }

    /// What became of a bundle.
    public enum Reception: Hashable, Sendable {
        case outdated
        /// - forgotten: whose bundle made room, so that no copy of it need be kept either.
        case kept(forgotten: NoisePublicKey?)
    }

    /// Keeps a bundle that is newer than the one held.
    @discardableResult
    public mutating func take(_ bundle: Verified<PrekeyBundle>) -> Reception { store(bundle.payload) }

    mutating func store(_ bundle: PrekeyBundle) -> Reception {
        guard let owner = NoisePublicKey(bundle.noisePublicKey) else { return .outdated }
        let known = entries[owner]
        if let known, bundle.generatedAt <= known.bundle.generatedAt { return .outdated }
        let isFull = known == nil && entries.count >= MessengerLimits.bundleOwners
        let forgotten = isFull ? forgetLongestUnchanged() : nil
        let offered = Set(bundle.prekeys.map(\.id))
        updates += 1
        entries[owner] = Entry(
            bundle: bundle, messages: known?.messages.filter { offered.contains($0.key) } ?? [:], updated: updates)
        return .kept(forgotten: forgotten)
    }

    /// The prekey to seal this message to, the same one each time; `nil` when it must be sealed to the static key.
    public mutating func prekey(
        for messageID: String, to owner: NoisePublicKey, at now: WallTime
    ) -> PrekeyBundle.Prekey? {
        guard let entry = entries[owner], isFresh(entry.bundle, at: now) else { return nil }
        if let id = entry.messages.first(where: { $0.value == messageID })?.key {
            return entry.bundle.prekeys.first { $0.id == id }
        }
        guard let prekey = lowestUnused(of: entry) else { return nil }
        entries[owner]?.messages[prekey.id] = messageID
        return prekey
    }

    /// Marks an id as used, if the owner offers it.
    mutating func noteAssigned(_ id: UInt32, of owner: NoisePublicKey, to messageID: String) {
        guard let entry = entries[owner], entry.messages[id] == nil,
            entry.bundle.prekeys.contains(where: { $0.id == id })
        else { return }
        entries[owner]?.messages[id] = messageID
    }

    /// Whether another message could be sealed to a prekey.
    public func canSeal(to owner: NoisePublicKey, at now: WallTime) -> Bool {
        entries[owner].map { isFresh($0.bundle, at: now) && lowestUnused(of: $0) != nil } ?? false
    }

    private func lowestUnused(of entry: Entry) -> PrekeyBundle.Prekey? {
        entry.bundle.prekeys.filter { entry.messages[$0.id] == nil }.min { $0.id < $1.id }
    }

    /// A date ahead of the clock counts as fresh.
    private func isFresh(_ bundle: PrekeyBundle, at now: WallTime) -> Bool {
        now.age(of: bundle.generatedAt) <= MessengerLimits.bundleAge
    }

    private mutating func forgetLongestUnchanged() -> NoisePublicKey? {
        let oldest = entries.min { $0.value.updated < $1.value.updated }?.key
        if let oldest { entries[oldest] = nil }
        return oldest
    }
}

// MARK: At rest

extension PeerPrekeys {
    /// One owner's bundle and the messages its keys were used for. A used key that came back unused would be used
    /// twice, so store it before the sealed message leaves.
    public struct Record: Hashable, Sendable {
        public let owner: NoisePublicKey
        public let bundle: PrekeyBundle
        public let messages: [UInt32: String]

        public init(owner: NoisePublicKey, bundle: PrekeyBundle, messages: [UInt32: String]) {
            self.owner = owner
            self.bundle = bundle
            self.messages = messages
        }
    }

    public func record(of owner: NoisePublicKey) -> Record? {
        entries[owner].map { Record(owner: owner, bundle: $0.bundle, messages: $0.messages) }
    }

    /// The longest unchanged first, as `restore` wants them.
    public var records: [Record] {
        entries.sorted { $0.value.updated < $1.value.updated }.map {
            Record(owner: $0.key, bundle: $0.value.bundle, messages: $0.value.messages)
        }
    }

    public mutating func restore(_ records: [Record]) {
        for record in records where store(record.bundle) != .outdated {
            let offered = Set(record.bundle.prekeys.map(\.id))
            entries[record.owner]?.messages = record.messages.filter { offered.contains($0.key) }
        }
    }
}

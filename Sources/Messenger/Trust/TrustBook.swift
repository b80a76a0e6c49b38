import Basics
import Crypto
import Wire

/// Whom a person verified, blocked or made a favourite, and who made the person one.
///
/// Decisions are never dropped; when they fill the book, another is refused. What strangers say fills only the rest.
public struct TrustBook: Sendable {
    private struct Entry: Sendable {
        var record: TrustRecord
        var touched: UInt64
    }

    private var entries: [Fingerprint: Entry] = [:]
    private var blocked: Set<PeerID> = []
    private var clock: UInt64 = 0

    public init(_ records: [TrustRecord] = []) {
        for record in records where !record.isEmpty && entries.count < MessengerLimits.trustRecords { keep(record) }
    }

    public var count: Int { entries.count }

    public subscript(fingerprint: Fingerprint) -> TrustRecord? { entries[fingerprint]?.record }

    /// By fingerprint, so that lists are stable.
    public var records: [TrustRecord] {
        entries.values.map(\.record).sorted { $0.fingerprint.hex < $1.fingerprint.hex }
    }

    /// For commands about somebody who is not in reach.
    public func record(of peer: PeerID) -> TrustRecord? {
        entries.first { $0.key.peerID == peer }?.value.record
    }

    /// Somebody else with this name was verified or made a favourite, and must not be confused with this peer.
    public func hasTrustedNamesake(of nickname: String, besides peer: PeerID) -> Bool {
        entries.contains { fingerprint, entry in
            (entry.record.isVerified || entry.record.isFavorite) && fingerprint.peerID != peer
                && entry.record.nickname == nickname
        }
    }

    public func isVerified(_ fingerprint: Fingerprint) -> Bool { self[fingerprint]?.isVerified ?? false }
    public func isBlocked(_ fingerprint: Fingerprint) -> Bool { self[fingerprint]?.isBlocked ?? false }
    /// For packets that name no more than a peer ID.
    public func isBlocked(_ peer: PeerID) -> Bool { blocked.contains(peer) }

    /// The most recently verified first.
    public var verified: [TrustRecord] {
        records.filter(\.isVerified).sorted {
            ($0.verifiedAt ?? WallTime(milliseconds: 0)) > ($1.verifiedAt ?? WallTime(milliseconds: 0))
        }
    }

    /// Replaces the record with the same key; an empty record is removed.
    ///
    /// - Returns: false when there is no room for it.
    mutating func set(_ record: TrustRecord) -> Bool {
        let fingerprint = record.fingerprint
        if record.isEmpty {
            remove(fingerprint)
            return true
        }
        if entries[fingerprint] == nil, entries.count >= MessengerLimits.trustRecords {
            let oldest = entries.filter { !$0.value.record.isDecided }.min { $0.value.touched < $1.value.touched }
            guard let oldest else { return false }
            remove(oldest.key)
        }
        keep(record)
        return true
    }

    private mutating func keep(_ record: TrustRecord) {
        clock += 1
        let fingerprint = record.fingerprint
        entries[fingerprint] = Entry(record: record, touched: clock)
        if record.isBlocked { blocked.insert(fingerprint.peerID) } else { blocked.remove(fingerprint.peerID) }
    }

    private mutating func remove(_ fingerprint: Fingerprint) {
        entries[fingerprint] = nil
        blocked.remove(fingerprint.peerID)
    }
}

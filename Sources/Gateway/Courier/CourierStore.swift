import Basics
import Crypto
import Wire

/// Why an envelope was not taken. The depositor is never told (chapter 06 §6.1).
public enum CourierRefusal: String, CaseIterable, Error, Sendable {
    case malformed
    case expired
    /// It would have to be kept for longer than senders ever ask.
    case expiryTooFar = "expiry-too-far"
    case depositorQuota = "depositor-quota"
    /// The room for depositors who are only verified is taken.
    case verifiedFull = "verified-full"
    case full
}

/// Mail carried for third parties: who may leave how much, what makes room for what, and how copies spread (chapter 06
/// §6.2–6.6). A value: it sends and stores nothing itself, and what it offers stays carried until it is told what
/// became of the offer.
public struct CourierStore: Sendable {
    public let quota: CourierQuota
    /// In order of arrival.
    private var carried: [CarriedEnvelope] = []

    public init(quota: CourierQuota = CourierLimits.gateway) { self.quota = quota }

    /// A change of the store, for its persistent copy.
    public enum Change: Hashable, Sendable {
        case put(CarriedEnvelope)
        case removed(MailID)
    }

    public var count: Int { carried.count }
    public var isEmpty: Bool { carried.isEmpty }
    /// In order of arrival.
    public var envelopes: [CarriedEnvelope] { carried }

    public subscript(id: MailID) -> CarriedEnvelope? { index(of: id).map { carried[$0] } }

    /// Whether the depositor would leave nothing new with it.
    func holds(_ envelope: CourierEnvelope, of depositor: NoisePublicKey) -> Bool {
        index(of: envelope, of: depositor) != nil
    }

    // MARK: Taking in

    /// Takes an envelope into care. One that is here already is taken again without counting: it replenishes a budget
    /// only as long as nothing of it was given away. A depositor's ciphertext is one envelope whatever else it says
    /// (chapter 06 §6.2); what another brought under the same ciphertext may be the genuine one, or a forgery to keep
    /// it out, and has a place of its own among that one's.
    ///
    /// - Parameter isTrusted: whether the time is; what has expired by another only makes room where room is needed.
    /// - Returns: what changed; nothing for an envelope known before.
    public mutating func deposit(
        _ envelope: CourierEnvelope, from depositor: NoisePublicKey, tier: CourierTier, at now: WallTime,
        isTrusted: Bool = true
    ) throws(CourierRefusal) -> [Change] {
        guard envelope.recipientTag.count == CourierEnvelope.tagSize,
            CourierEnvelope.ciphertextSizes.contains(envelope.ciphertext.count)
        else { throw .malformed }
        guard !envelope.isExpired(at: now) else { throw .expired }
        guard envelope.expiry.milliseconds - now.milliseconds <= CourierLimits.longestLife else { throw .expiryTooFar }
        var changes = isTrusted ? prune(at: now) : []
        if let index = index(of: envelope, of: depositor) {
            if !carried[index].wasSprayed, envelope.copies > carried[index].envelope.copies {
                carried[index].envelope = carried[index].envelope.withCopies(envelope.copies)
                changes.append(.put(carried[index]))
            }
            return changes
        }
        let live = carried.filter { !$0.envelope.isExpired(at: now) }
        guard live.count(where: { $0.depositor == depositor }) < quota.each(tier) else { throw .depositorQuota }
        if tier == .verified, live.count(where: { $0.tier == .verified }) >= quota.verified {
            guard let victim = publishedVerified(at: now) else { throw .verifiedFull }
            changes.append(.removed(carried.remove(at: victim).id))
        }
        if live.count < carried.count, carried.count >= quota.total { changes += prune(at: now) }
        if carried.count >= quota.total {
            guard let victim = nextToGo(for: tier) else { throw .full }
            changes.append(.removed(carried.remove(at: victim).id))
        }
        let record = CarriedEnvelope(envelope, depositor: depositor, storedAt: now, tier: tier)
        carried.append(record)
        changes.append(.put(record))
        return changes
    }

    /// Who makes room: among the merely verified first, then, for a favourite, among favourites; what a relay has a
    /// copy of before what nobody else has, and the oldest first (chapter 06 §6.2, §6.7).
    private func nextToGo(for newcomer: CourierTier) -> Int? {
        for tier in [CourierTier.verified, .favorite] where tier == .verified || newcomer == .favorite {
            let candidates = carried.indices.filter { carried[$0].tier == tier }
            if let index = candidates.first(where: { carried[$0].lastPublished != nil }) ?? candidates.first {
                return index
            }
        }
        return nil
    }

    /// What makes room in the pool of the merely verified before anybody is refused (chapter 06 §6.7): of those that a
    /// relay has a copy of, the oldest of whoever has most here, so that a crowd of invented depositors displaces its
    /// own first.
    private func publishedVerified(at now: WallTime) -> Int? {
        var counts: [NoisePublicKey: Int] = [:]
        for mail in carried { counts[mail.depositor, default: 0] += 1 }
        let candidates = carried.indices.filter { index in
            let mail = carried[index]
            return mail.tier == .verified && mail.lastPublished != nil && !mail.envelope.isExpired(at: now)
        }
        let most = candidates.compactMap { counts[carried[$0].depositor] }.max()
        return candidates.first { counts[carried[$0].depositor] == most }
    }

    /// Takes back what an earlier run kept, joined with what has come since; the bounds apply again, in order of
    /// arrival.
    public mutating func restore(
        _ records: [CarriedEnvelope], at now: WallTime, isTrusted: Bool = true
    ) -> [Change] {
        let fresh = carried
        carried = []
        var changes: [Change] = []
        for record in (records + fresh).sorted(by: { $0.storedAt < $1.storedAt }) {
            if let index = index(of: record.id) {
                carried[index] = carried[index].merged(with: record)
                changes.append(.put(carried[index]))
                continue
            }
            let isExpired = record.envelope.isExpired(at: now)
            let others = carried.count { $0.depositor == record.depositor && !$0.envelope.isExpired(at: now) }
            if isExpired ? isTrusted : others >= quota.each(record.tier) {
                changes.append(.removed(record.id))
            } else {
                carried.append(record)
            }
        }
        if carried.count > quota.total { changes += prune(at: now) }
        while carried.count(where: { $0.tier == .verified && !$0.envelope.isExpired(at: now) }) > quota.verified
            || carried.count > quota.total,
            let victim = nextToGo(for: .favorite)
        {
            changes.append(.removed(carried.remove(at: victim).id))
        }
        return changes
    }

    /// Lets go of what has expired.
    public mutating func prune(at now: WallTime) -> [Change] {
        let expired = carried.filter { $0.envelope.isExpired(at: now) }
        guard !expired.isEmpty else { return [] }
        carried.removeAll { $0.envelope.isExpired(at: now) }
        return expired.map { .removed($0.id) }
    }

    // MARK: Giving away

    /// Unexpired letters whose tags match this peer, to be handed over.
    public func addressed(to peer: PeerTags, at now: WallTime) -> [CarriedEnvelope] {
        carried.filter { peer.contains($0.envelope.recipientTag) && !$0.envelope.isExpired(at: now) }
    }

    /// It reached its addressee over a proven link: it need not be carried any longer.
    public mutating func handedOver(_ id: MailID) -> [Change] {
        guard let index = index(of: id) else { return [] }
        carried.remove(at: index)
        return [.removed(id)]
    }

    /// Letters to send towards this peer in case they arrive, each at most once every `pause` (by default ten minutes).
    public func speculative(
        to peer: PeerTags, at now: WallTime, pause: UInt64 = CourierLimits.remoteHandoverPause
    ) -> [CarriedEnvelope] {
        addressed(to: peer, at: now).filter { mail in
            mail.lastRemoteHandover.map { now.distance(to: $0) >= pause } ?? true
        }
    }

    public mutating func sentSpeculatively(_ id: MailID, at now: WallTime) -> [Change] {
        change(id) { $0.lastRemoteHandover = now }
    }

    /// Envelopes with budget to share that this courier neither left here, nor has, nor is to receive. Each with the
    /// copies it would get: half of what is left, rounded down (chapter 06 §6.5).
    public func shares(for courier: PeerTags, at now: WallTime) -> [CourierShare] {
        carried.filter { mail in
            mail.share > 0 && mail.depositor != courier.key && !mail.couriers.contains(courier.key)
                && mail.couriers.count < CourierLimits.couriersEach && !courier.contains(mail.envelope.recipientTag)
                && !mail.envelope.isExpired(at: now)
        }.map { CourierShare(id: $0.id, envelope: $0.envelope.withCopies($0.share)) }
    }

    /// The courier has its share.
    public mutating func gave(_ share: CourierShare, to courier: NoisePublicKey) -> [Change] {
        change(share.id) { mail in
            mail.envelope = mail.envelope.withCopies(mail.envelope.copies - min(share.copies, mail.envelope.copies - 1))
            mail.couriers.insert(courier)
        }
    }

    // MARK: Relays

    /// A relay confirmed a copy.
    public mutating func published(_ id: MailID, at now: WallTime) -> [Change] {
        change(id) { mail in
            mail.lastPublished = now
            mail.publications = mail.publications == .max ? .max : mail.publications + 1
        }
    }

    private mutating func change(_ id: MailID, _ body: (inout CarriedEnvelope) -> Void) -> [Change] {
        guard let index = index(of: id) else { return [] }
        body(&carried[index])
        return [.put(carried[index])]
    }

    private func index(of id: MailID) -> Int? { carried.firstIndex { $0.id == id } }

    private func index(of envelope: CourierEnvelope, of depositor: NoisePublicKey) -> Int? {
        index(of: MailID(envelope))
            ?? carried.firstIndex { $0.depositor == depositor && $0.envelope.ciphertext == envelope.ciphertext }
    }
}

/// A copy of an envelope for another courier, with its part of the budget.
public struct CourierShare: Hashable, Sendable {
    public let id: MailID
    /// With the budget the courier gets.
    public let envelope: CourierEnvelope
    public var copies: UInt8 { envelope.copies }
}

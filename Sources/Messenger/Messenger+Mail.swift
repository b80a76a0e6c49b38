import Basics
import Crypto
import Wire

/// Whether somebody can be written to over relays, and why not (chapter 05 §13.3).
public enum MailPath: String, CaseIterable, Sendable {
    case usable
    /// The person has no account: relays were not asked for.
    case noAccount = "no-account"
    case unknown
    case blocked
    case notAFavorite = "not-a-favorite"
    case noAccountTold = "no-account-told"
    case notFavoredBack = "not-favored-back"
    case relaysDown = "relays-down"

    /// What is written now can go some time without anybody having to do more.
    public var isWorthWaiting: Bool { self == .usable || self == .relaysDown }
}

/// Mail over relays: where there is no way over the mesh, to favourites who are favoured back (chapter 05 §13).
extension Messenger {
    public func mailPath(to peer: PeerID) -> MailPath {
        guard account != nil else { return .noAccount }
        guard let record = trust.record(of: peer) else { return .unknown }
        if record.isBlocked { return .blocked }
        if !record.isFavorite { return .notAFavorite }
        if record.npub.flatMap({ NostrPublicKey(npub: $0) }) == nil { return .noAccountTold }
        if !record.favorsUs { return .notFavoredBack }
        return isMailUsable ? .usable : .relaysDown
    }

    /// Whether relays take mail now: one of those that carry it is connected.
    public func setMailUsable(_ isUsable: Bool, at now: Now) {
        guard isUsable != isMailUsable else { return }
        isMailUsable = isUsable
        guard isUsable else { return }
        for peer in outbox.peers where sessions[peer] == nil && outbox.hasUnsent(for: peer) { flush(peer, at: now) }
    }

    /// Sends what waits for somebody as mail.
    /// - Returns: false when that is not possible now.
    func mail(to peer: PeerID) -> Bool {
        guard isMailUsable, let record = trust.record(of: peer), !record.isBlocked,
            let key = record.npub.flatMap({ NostrPublicKey(npub: $0) })
        else { return false }
        var wentOut = false
        outbox.update(peer) { entry in
            // Who is told that they are a favourite need not favour the person yet.
            guard !entry.isSettled, !entry.isInFlight, record.isMutualFavorite || entry.number == nil else {
                return true
            }
            guard let payload = takeAttempt(&entry, to: peer) else { return false }
            wentOut = true
            emit(.mail(payload, to: key, of: peer))
            return true
        }
        return wentOut
    }

    /// What came of a mailed message: a relay took it, or none did.
    public func mailed(_ messageID: String, to peer: PeerID, isTaken: Bool) {
        outbox.update(peer) { entry in
            guard entry.messageID == messageID else { return true }
            if isTaken {
                if entry.state.mayBecome(.carried) {
                    entry.state = .carried
                    report(entry, to: peer, .carried)
                }
                return true
            }
            // The next sweep or the next relay tries again.
            if sessions[peer] == nil { entry.isInFlight = false }
            return true
        }
    }

    /// Takes what came in an envelope whose seal this account signed. The mesh's sender ID inside proves nothing; whose
    /// account it is, favourites have told.
    /// - Returns: whether it was acted upon, so that it is not to be taken again.
    @discardableResult
    public func take(mail payload: NoisePayload, from author: NostrPublicKey, at now: Now) -> Bool {
        do throws(MailRefusal) {
            try accept(mail: payload, from: author, at: now)
            return true
        } catch {
            drops.count(error.reason)
            return false
        }
    }

    private struct MailRefusal: Error {
        let reason: MessengerDrop
    }

    private func accept(
        mail payload: NoisePayload, from author: NostrPublicKey, at now: Now
    ) throws(MailRefusal) {
        let npub = author.npub
        guard let record = trust.records.first(where: { $0.npub == npub }) else {
            throw MailRefusal(reason: .unknownAccount)
        }
        guard !record.isBlocked else { throw MailRefusal(reason: .blockedSender) }
        let peer = record.noiseKey.peerID
        switch payload.type {
        case .privateMessage:
            guard let message = PrivateMessage(body: payload.body) else { throw MailRefusal(reason: .malformed) }
            try accept(message, of: record, peer, author, at: now)
        case .delivered, .readReceipt:
            guard record.isFavorite else { throw MailRefusal(reason: .notAFavorite) }
            guard let messageID = payload.receiptMessageID else { throw MailRefusal(reason: .malformed) }
            acknowledge(messageID, by: peer, payload.type == .delivered ? .delivered : .read)
        default: throw MailRefusal(reason: .unsupported)
        }
    }

    private func accept(
        _ message: PrivateMessage, of record: TrustRecord, _ peer: PeerID, _ author: NostrPublicKey, at now: Now
    ) throws(MailRefusal) {
        let notice = FavoriteNotice(content: message.content)
        // A receipt tells that the person is there.
        guard record.isFavorite || notice != nil else { throw MailRefusal(reason: .notAFavorite) }
        if record.isFavorite { emit(.mail(.delivered(messageID: message.messageID), to: author, of: peer)) }
        guard receive(message.messageID, from: peer, owesReceipt: false, at: now) else { return drops.count(.repeated) }
        guard let notice else {
            show(.message(from: peer, isVerified: record.isVerified, text: message.content))
            return emit(.mail(.readReceipt(messageID: message.messageID), to: author, of: peer))
        }
        take(notice, from: peer, record.fingerprint)
        tellAgain(peer, record, notice)
    }

    /// Whoever added the person first told it when the person did not know them yet.
    private func tellAgain(_ peer: PeerID, _ before: TrustRecord, _ notice: FavoriteNotice) {
        guard notice.isFavorite, before.isFavorite, !before.favorsUs,
            toldAgain.count < MessengerLimits.trustRecords, toldAgain.insert(peer).inserted,
            let npub = before.npub.flatMap({ NostrPublicKey(npub: $0) }),
            let body = PrivateMessage(
                messageID: MessageText.messageID(using: &random),
                content: FavoriteNotice(isFavorite: true, npub: account?.npub).content
            ).encoded()
        else { return }
        emit(.mail(NoisePayload(type: .privateMessage, body: body), to: npub, of: peer))
    }

    /// Nobody may say that somebody else's account is theirs.
    func isFree(_ npub: String, for fingerprint: Fingerprint) -> Bool {
        guard let key = NostrPublicKey(npub: npub), key != account else { return false }
        return trust.records.allSatisfy { $0.npub != npub || $0.fingerprint == fingerprint }
    }

    /// Makes whoever showed this code a favourite, in reach or not, and tells them.
    public func addFavorite(code text: String, at now: Now) throws(VerificationRefusal) -> PeerID {
        guard let code = VerificationCode(text: text) else { throw .notACode }
        let (noiseKey, _) = try verifier.read(text, at: now)
        let fingerprint = noiseKey.fingerprint
        guard !trust.isBlocked(fingerprint) else { throw .blocked }
        guard let npub = code.npub, isFree(npub, for: fingerprint) else { throw .noAccount }
        var record = trust[fingerprint] ?? TrustRecord(noiseKey: noiseKey, nickname: code.nickname)
        record.npub = npub
        record.isFavorite = true
        guard keep(record) else { throw .tooMany }
        notify(noiseKey.peerID, FavoriteNotice(isFavorite: true, npub: account?.npub).content, at: now)
        return noiseKey.peerID
    }
}

import Basics
import Crypto
import Wire

extension Messenger {
    /// Takes what came through a session whose peer proved the key of this fingerprint.
    public func take(_ payload: NoisePayload, from peer: PeerID, fingerprint: Fingerprint, at now: Now) {
        guard !trust.isBlocked(fingerprint) else { return drops.count(.blockedSender) }
        noteSession(with: peer, fingerprint)
        switch payload.type {
        case .privateMessage:
            guard let message = PrivateMessage(body: payload.body) else { return drops.count(.malformed) }
            take(message, from: peer, fingerprint, at: now)
        case .delivered, .readReceipt:
            guard let messageID = payload.receiptMessageID else { return drops.count(.malformed) }
            acknowledge(messageID, by: peer, payload.type == .delivered ? .delivered : .read)
        case .verifyChallenge: challenged(payload.body, by: peer, at: now)
        case .verifyResponse: answered(payload.body, by: peer, fingerprint, at: now)
        case .vouchBatch: take(vouches: payload.body, from: peer, fingerprint, at: now)
        case .privateFile: take(file: payload.body, from: peer, fingerprint)
        case .groupInvite, .groupKeyUpdate, .voiceFrame, .authenticatedPeerState: drops.count(.unsupported)
        }
    }

    private func take(_ message: PrivateMessage, from peer: PeerID, _ fingerprint: Fingerprint, at now: Now) {
        // Also for a repeated one: the receipt before may be lost.
        send(.delivered(messageID: message.messageID), to: peer)
        guard receive(message.messageID, from: peer, owesReceipt: false, at: now) else { return drops.count(.repeated) }
        if let notice = FavoriteNotice(content: message.content) {
            take(notice, from: peer, fingerprint)
        } else {
            show(.message(from: peer, isVerified: trust.isVerified(fingerprint), text: message.content))
            send(.readReceipt(messageID: message.messageID), to: peer)
        }
    }

    func take(_ notice: FavoriteNotice, from peer: PeerID, _ fingerprint: Fingerprint) {
        guard var record = record(of: peer, fingerprint) else { return drops.count(.unknownKey) }
        let before = record
        record.favorsUs = notice.isFavorite
        if let npub = notice.npub, isFree(npub, for: fingerprint) { record.npub = npub }
        guard record != before else { return }
        guard keep(record) else { return drops.count(.bookIsFull) }
        if record.favorsUs != before.favorsUs { show(.favorite(by: peer, record.favorsUs)) }
    }

    private func take(file body: [UInt8], from peer: PeerID, _ fingerprint: Fingerprint) {
        // No receipt: the file is not kept, and a receipt would say that it is.
        guard let notice = FileNotice(body: body) else { return drops.count(.refusedFile) }
        show(.file(from: peer, isVerified: trust.isVerified(fingerprint), notice))
    }

    // MARK: Verification

    private func challenged(_ body: [UInt8], by peer: PeerID, at now: Now) {
        guard let challenge = VerificationChallenge(body: body) else { return drops.count(.malformed) }
        guard let response = verifier.answer(challenge, from: peer)?.encoded() else {
            return drops.count(.refusedChallenge)
        }
        send(NoisePayload(type: .verifyResponse, body: response), to: peer)
        let last = beingVerified[peer]
        if let last, now.monotonic - last < MessengerLimits.beingVerifiedInterval { return }
        if beingVerified.count >= MessengerLimits.answeredChallenges { beingVerified.removeAll() }
        beingVerified[peer] = now.monotonic
        show(.beingVerified(by: peer))
    }

    private func answered(_ body: [UInt8], by peer: PeerID, _ fingerprint: Fingerprint, at now: Now) {
        guard let response = VerificationResponse(body: body) else { return drops.count(.malformed) }
        switch verifier.judge(response, from: peer, fingerprint) {
        case .unexpected: drops.count(.unexpectedResponse)
        case .failed: show(.verificationFailed(peer, .wrongKey))
        case .verified(let pending):
            var record = trust[fingerprint] ?? TrustRecord(noiseKey: pending.noiseKey, nickname: nickname(of: peer))
            record.verifiedAt = now.wall
            record.signingKey = pending.signingKey
            guard keep(record) else { return drops.count(.bookIsFull) }
            show(.verified(peer))
            offerVouches(to: peer, fingerprint, at: now)
        }
    }

    // MARK: Vouches

    private func take(vouches body: [UInt8], from peer: PeerID, _ fingerprint: Fingerprint, at now: Now) {
        let key = trust[fingerprint]?.signingKey ?? people[peer]?.signingKey
        let accepted = vouches.take(
            body, from: fingerprint, key: key, trust: trust, at: now.wall, refusals: &vouchRefusals)
        if !accepted.isEmpty { show(.vouched(by: peer, count: accepted.count)) }
    }

    func offerVouches(to peer: PeerID, _ fingerprint: Fingerprint, at now: Now) {
        guard vouchesForOthers else { return }
        let body = vouches.batch(for: fingerprint, trust: trust, signing: identity.signing, at: now.wall)
        if let body { send(NoisePayload(type: .vouchBatch, body: body), to: peer) }
    }
}

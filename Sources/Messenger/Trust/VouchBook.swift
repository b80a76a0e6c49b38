import Basics
import Crypto
import Wire

/// Why an attestation is not taken (chapter 02 §6.7).
public enum VouchRefusal: String, CaseIterable, Sendable {
    case unverifiedVoucher = "unverified-voucher"
    case badSignature = "bad-signature"
    case outdated
    case aboutVoucher = "about-voucher"
    case alreadyVerified = "already-verified"
    case olderThanKnown = "older-than-known"
}

/// Who vouches for whom, among people verified in person (chapter 02 §6.7).
public struct VouchBook: Sendable {
    struct Vouch: Hashable, Sendable {
        let voucher: Fingerprint
        let timestamp: WallTime
    }

    /// By vouchee; the newest first.
    private var vouches: [Fingerprint: [Vouch]] = [:]
    private var sent: [Fingerprint: WallTime] = [:]

    public init() {}

    /// Takes a batch that came in a session with `voucher`.
    ///
    /// - Parameter key: the voucher's pinned signing key.
    /// - Returns: whom the voucher now vouches for.
    @discardableResult
    public mutating func take(
        _ body: [UInt8], from voucher: Fingerprint, key: SigningPublicKey?, trust: TrustBook, at now: WallTime,
        refusals: inout Tally<VouchRefusal>
    ) -> [Fingerprint] {
        guard trust.isVerified(voucher), let key else {
            refusals.count(.unverifiedVoucher)
            return []
        }
        var accepted: [Fingerprint] = []
        for attestation in VouchBatch.attestations(in: body) {
            guard let vouchee = Fingerprint(attestation.fingerprint) else { continue }
            let refusal = refusal(of: attestation, about: vouchee, by: voucher, key: key, trust: trust, at: now)
            if let refusal {
                refusals.count(refusal)
            } else {
                keep(Vouch(voucher: voucher, timestamp: attestation.timestamp), about: vouchee)
                accepted.append(vouchee)
            }
        }
        return accepted
    }

    private func refusal(
        of attestation: VouchAttestation, about vouchee: Fingerprint, by voucher: Fingerprint, key: SigningPublicKey,
        trust: TrustBook, at now: WallTime
    ) -> VouchRefusal? {
        if vouchee == voucher { return .aboutVoucher }
        if !attestation.isCurrent(at: now) { return .outdated }
        if trust.isVerified(vouchee) { return .alreadyVerified }
        let known = vouches[vouchee]?.first { $0.voucher == voucher }
        if let known, attestation.timestamp <= known.timestamp { return .olderThanKnown }
        return Verified(attestation, under: key) == nil ? .badSignature : nil
    }

    private mutating func keep(_ vouch: Vouch, about vouchee: Fingerprint) {
        if vouches[vouchee] == nil, vouches.count >= MessengerLimits.vouchees { forgetOldest() }
        var list = vouches[vouchee, default: []].filter { $0.voucher != vouch.voucher }
        list.append(vouch)
        list.sort { $0.timestamp > $1.timestamp }
        vouches[vouchee] = Array(list.prefix(MessengerLimits.vouchersPerVouchee))
    }

    private mutating func forgetOldest() {
        let oldest = vouches.min { ($0.value.first?.timestamp).isBefore($1.value.first?.timestamp) }
        if let oldest { vouches[oldest.key] = nil }
    }

    /// Who vouches for somebody and counts: the voucher is still verified, the vouch not outdated.
    public func vouchers(of vouchee: Fingerprint, trust: TrustBook, at now: WallTime) -> [Fingerprint] {
        vouches[vouchee, default: []].filter {
            trust.isVerified($0.voucher)
                && VouchAttestation(fingerprint: [], signingPublicKey: [], timestamp: $0.timestamp, signature: [])
                    .isCurrent(at: now)
        }.map(\.voucher)
    }

    /// The batch for somebody verified: the sixteen verified last, others than the recipient. `nil` when there is
    /// nobody, or it had one within a day.
    public mutating func batch(
        for recipient: Fingerprint, trust: TrustBook, signing: SigningKey, at now: WallTime
    ) -> [UInt8]? {
        guard trust.isVerified(recipient) else { return nil }
        if let last = sent[recipient], now.age(of: last) < MessengerLimits.vouchInterval { return nil }
        let attestations = trust.verified.lazy.filter { $0.fingerprint != recipient }
            .compactMap { record in record.signingKey.map { (record.fingerprint, $0) } }
            .prefix(VouchBatch.maximumCount)
            .map { fingerprint, key in
                var attestation = VouchAttestation(
                    fingerprint: fingerprint.bytes, signingPublicKey: key.bytes, timestamp: now, signature: [])
                attestation.signature = signing.sign(attestation.signedBytes)
                return attestation
            }
        guard let body = VouchBatch.encoded(Array(attestations)) else { return nil }
        if sent.count >= MessengerLimits.trustRecords { sent.removeAll() }
        sent[recipient] = now
        return body
    }
}

extension WallTime? {
    fileprivate func isBefore(_ other: WallTime?) -> Bool {
        (self?.milliseconds ?? 0) < (other?.milliseconds ?? 0)
    }
}

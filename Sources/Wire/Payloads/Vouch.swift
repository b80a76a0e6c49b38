import Basics

/// One peer's word that a fingerprint and a signing key belong together (chapter 01 §10.4). The voucher is not named
/// inside: it is the peer of the session it came through.
public struct VouchAttestation: Hashable, Sendable {
    private static let fingerprintSize = 32
    private static let keySize = 32
    private static let signatureSize = 64
    /// Milliseconds an attestation may lie in the future: 1 hour.
    private static let maximumLead: UInt64 = 3_600_000
    /// Milliseconds it stays valid: 30 days.
    private static let maximumAge: UInt64 = 2_592_000_000

    /// Of the vouchee's Noise key, 32 bytes.
    public var fingerprint: [UInt8]
    /// The vouchee's Ed25519 key, 32 bytes.
    public var signingPublicKey: [UInt8]
    public var timestamp: WallTime
    /// Ed25519 by the voucher over `signedBytes`, 64 bytes.
    public var signature: [UInt8]

    public init(fingerprint: [UInt8], signingPublicKey: [UInt8], timestamp: WallTime, signature: [UInt8]) {
        self.fingerprint = fingerprint
        self.signingPublicKey = signingPublicKey
        self.timestamp = timestamp
        self.signature = signature
    }

    private enum Field {
        static let fingerprint: UInt8 = 0x01
        static let signingPublicKey: UInt8 = 0x02
        static let timestamp: UInt8 = 0x03
        static let signature: UInt8 = 0x04
    }

    public init?(payload: [UInt8]) {
        guard let attestation = payload.withUnsafeBytes({ Self(reading: $0) }) else { return nil }
        self = attestation
    }

    fileprivate init?(reading payload: UnsafeRawBufferPointer) {
        var fingerprint: [UInt8]?
        var signingPublicKey: [UInt8]?
        var timestamp: UInt64?
        var signature: [UInt8]?
        let isWellFormed = TLVFormat.tlv8.read(payload) { type, value in
            switch type {
            case Field.fingerprint:
                fingerprint = value.bytes(Self.fingerprintSize)
                return fingerprint != nil
            case Field.signingPublicKey:
                signingPublicKey = value.bytes(Self.keySize)
                return signingPublicKey != nil
            case Field.timestamp:
                timestamp = value.integer()
                return timestamp != nil
            case Field.signature:
                signature = value.bytes(Self.signatureSize)
                return signature != nil
            default: return true
            }
        }
        guard isWellFormed, let fingerprint, let signingPublicKey, let timestamp, let signature else { return nil }
        self.init(
            fingerprint: fingerprint, signingPublicKey: signingPublicKey,
            timestamp: WallTime(milliseconds: timestamp), signature: signature)
    }

    /// `nil` when a field has a wrong size.
    public func encoded() -> [UInt8]? {
        guard
            fingerprint.count == Self.fingerprintSize, signingPublicKey.count == Self.keySize,
            signature.count == Self.signatureSize
        else { return nil }
        var writer = TLVWriter(.tlv8)
        writer.append(Field.fingerprint, fingerprint)
        writer.append(Field.signingPublicKey, signingPublicKey)
        writer.append(Field.timestamp, bigEndian: timestamp.milliseconds)
        writer.append(Field.signature, signature)
        return writer.encoded
    }

    /// What the voucher signs.
    public var signedBytes: [UInt8] {
        var bytes = Array("bitchat-vouch-v1".utf8)
        bytes.append(contentsOf: fingerprint)
        bytes.append(contentsOf: signingPublicKey)
        bytes.append(bigEndian: timestamp.milliseconds)
        return bytes
    }

    /// Whether it counts at `now`: at most 1 hour early, at most 30 days old, both inclusive.
    public func isCurrent(at now: WallTime) -> Bool {
        timestamp.distance(to: now) <= (timestamp > now ? Self.maximumLead : Self.maximumAge)
    }
}

/// The body of a vouch batch (chapter 01 §10.4).
public enum VouchBatch {
    /// Attestations; more are not read.
    public static let maximumCount = 16

    /// The well-formed attestations in order. Ill-formed ones are skipped; one that runs past the end ends the batch.
    public static func attestations(in body: [UInt8]) -> [VouchAttestation] {
        body.withUnsafeBytes {
            var reader = ByteReader($0)
            var attestations = [VouchAttestation]()
            for _ in 0..<min(Int(reader.readUInt8() ?? 0), maximumCount) {
                guard let length = reader.readUInt16(), let entry = reader.readView(Int(length)) else { break }
                if let attestation = VouchAttestation(reading: entry) { attestations.append(attestation) }
            }
            return attestations
        }
    }

    /// The body; `nil` for none or more than 16 attestations, or an ill-sized one.
    public static func encoded(_ attestations: [VouchAttestation]) -> [UInt8]? {
        guard (1...maximumCount).contains(attestations.count) else { return nil }
        var body = [UInt8(attestations.count)]
        for attestation in attestations {
            guard let entry = attestation.encoded() else { return nil }
            body.append(length16: entry)
        }
        return body
    }
}

import Basics
import Crypto
import Wire

/// What a person decided about somebody, and what that somebody said about the person (chapter 02 §2.5, chapter 06 §8).
public struct TrustRecord: Hashable, Sendable {
    public let noiseKey: NoisePublicKey
    /// The key of the scanned code, or the announced one when a fingerprint was compared.
    public var signingKey: SigningPublicKey?
    /// As last heard; a claim.
    public var nickname: String
    public var verifiedAt: WallTime?
    public var isBlocked = false
    public var isFavorite = false
    public var favorsUs = false
    /// Where they can be written to on Nostr, as they said.
    public var npub: String?

    public init(noiseKey: NoisePublicKey, nickname: String) {
        self.noiseKey = noiseKey
        self.nickname = nickname
    }

    public var fingerprint: Fingerprint { noiseKey.fingerprint }
    public var isVerified: Bool { verifiedAt != nil }
    public var isMutualFavorite: Bool { isFavorite && favorsUs }

    /// Says nothing beyond what any stranger's record would.
    var isEmpty: Bool { !isDecided && !favorsUs }
    /// Holds a decision of the person, and must not be lost to make room.
    public var isDecided: Bool { isVerified || isBlocked || isFavorite }
}

// MARK: At rest

extension TrustRecord {
    private static let version: UInt8 = 1

    private enum Flag {
        static let blocked: UInt8 = 1
        static let favorite: UInt8 = 2
        static let favorsUs: UInt8 = 4
        static let hasSigningKey: UInt8 = 8
    }

    /// For sealed storage.
    public func encoded() -> [UInt8] {
        var flags: UInt8 = 0
        if isBlocked { flags |= Flag.blocked }
        if isFavorite { flags |= Flag.favorite }
        if favorsUs { flags |= Flag.favorsUs }
        if signingKey != nil { flags |= Flag.hasSigningKey }
        var bytes = [TrustRecord.version, flags]
        bytes += noiseKey.bytes
        bytes += signingKey?.bytes ?? []
        bytes.append(bigEndian: verifiedAt.map { max(1, $0.milliseconds) } ?? 0)
        bytes.append(shortText: nickname)
        bytes.append(shortText: npub ?? "")
        return bytes
    }

    /// `nil` for anything but an encoded record.
    public init?(decoding bytes: [UInt8]) {
        let record = bytes.withUnsafeBytes { bytes -> TrustRecord? in
            var reader = ByteReader(bytes)
            guard reader.readUInt8() == TrustRecord.version, let flags = reader.readUInt8(),
                let noiseKey = reader.readBytes(Bytes32.size).flatMap({ NoisePublicKey($0) })
            else { return nil }
            var record = TrustRecord(noiseKey: noiseKey, nickname: "")
            if flags & Flag.hasSigningKey != 0 {
                guard let key = reader.readBytes(Bytes32.size) else { return nil }
                record.signingKey = SigningPublicKey(key)
            }
            guard let verified = reader.readUInt64(), let nickname = reader.readShortText(),
                let npub = reader.readShortText(), reader.isAtEnd
            else { return nil }
            record.verifiedAt = verified == 0 ? nil : WallTime(milliseconds: verified)
            record.isBlocked = flags & Flag.blocked != 0
            record.isFavorite = flags & Flag.favorite != 0
            record.favorsUs = flags & Flag.favorsUs != 0
            record.nickname = nickname
            record.npub = npub.isEmpty ? nil : npub
            return record
        }
        guard let record else { return nil }
        self = record
    }
}

import Basics
import Crypto
import Wire

/// Our one-time prekeys: the bundle others seal mail to, and the private halves that open it (chapter 02 §7.7).
///
/// Whoever holds it stores `snapshot` after each change, before the change is acted on: a key that was used must not
/// come back unused, and an id never names two keys.
public struct OwnPrekeys: Secret, Sendable {
    /// What an opening did to the keys.
    public enum Consumption: Sendable {
        /// Used before, and only kept for redeliveries.
        case repeated
        case first
        /// Used for the first time, and the batch was filled up: publish at once.
        case toppedUp
    }

    public struct Key: Secret, Sendable {
        public let id: UInt32
        public let pair: NoiseStaticKey
        public let createdAt: WallTime
        public var consumedAt: WallTime?

        public init(id: UInt32, pair: NoiseStaticKey, createdAt: WallTime, consumedAt: WallTime? = nil) {
            self.id = id
            self.pair = pair
            self.createdAt = createdAt
            self.consumedAt = consumedAt
        }

        fileprivate func isSpent(at now: WallTime) -> Bool {
            consumedAt.map { now.age(of: $0) > MessengerLimits.consumedPrekeyLife } ?? false
        }
    }

    /// In the order of their ids, consumed ones between.
    private var keys: [Key] = []
    private var nextID: UInt32 = 0
    private var generatedAt = WallTime(milliseconds: 0)

    /// None yet; `maintain` makes the first batch.
    public init() {}

    /// The public keys to offer, for `bundle`.
    private var offered: [Key] { keys.filter { $0.consumedAt == nil } }

    /// The signed bundle; `nil` before the first batch.
    public func bundle(of owner: NodeIdentity) -> PrekeyBundle? {
        var bundle = PrekeyBundle(
            noisePublicKey: owner.noise.publicKey.bytes,
            prekeys: offered.map { PrekeyBundle.Prekey(id: $0.id, publicKey: $0.pair.publicKey.bytes) },
            generatedAt: generatedAt, signature: [])
        guard let signedBytes = bundle.signedBytes else { return nil }
        bundle.signature = owner.signing.sign(signedBytes)
        return bundle
    }

    /// The private half; `nil` for an id never made, or consumed too long ago.
    public func key(_ id: UInt32, at now: WallTime) -> NoiseStaticKey? {
        keys.first { $0.id == id && !$0.isSpent(at: now) }?.pair
    }

    func contains(_ id: UInt32) -> Bool { keys.contains { $0.id == id } }

    /// Marks a key as used by mail that opened.
    public mutating func consume(
        _ id: UInt32, at now: WallTime, using random: inout some RandomNumberGenerator
    ) -> Consumption {
        guard let index = keys.firstIndex(where: { $0.id == id }), keys[index].consumedAt == nil else {
            return .repeated
        }
        keys[index].consumedAt = now
        boundConsumed()
        stamp(at: now)
        guard offered.count < MessengerLimits.prekeyFloor else { return .first }
        topUp(at: now, using: &random)
        stamp(at: now)
        return .toppedUp
    }

    /// Erases, rotates, refills and re-dates prekeys as due. Call it at the start and about hourly.
    ///
    /// - Returns: whether anything changed, and with it perhaps the bundle.
    public mutating func maintain(at now: WallTime, using random: inout some RandomNumberGenerator) -> Bool {
        let before = keys.count
        keys.removeAll { $0.isSpent(at: now) }
        var hasChanged = keys.count != before
        let offeredBefore = offered.count
        keys.removeAll { $0.consumedAt == nil && now.age(of: $0.createdAt) >= MessengerLimits.prekeyLife }
        var needsStamp = offered.count != offeredBefore
        if offered.count < MessengerLimits.prekeyFloor {
            topUp(at: now, using: &random)
            needsStamp = true
        }
        needsStamp = needsStamp || now.age(of: generatedAt) >= MessengerLimits.prekeyRestamp
        if needsStamp { stamp(at: now) }
        hasChanged = hasChanged || needsStamp
        return hasChanged
    }

    private mutating func topUp(at now: WallTime, using random: inout some RandomNumberGenerator) {
        // Ids run out after four thousand million keys; none is used twice.
        for _ in offered.count..<max(offered.count, MessengerLimits.prekeyBatch) where nextID < .max {
            keys.append(Key(id: nextID, pair: .generate(using: &random), createdAt: now))
            nextID += 1
        }
    }

    /// Strictly later than the bundle before, whatever the clock did: peers take nothing else.
    private mutating func stamp(at now: WallTime) {
        generatedAt = max(now, WallTime(milliseconds: generatedAt.milliseconds &+ 1))
    }

    private mutating func boundConsumed() {
        let consumed = keys.filter { $0.consumedAt != nil }
        guard consumed.count > MessengerLimits.consumedPrekeys else { return }
        let longest = consumed.min { ($0.consumedAt ?? $0.createdAt) < ($1.consumedAt ?? $1.createdAt) }
        if let longest { keys.removeAll { $0.id == longest.id } }
    }

}

// MARK: At rest

extension OwnPrekeys {
    private static let version: UInt8 = 1
    private static let keySize = 4 + 8 + 8 + NoiseStaticKey.size
    private static let headerSize = 1 + 4 + 8

    /// Keys, counter and date together, for sealed storage.
    public var snapshot: SecretBytes {
        SecretBytes(count: OwnPrekeys.headerSize + keys.count * OwnPrekeys.keySize) { memory in
            var header = [OwnPrekeys.version]
            header.append(bigEndian: nextID)
            header.append(bigEndian: generatedAt.milliseconds)
            memory.copyBytes(from: header)
            for (index, key) in keys.enumerated() {
                var fields: [UInt8] = []
                fields.append(bigEndian: key.id)
                fields.append(bigEndian: key.createdAt.milliseconds)
                fields.append(bigEndian: key.consumedAt.map { max(1, $0.milliseconds) } ?? 0)
                let start = OwnPrekeys.headerSize + index * OwnPrekeys.keySize
                let record = UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + OwnPrekeys.keySize])
                record.copyBytes(from: fields)
                key.pair.privateKey.withBytes {
                    UnsafeMutableRawBufferPointer(rebasing: record[fields.count...]).copyMemory(from: $0)
                }
            }
        }
    }

    /// `nil` for anything but a snapshot.
    public init?(snapshot: SecretBytes) {
        self.init()
        let isRead = snapshot.withBytes { bytes in
            var reader = ByteReader(bytes)
            guard reader.readUInt8() == OwnPrekeys.version, let nextID = reader.readUInt32(),
                let generatedAt = reader.readUInt64(), reader.remaining.isMultiple(of: OwnPrekeys.keySize)
            else { return false }
            self.nextID = nextID
            self.generatedAt = WallTime(milliseconds: generatedAt)
            while let id = reader.readUInt32(), let created = reader.readUInt64(),
                let consumed = reader.readUInt64(), let secret = reader.readView(NoiseStaticKey.size)
            {
                guard id < nextID, let pair = NoiseStaticKey(privateKey: SecretBytes(copying: secret)) else {
                    return false
                }
                keys.append(
                    Key(
                        id: id, pair: pair, createdAt: WallTime(milliseconds: created),
                        consumedAt: consumed == 0 ? nil : WallTime(milliseconds: consumed)))
            }
            return true
        }
        let limit = MessengerLimits.prekeyBatch + MessengerLimits.consumedPrekeys
        guard isRead, keys.count <= limit, Set(keys.map(\.id)).count == keys.count else { return nil }
    }
}

import Basics
import Crypto
import Gateway
import Vault
import Wire

enum MailArchiveLimits {
    /// Writes at once of what was taken in, and of what became of it, each in a burst and sustained: ours. Nobody tells
    /// a depositor that its letter was lost, so that it should not be; but each write costs the card two blocks, and
    /// whoever makes names can leave letters under all of them.
    static let promptBurst = 32.0
    static let promptPerSecond = 1.0 / 30
    /// What happens within this time is one write.
    static let together = Interval.milliseconds(10)
}

/// Takes the mail in the courier's care into the vault, and gives it back after a restart.
final class MailArchive {
    private let vault: Vault
    private var arrivals = MailArchive.makeBucket()
    private var departures = MailArchive.makeBucket()
    private var lastDeparture: Instant?
    /// How many copies relays have confirmed of what is kept. Its bound is the courier's.
    private var publications: [MailID: UInt8] = [:]

    init(_ vault: Vault) { self.vault = vault }

    private static func makeBucket() -> TokenBucket {
        TokenBucket(capacity: MailArchiveLimits.promptBurst, perSecond: MailArchiveLimits.promptPerSecond)
    }

    // MARK: Out of the engine

    /// What was just taken in, and what a relay just confirmed, is on the disk before anything else is done.
    func keep(_ mail: CarriedEnvelope, at now: Instant) {
        let isNews = publications.updateValue(mail.publications, forKey: mail.id) != mail.publications
        put(mail)
        if isNews, arrivals.take(at: now) { vault.flush() }
    }

    private func put(_ mail: CarriedEnvelope) {
        // The tier that makes room first does so here, too.
        vault.put(
            mail.vaultValue, for: mail.id.bytes, in: BoxStores.mail, evictionClass: mail.tier == .favorite ? 1 : 0,
            within: VaultLimits.gathered)
    }

    func forget(_ id: MailID, at now: Instant) {
        publications[id] = nil
        vault.remove(id.bytes, from: BoxStores.mail, within: horizon(at: now))
    }

    func keep(_ drop: DealtDrop, at now: Instant) {
        var value: [UInt8] = []
        value.append(bigEndian: drop.at.milliseconds)
        let store = drop.isLetter ? BoxStores.dealtMail : BoxStores.dealtDrops
        vault.put(value, for: drop.name, in: store, isNewest: true, within: horizon(at: now))
    }

    /// What is lost when this is lost is that a letter goes twice to somebody who knows it: no reason to wait for the
    /// disk, nor to wait with it.
    private func horizon(at now: Instant) -> Interval {
        if let last = lastDeparture, now - last < MailArchiveLimits.together { return .zero }
        guard departures.take(at: now) else { return VaultLimits.gathered }
        lastDeparture = now
        return .zero
    }

    // MARK: Into the engine

    var dealt: [DealtDrop] {
        [BoxStores.dealtDrops, BoxStores.dealtMail].flatMap { vault.read($0) { DealtDrop(key: $0, value: $1) } }
    }

    /// Call it once, before the courier starts.
    func restore(into courier: Courier, at now: Now) {
        let rows = vault.read(BoxStores.mail) { key, value in
            CarriedEnvelope(key: key, value: value).map { (key: key, mail: $0) }
        }
        // Those under the names of an earlier version get their own, in one write.
        for row in rows where row.key != row.mail.id.bytes {
            vault.remove(row.key, from: BoxStores.mail, within: VaultLimits.gathered)
            put(row.mail)
        }
        let carried = rows.map(\.mail)
        for mail in carried { publications[mail.id] = mail.publications }
        courier.restore(carried, dealt: dealt, at: now)
    }
}

// How mail looks inside the vault. The vault says which format version it is of.

extension DealtDrop {
    init?(key: [UInt8], value: [UInt8]) {
        guard [MailID.size, Bytes32.size].contains(key.count) else { return nil }
        let at = value.withUnsafeBytes { bytes -> UInt64? in
            var reader = ByteReader(bytes)
            return reader.readUInt64().flatMap { reader.isAtEnd ? $0 : nil }
        }
        guard let at else { return nil }
        self.init(name: key, at: WallTime(milliseconds: at))
    }
}

extension CarriedEnvelope {
    private static let header = 1 + 1 + 8 + 8 + 8 + Bytes32.size + 1
    /// Tag, expiry, budget and prekey with their headers, and the ciphertext's.
    static let largestEnvelope = 3 * 5 + 16 + 8 + 1 + 4 + CourierEnvelope.ciphertextSizes.upperBound
    /// Of an envelope with as many couriers as are remembered.
    static let largestRecord = header + CourierLimits.couriersEach * Bytes32.size + largestEnvelope

    /// Times that never were are 0.
    var vaultValue: [UInt8] {
        var bytes: [UInt8] = [tier.rawValue, publications]
        bytes.append(bigEndian: storedAt.milliseconds)
        bytes.append(bigEndian: lastRemoteHandover?.milliseconds ?? 0)
        bytes.append(bigEndian: lastPublished?.milliseconds ?? 0)
        bytes += depositor.bytes
        let couriers = couriers.map(\.bytes).prefix(CourierLimits.couriersEach)
        bytes.append(UInt8(clamping: couriers.count))
        return bytes + couriers.joined() + (envelope.encoded() ?? [])
    }

    init?(key: [UInt8], value: [UInt8]) {
        let record = value.withUnsafeBytes { bytes -> CarriedEnvelope? in
            var reader = ByteReader(bytes)
            func readTime() -> WallTime? { reader.readUInt64().map { WallTime(milliseconds: $0) } }
            func readKey() -> NoisePublicKey? { reader.readBytes(Bytes32.size).flatMap { NoisePublicKey($0) } }
            guard let tier = reader.readUInt8().flatMap({ CourierTier(rawValue: $0) }),
                let publications = reader.readUInt8(), let storedAt = readTime(), let handover = readTime(),
                let published = readTime(), let depositor = readKey(), let count = reader.readUInt8()
            else { return nil }
            var couriers: Set<NoisePublicKey> = []
            for _ in 0..<count {
                guard let courier = readKey() else { return nil }
                couriers.insert(courier)
            }
            guard let encoded = reader.readBytes(reader.remaining), let envelope = CourierEnvelope(payload: encoded)
            else { return nil }
            let never = WallTime(milliseconds: 0)
            return CarriedEnvelope(
                envelope, depositor: depositor, storedAt: storedAt, tier: tier, couriers: couriers,
                lastRemoteHandover: handover == never ? nil : handover,
                lastPublished: published == never ? nil : published, publications: publications)
        }
        guard let record, [record.id.bytes, MailID.byCiphertext(record.envelope)].contains(key) else { return nil }
        self = record
    }
}

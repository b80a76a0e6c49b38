import Basics
import Crypto
import Gateway
import Messenger
import Vault
import Wire

/// Where a chat peer's letters outlive the process: what it wrote and is not known to have arrived, what it was shown,
/// and the keys that open what comes (chapter 06 §7, chapter 02 §7). In the vault of its state directory.
final class MessengerArchive {
    private let vault: Vault
    /// Private halves stay out of ordinary memory on their way to the disk.
    private let prekeys: SealedFile
    /// What the disk has not taken yet.
    private var unwritten: SecretBytes?
    /// A file that is there and cannot be read stays: what letters under way are sealed to may yet be read from it.
    private var isReadable = true

    init(_ vault: Vault, in directory: String, masterKey: SecretBytes) {
        self.vault = vault
        prekeys = SealedFile(directory + "/prekeys.sealed", purpose: "prekeys", masterKey: masterKey)
    }

    // MARK: Out of the engine

    /// What was typed, and that a prekey was used, is on the disk before anything else is done.
    func keep(_ record: MessengerRecord) {
        switch record {
        case .message(let message):
            vault.put(message.encoded(), for: Array(message.messageID.utf8), in: BoxStores.outbox)
            vault.flush()
        case .received(let message):
            vault.put(message.encoded(), for: MessengerArchive.key(message.name), in: BoxStores.received)
        case .drop(let drop):
            var value: [UInt8] = []
            value.append(bigEndian: drop.at.milliseconds)
            vault.put(value, for: Array(drop.key.utf8), in: BoxStores.ownDrops, isNewest: true)
            // A relay has it: no later run leaves it there again.
            vault.flush()
        case .prekeys(let snapshot):
            unwritten = snapshot
            _ = keepsPrekeys()
        case .held(let envelope):
            guard let value = envelope.encoded() else { return }
            vault.put(value, for: MailID(envelope).bytes, in: BoxStores.heldMail)
            // Whoever brought it does not have it any more.
            vault.flush()
        case .bundle(let record):
            guard let value = record.vaultValue else { return }
            // In the order of new bundles, as the messenger lets go of them.
            let known = vault.value(for: record.owner.bytes, in: BoxStores.bundles).flatMap {
                PeerPrekeys.Record(key: record.owner.bytes, value: $0)
            }
            vault.put(
                value, for: record.owner.bytes, in: BoxStores.bundles, isNewest: known?.bundle != record.bundle)
            // A key that was assigned must not be assigned again.
            if !record.messages.isEmpty { vault.flush() }
        }
    }

    /// Whether the latest prekeys are on the disk, tried again if they are not. Others must not learn of keys that a
    /// restart would forget (chapter 02 §7.7).
    func keepsPrekeys() -> Bool {
        guard isReadable else { return false }
        guard let snapshot = unwritten else { return true }
        var random = SystemRandomNumberGenerator()
        do { try prekeys.write(snapshot, using: &random) } catch { return false }
        unwritten = nil
        return true
    }

    func forgetBundle(of owner: NoisePublicKey) { vault.remove(owner.bytes, from: BoxStores.bundles) }

    func discard(messageID: String) { vault.remove(Array(messageID.utf8), from: BoxStores.outbox) }

    func discard(held envelope: CourierEnvelope) { vault.remove(MailID(envelope).bytes, from: BoxStores.heldMail) }

    /// Their text is a stranger's, of any length.
    private static func key(_ name: String) -> [UInt8] { SHA256.hash(Array(name.utf8)) }

    // MARK: Into the engine

    var memory: MessengerMemory {
        var memory = MessengerMemory()
        memory.messages = vault.read(BoxStores.outbox) { key, value in
            OutboxRecord(messageID: String(decoding: key, as: UTF8.self), decoding: value)
        }
        memory.received = vault.read(BoxStores.received) { ReceivedMessage(decoding: $1) }
        memory.drops = vault.read(BoxStores.ownDrops) { key, value in
            value.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return reader.readUInt64().map {
                    PublishedDrop(key: String(decoding: key, as: UTF8.self), at: WallTime(milliseconds: $0))
                }
            }
        }
        memory.held = vault.read(BoxStores.heldMail) { CourierEnvelope(payload: $1) }
        return memory
    }

    func makeDesk(_ identity: NodeIdentity, random: any RandomNumberGenerator) -> MailDesk {
        var snapshot: OwnPrekeys?
        do {
            snapshot = OwnPrekeys(snapshot: try prekeys.read())
            isReadable = snapshot != nil
        } catch {
            isReadable = error == .absent
        }
        return MailDesk(
            identity: identity, prekeys: snapshot,
            bundles: vault.read(BoxStores.bundles) { PeerPrekeys.Record(key: $0, value: $1) }, random: random)
    }
}

extension PeerPrekeys.Record {
    /// `nil` for a bundle that cannot be encoded.
    var vaultValue: [UInt8]? {
        guard let bundle = bundle.encoded() else { return nil }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt16(clamping: bundle.count))
        bytes += bundle
        for (id, message) in messages.sorted(by: { $0.key < $1.key }) {
            bytes.append(bigEndian: id)
            bytes.append(shortText: message)
        }
        return bytes
    }

    init?(key: [UInt8], value: [UInt8]) {
        guard let owner = NoisePublicKey(key) else { return nil }
        let record = value.withUnsafeBytes { bytes -> PeerPrekeys.Record? in
            var reader = ByteReader(bytes)
            guard let length = reader.readUInt16(), let encoded = reader.readBytes(Int(length)),
                let bundle = PrekeyBundle(payload: encoded), bundle.noisePublicKey == owner.bytes
            else { return nil }
            var messages: [UInt32: String] = [:]
            while !reader.isAtEnd {
                guard let id = reader.readUInt32(), let message = reader.readShortText() else { return nil }
                messages[id] = message
            }
            return PeerPrekeys.Record(owner: owner, bundle: bundle, messages: messages)
        }
        guard let record else { return nil }
        self = record
    }
}

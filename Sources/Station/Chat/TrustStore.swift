import Crypto
import EventLoop
import Messenger
import Vault

/// Where a chat peer's trust in others outlives the process, beside the identity it belongs to (chapter 02 §1.4 rule
/// 4).
protocol TrustStore: AnyObject {
    func load() -> [TrustRecord]
    /// What goes with it: letters; `nil` where they do not outlive the process.
    var letters: MessengerArchive? { get }
    /// In the place of an earlier record of the same key.
    func keep(_ record: TrustRecord)
    func forget(_ fingerprint: Fingerprint)
    /// Nothing follows.
    /// - Returns: whether all of it is kept.
    func close() -> Bool
}

extension TrustStore {
    var letters: MessengerArchive? { nil }
}

/// Trust in the vault of a chat peer's state directory.
final class TrustVault: TrustStore {
    private let vault: Vault
    let letters: MessengerArchive?

    init(in state: StateDirectory, masterKey: SecretBytes, loop: any EventLoop) {
        vault = Vault(
            in: state.path, masterKey: masterKey, stores: BoxStores.chat, loop: loop,
            random: SystemRandomNumberGenerator())
        letters = MessengerArchive(vault, in: state.path, masterKey: masterKey)
    }

    /// For the mailbox at relays.
    var archive: NostrArchive { NostrArchive(vault) }

    func load() -> [TrustRecord] {
        vault.records(in: BoxStores.trust).compactMap { TrustRecord(decoding: $0.value) }
    }

    func keep(_ record: TrustRecord) {
        vault.put(
            record.encoded(), for: record.fingerprint.bytes, in: BoxStores.trust,
            evictionClass: record.isDecided ? 1 : 0)
    }

    func forget(_ fingerprint: Fingerprint) { vault.remove(fingerprint.bytes, from: BoxStores.trust) }

    func close() -> Bool {
        vault.close()
        return vault.trouble == nil
    }
}

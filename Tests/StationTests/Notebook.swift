import Crypto
import EventLoop
import Foundation
import Messenger
import Vault

@testable import Station

/// Trust and letters in a vault of a folder, as with `--state`.
final class Notebook: TrustStore {
    private let vault: Vault
    let letters: MessengerArchive?

    init(_ path: String, _ key: SecretBytes, _ loop: any EventLoop) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        vault = Vault(
            in: path, masterKey: key, stores: BoxStores.chat, loop: loop, random: SystemRandomNumberGenerator())
        letters = MessengerArchive(vault, in: path, masterKey: key)
    }

    func load() -> [TrustRecord] {
        vault.records(in: BoxStores.trust).compactMap { TrustRecord(decoding: $0.value) }
    }
    func keep(_ record: TrustRecord) {
        vault.put(record.encoded(), for: record.fingerprint.bytes, in: BoxStores.trust)
        vault.flush()
    }
    func forget(_ fingerprint: Fingerprint) { vault.remove(fingerprint.bytes, from: BoxStores.trust) }
    func close() -> Bool {
        vault.close()
        return true
    }
    func kill() { vault.abandon() }
}

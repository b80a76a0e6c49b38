import Basics
import Crypto

/// Seals the records of one store: format version, random nonce, XChaCha20-Poly1305 over the packed content.
///
/// Version, store and row are bound as associated data, so that a record somebody moved to another row or store, or
/// brought back from another version, does not open.
struct StoreCipher {
    static let formatVersion: UInt8 = 1
    /// What sealing adds to a content that does not compress.
    static let overhead = 1 + XChaChaPoly.nonceSize + XChaChaPoly.tagSize + RecordPacking.overhead

    private let store: [UInt8]
    private let sealingKey: SecretBytes
    private let lookupKey: SecretBytes

    /// Each store has keys of its own, derived from the master key by its name.
    init(store: String, masterKey: SecretBytes) {
        self.store = Array(store.utf8)
        func key(_ use: String) -> SecretBytes {
            HKDFSHA256.derive(masterKey, info: Array("bitgate vault 1|\(use)|\(store)".utf8))
        }
        sealingKey = key("seal")
        lookupKey = key("find")
    }

    func row(of key: [UInt8]) -> RowKey {
        lookupKey.withBytes { lookupKey in
            HMACSHA256.secret(of: key, key: lookupKey).withBytes {
                RowKey(
                    high: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self).bigEndian,
                    low: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian)
            }
        }
    }

    /// - Parameter nonce: 24 fresh random bytes.
    func seal(_ content: [UInt8], row: RowKey, nonce: [UInt8]) -> [UInt8] {
        seal(packed: RecordPacking.pack(content), row: row, nonce: nonce)
    }

    /// Leaves nothing of the content but what it was.
    func seal(_ content: SecretBytes, row: RowKey, nonce: [UInt8]) -> [UInt8] {
        var packed = content.withBytes { RecordPacking.wrap($0) }
        defer { packed.overwrite() }
        return seal(packed: packed, row: row, nonce: nonce)
    }

    private func seal(packed: [UInt8], row: RowKey, nonce: [UInt8]) -> [UInt8] {
        let sealed = XChaChaPoly.seal(packed, key: sealingKey, nonce: nonce, associated: associated(row))
        return [StoreCipher.formatVersion] + nonce + (sealed ?? [])
    }

    /// `nil` when it was not sealed here, under this key, for this row.
    func open(_ sealed: [UInt8], row: RowKey) -> [UInt8]? {
        packed(in: sealed, row: row).flatMap { RecordPacking.unpack($0) }
    }

    /// The same, of which nothing is left but what is returned.
    func openSecret(_ sealed: [UInt8], row: RowKey) -> SecretBytes? {
        guard var packed = packed(in: sealed, row: row) else { return nil }
        defer { packed.overwrite() }
        guard var content = RecordPacking.unpack(packed) else { return nil }
        defer { content.overwrite() }
        return SecretBytes(copying: content)
    }

    private func packed(in sealed: [UInt8], row: RowKey) -> [UInt8]? {
        let head = 1 + XChaChaPoly.nonceSize
        guard sealed.count >= head, sealed[0] == StoreCipher.formatVersion else { return nil }
        return XChaChaPoly.open(
            Array(sealed[head...]), key: sealingKey, nonce: Array(sealed[1..<head]), associated: associated(row))
    }

    private func associated(_ row: RowKey) -> [UInt8] {
        var bytes = [StoreCipher.formatVersion, UInt8(truncatingIfNeeded: store.count)]
        bytes += store
        bytes.append(bigEndian: row.high)
        bytes.append(bigEndian: row.low)
        return bytes
    }
}

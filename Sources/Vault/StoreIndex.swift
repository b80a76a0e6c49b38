import Basics
import Crypto

/// Which records a store has: where each lies, how large it is and what goes first.
final class StoreIndex {
    struct Entry {
        /// Rows are numbered in the order records came.
        let id: Int64
        var size: Int
        var evictionClass: UInt8
        /// The file has a version of it, maybe an older one.
        var isStored: Bool

        func renumbered(by shift: Int64) -> Entry {
            Entry(id: id + shift, size: size, evictionClass: evictionClass, isStored: isStored)
        }
    }

    let store: VaultStore
    let cipher: StoreCipher
    private(set) var entries: [RowKey: Entry] = [:]
    private(set) var bytes = 0

    init(_ store: VaultStore, masterKey: SecretBytes) {
        self.store = store
        cipher = StoreCipher(store: store.name, masterKey: masterKey)
    }

    subscript(row: RowKey) -> Entry? { entries[row] }

    func set(_ entry: Entry, at row: RowKey) {
        bytes += entry.size - (entries.updateValue(entry, forKey: row)?.size ?? 0)
    }

    func remove(_ row: RowKey) -> Entry? {
        guard let entry = entries.removeValue(forKey: row) else { return nil }
        bytes -= entry.size
        return entry
    }

    func removeAll() {
        entries.removeAll()
        bytes = 0
    }

    func markStored(_ row: RowKey) { entries[row]?.isStored = true }

    /// What must go so that the quotas hold; some more than that, so that a full store does not sort for every put.
    func surplus(sparing newest: RowKey) -> [RowKey] {
        guard entries.count > store.records || bytes > store.bytes else { return [] }
        let records = store.records - store.records / 32
        let room = store.bytes - store.bytes / 32
        var count = entries.count
        var size = bytes
        var surplus: [RowKey] = []
        let order = entries.sorted { ($0.value.evictionClass, $0.value.id) < ($1.value.evictionClass, $1.value.id) }
        for (row, entry) in order where count > records || size > room {
            guard row != newest else { continue }
            surplus.append(row)
            count -= 1
            size -= entry.size
        }
        return surplus
    }
}

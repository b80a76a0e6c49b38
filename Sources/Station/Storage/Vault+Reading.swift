import Vault

extension Vault {
    /// What a store holds, in the order it came. A record that `decode` does not know is taken away.
    func read<Record>(_ store: VaultStore, _ decode: ([UInt8], [UInt8]) -> Record?) -> [Record] {
        records(in: store).compactMap { record in
            if let decoded = decode(record.key, record.value) { return decoded }
            remove(record.key, from: store, within: VaultLimits.relaxed)
            return nil
        }
    }
}

import Basics
import Vault

/// The latest time that was ever trusted, as of the last writing.
struct LastKnownTime {
    private static let key: [UInt8] = [0]
    private let vault: Vault

    init(_ vault: Vault) { self.vault = vault }

    var value: WallTime? {
        guard let bytes = vault.value(for: LastKnownTime.key, in: BoxStores.clock) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return reader.readUInt64().map { WallTime(milliseconds: $0) }
        }
    }

    /// Costs the card no write of its own while there are others.
    func save(_ time: WallTime) {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: time.milliseconds)
        vault.put(bytes, for: LastKnownTime.key, in: BoxStores.clock, within: VaultLimits.relaxed)
    }
}

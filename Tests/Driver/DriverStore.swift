import Basics
import Vault

/// The records the driver writes, each of which says which it must be.
public enum DriverStore {
    public static let busy = VaultStore(number: 9, name: "busy", records: 1_000, bytes: 4 << 20)

    public static func key(_ slot: UInt16) -> [UInt8] { [UInt8(slot >> 8), UInt8(truncatingIfNeeded: slot)] }

    /// Of a length and content that follow from slot and version.
    public static func value(_ slot: UInt16, _ version: UInt32) -> [UInt8] {
        var random = SeededRandom(seed: UInt64(slot) << 32 | UInt64(version))
        var bytes: [UInt8] = []
        bytes.append(bigEndian: version)
        return bytes + random.bytes(Int.random(in: 0...900, using: &random))
    }

    public static func version(in value: [UInt8]) -> UInt32? {
        value.withUnsafeBytes {
            var reader = ByteReader($0)
            return reader.readUInt32()
        }
    }
}

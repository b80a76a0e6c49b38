import Basics

/// How a record is looked up: a keyed hash of its key, which tells nothing to who has not the vault's key.
struct RowKey: Hashable {
    static let size = 16
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// `nil` unless there are 16 bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard bytes.count == RowKey.size, let high = reader.readUInt64(), let low = reader.readUInt64() else {
            return nil
        }
        self.init(high: high, low: low)
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
        return bytes
    }
}

import Basics

extension ByteReader {
    /// The next integer, least significant byte first, as the kernel and the air carry them.
    mutating func readLittleEndian<T: FixedWidthInteger>(_ type: T.Type) -> T? { readInteger(type)?.byteSwapped }

    /// The next `count` bytes as an integer, least significant first.
    mutating func readLittleEndian(bytes count: Int) -> UInt64? {
        guard count <= 8, let view = readView(count) else { return nil }
        return view.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Array where Element == UInt8 {
    /// Appends `value`, least significant byte first.
    mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

import Basics

// Bluetooth is little-endian throughout, unlike the mesh's own packets.

extension ByteReader {
    mutating func readLittleEndian<T: FixedWidthInteger>(_ type: T.Type) -> T? { readInteger(T.self)?.byteSwapped }
}

extension Array where Element == UInt8 {
    mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

/// A bounded cursor over bytes from outside. Every read is checked and returns `nil` past the end; nothing here traps.
public struct ByteReader {
    @usableFromInline let base: UnsafeRawBufferPointer
    /// Offset of the next unread byte.
    @inlinable public var offset: Int { position }
    @usableFromInline var position: Int

    /// The buffer must outlive the reader.
    @inlinable public init(_ base: UnsafeRawBufferPointer) {
        self.base = base
        self.position = 0
    }

    @inlinable public var remaining: Int { base.count - offset }
    @inlinable public var isAtEnd: Bool { offset == base.count }

    @inlinable public mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, count <= remaining else { return false }
        advance(count)
        return true
    }

    @inlinable public mutating func readUInt8() -> UInt8? { readInteger(UInt8.self) }
    @inlinable public mutating func readUInt16() -> UInt16? { readInteger(UInt16.self) }
    @inlinable public mutating func readUInt32() -> UInt32? { readInteger(UInt32.self) }
    @inlinable public mutating func readUInt64() -> UInt64? { readInteger(UInt64.self) }

    /// Big-endian integer.
    @inlinable public mutating func readInteger<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        let size = MemoryLayout<T>.size
        guard size <= remaining else { return nil }
        let value = T(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: T.self))
        advance(size)
        return value
    }

    /// The next `count` bytes, copied.
    @inlinable public mutating func readBytes(_ count: Int) -> [UInt8]? {
        guard let view = readView(count) else { return nil }
        return [UInt8](view)
    }

    /// The next `count` bytes, not copied; valid as long as the underlying buffer.
    @inlinable public mutating func readView(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= remaining else { return nil }
        let view = UnsafeRawBufferPointer(rebasing: base[offset..<offset + count])
        advance(count)
        return view
    }

    @usableFromInline mutating func advance(_ count: Int) { position += count }
}

extension Array where Element == UInt8 {
    /// Appends `value` in big-endian order.
    @inlinable public mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

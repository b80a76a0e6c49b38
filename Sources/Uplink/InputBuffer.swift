/// Bytes read from a stream and not yet used: one fixed buffer, refilled when empty.
struct InputBuffer {
    private var storage = [UInt8](repeating: 0, count: UplinkLimits.readChunk)
    private var used = 0
    private var filled = 0

    var isEmpty: Bool { used == filled }

    /// Reads into the empty buffer.
    mutating func fill(from stream: any ByteStream) -> StreamTransfer {
        let transfer = storage.withUnsafeMutableBytes { stream.read(into: $0) }
        if case .bytes(let count) = transfer { (used, filled) = (0, min(count, storage.count)) }
        return transfer
    }

    /// Copies as much as fits.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, filled - used)
        buffer.copyBytes(from: storage[used..<used + count])
        used += count
        return count
    }

    mutating func takeAll() -> ArraySlice<UInt8> {
        defer { used = filled }
        return storage[used..<filled]
    }

    /// Puts back the end of what was just taken.
    mutating func putBack(_ count: Int) { used = filled - min(count, filled) }
}

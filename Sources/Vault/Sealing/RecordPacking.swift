import Basics
import Clz4

/// LZ4 where it makes a record smaller; a leading byte tells which.
enum RecordPacking {
    private static let plain: UInt8 = 0
    private static let lz4: UInt8 = 1
    /// Bytes added to a content that does not compress.
    static let overhead = 1
    /// Before the compressed bytes: the method and the size of what they become.
    private static let compressedHead = 5

    static func pack(_ content: [UInt8]) -> [UInt8] {
        let room = content.count - compressedHead
        guard room > 0, content.count <= VaultLimits.recordSize else { return [plain] + content }
        var packed = [UInt8](repeating: 0, count: compressedHead + room)
        let count = packed.withUnsafeMutableBytes { target in
            content.withUnsafeBytes { source in
                LZ4_compress_default(
                    source.baseAddress?.assumingMemoryBound(to: CChar.self),
                    target.baseAddress?.advanced(by: compressedHead).assumingMemoryBound(to: CChar.self),
                    Int32(truncatingIfNeeded: source.count), Int32(truncatingIfNeeded: room))
            }
        }
        // Zero when it does not fit, that is, does not help.
        guard count > 0 else { return [plain] + content }
        packed.removeLast(room - Int(count))
        var head = [lz4]
        head.append(bigEndian: UInt32(truncatingIfNeeded: content.count))
        packed.replaceSubrange(0..<compressedHead, with: head)
        return packed
    }

    /// As it is, and in no buffer but the one returned: for secrets.
    static func wrap(_ content: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: overhead + content.count) { buffer, count in
            let room = UnsafeMutableRawBufferPointer(buffer)
            room[0] = plain
            UnsafeMutableRawBufferPointer(rebasing: room[overhead...]).copyMemory(from: content)
            count = overhead + content.count
        }
    }

    /// `nil` for what neither `pack` nor `wrap` makes.
    static func unpack(_ packed: [UInt8]) -> [UInt8]? {
        guard let method = packed.first else { return nil }
        if method == plain { return Array(packed.dropFirst()) }
        guard method == lz4 else { return nil }
        return packed.withUnsafeBytes { source -> [UInt8]? in
            var reader = ByteReader(source)
            guard reader.skip(1), let size = reader.readUInt32(), size <= UInt32(VaultLimits.recordSize),
                let body = reader.readView(reader.remaining)
            else { return nil }
            var content = [UInt8](repeating: 0, count: Int(size))
            let count = content.withUnsafeMutableBytes { target in
                LZ4_decompress_safe(
                    body.baseAddress?.assumingMemoryBound(to: CChar.self),
                    target.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(truncatingIfNeeded: body.count),
                    Int32(truncatingIfNeeded: target.count))
            }
            return count == Int32(truncatingIfNeeded: content.count) ? content : nil
        }
    }
}

/// What a byte stream begins with (chapter 01 §2.3, chapter 03 A8.2).
public enum FrameDelimitation: Hashable, Sendable {
    /// Too few bytes to tell the length.
    case incomplete
    /// Length of the frame, whether or not all of it is there.
    case frame(length: Int)
    /// The first byte is no version: padding or damage.
    case noFrame
    /// A header no frame can have, or one longer than the limit.
    case impossible
}

/// Finds the end of a frame in a byte stream from its header alone.
public enum FrameDelimiter {
    public static func delimit(_ bytes: UnsafeRawBufferPointer, limit: Int) -> FrameDelimitation {
        guard let version = bytes.first else { return .incomplete }
        guard version == 1 || version == 2 else { return .noFrame }
        let isLong = version == 2
        var length = isLong ? FrameLayout.smallestLongFrame : FrameLayout.smallestShortFrame
        guard bytes.count >= length else { return .incomplete }

        let flags = PacketFlags(rawValue: bytes[FrameLayout.flagsOffset])
        let payloadLength = FrameLayout.bigEndian(in: bytes, at: FrameLayout.lengthOffset, isLong: isLong)
        if flags.contains(.isCompressed), payloadLength < (isLong ? 4 : 2) { return .impossible }
        guard payloadLength <= UInt32(clamping: limit) else { return .impossible }

        if flags.contains(.hasRecipient) { length += PeerID.size }
        if isLong, flags.contains(.hasRoute) {
            guard length < bytes.count else { return .incomplete }
            length += 1 + Int(bytes[length]) * PeerID.size
        }
        length += Int(payloadLength)
        if flags.contains(.hasSignature) { length += WireLimits.signature }
        return length <= limit ? .frame(length: length) : .impossible
    }

    /// Bytes of trailing padding of a previous frame at the start: k bytes that all have the value k. Padding is never
    /// as short as 1 or 2 bytes, which would look like a version (chapter 01 §4.1).
    static func paddingLength(_ bytes: some RandomAccessCollection<UInt8>) -> Int {
        guard let first = bytes.first, first > 2, Int(first) <= bytes.count,
            bytes.prefix(Int(first)).allSatisfy({ $0 == first })
        else { return 0 }
        return Int(first)
    }
}

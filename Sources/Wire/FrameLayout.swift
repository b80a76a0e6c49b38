/// Why bytes are not a frame (chapter 01 §2.6).
public enum FrameRejection: String, CaseIterable, Error, Sendable {
    /// Fewer than 22 bytes (24 in version 2).
    case tooShort
    /// The first byte is neither 1 nor 2.
    case unsupportedVersion
    /// The length field announces more than `WireLimits.payload`.
    case payloadTooLarge
    /// Recipient, route, payload or signature run past the end.
    case truncated
    /// Flagged compressed, but too short for the original size or for a body behind it.
    case compressedBodyMissing
    /// The original size is 0 or above `WireLimits.payload`.
    case originalSizeOutOfRange
    /// The original size exceeds what so short a body can expand to.
    case implausibleExpansion
    /// The body is no DEFLATE stream, or yields fewer bytes than the original size.
    case inflateFailed
}

/// Where the fields of one frame are (chapter 01 §2.1): found and bounds-checked once, without allocating, and valid
/// for exactly the bytes it was parsed from.
public struct FrameLayout: Hashable, Sendable {
    /// Smallest frames, which are also the fixed header and the sender.
    public static let smallestShortFrame = 22
    public static let smallestLongFrame = 24

    @usableFromInline static let typeOffset = 1
    @usableFromInline static let ttlOffset = 2
    @usableFromInline static let timestampOffset = 3
    @usableFromInline static let flagsOffset = 11
    public static let lengthOffset = 12

    /// 1 or 2.
    public let version: UInt8
    public let hasRecipient: Bool
    public let hasSignature: Bool
    public let isCompressed: Bool
    /// A version 2 frame with the route flag: a count byte is present, possibly 0.
    public let hasRouteCount: Bool
    /// Hops listed.
    public let routeCount: Int
    /// Start and length of the body as received, behind the original size if there is one.
    public let bodyOffset: Int
    public let bodyLength: Int
    /// Length of the payload after inflating; equals `bodyLength` when not compressed.
    public let payloadLength: Int
    /// Length of the whole frame. What follows is padding or damage.
    public let length: Int

    @inlinable public var headerSize: Int { version == 1 ? 14 : 16 }
    @inlinable public var senderOffset: Int { headerSize }
    /// Meaningful with `hasRecipient` only.
    @inlinable public var recipientOffset: Int { headerSize + PeerID.size }
    /// Of the count byte; meaningful with `hasRouteCount` only.
    @inlinable public var routeOffset: Int { headerSize + (hasRecipient ? 2 : 1) * PeerID.size }
    /// Equals `length` when unsigned.
    @inlinable public var signatureOffset: Int { bodyOffset + bodyLength }

    /// Parses the header at the start of `bytes` and checks that every field lies inside (chapter 01 §2.5). Bytes
    /// behind the frame are ignored; the body is not inflated.
    @inlinable
    public static func parse(_ bytes: UnsafeRawBufferPointer) -> Result<FrameLayout, FrameRejection> {
        guard bytes.count >= smallestShortFrame else { return .failure(.tooShort) }
        let version = bytes[0]
        guard version == 1 || version == 2 else { return .failure(.unsupportedVersion) }
        let isLong = version == 2
        guard !isLong || bytes.count >= smallestLongFrame else { return .failure(.tooShort) }

        let flags = PacketFlags(rawValue: bytes[flagsOffset])
        let announced = bigEndian(in: bytes, at: lengthOffset, isLong: isLong)
        guard announced <= UInt32(WireLimits.payload) else { return .failure(.payloadTooLarge) }

        let hasRecipient = flags.contains(.hasRecipient)
        var offset = (isLong ? 16 : 14) + (hasRecipient ? 2 : 1) * PeerID.size
        let hasRouteCount = isLong && flags.contains(.hasRoute)
        var routeCount = 0
        if hasRouteCount {
            guard offset < bytes.count else { return .failure(.truncated) }
            routeCount = Int(bytes[offset])
            offset += 1 + routeCount * PeerID.size
        }

        var bodyLength = Int(announced)
        var payloadLength = bodyLength
        let isCompressed = flags.contains(.isCompressed)
        if isCompressed {
            let sizeField = isLong ? 4 : 2
            bodyLength -= sizeField
            guard bodyLength > 0 else { return .failure(.compressedBodyMissing) }
            guard offset + sizeField <= bytes.count else { return .failure(.truncated) }
            let original = bigEndian(in: bytes, at: offset, isLong: isLong)
            guard original > 0, original <= UInt32(WireLimits.payload) else {
                return .failure(.originalSizeOutOfRange)
            }
            payloadLength = Int(original)
            guard payloadLength <= bodyLength * WireLimits.expansion else { return .failure(.implausibleExpansion) }
            offset += sizeField
        }

        let hasSignature = flags.contains(.hasSignature)
        let length = offset + bodyLength + (hasSignature ? WireLimits.signature : 0)
        guard length <= bytes.count else { return .failure(.truncated) }
        return .success(
            FrameLayout(
                version: version, hasRecipient: hasRecipient, hasSignature: hasSignature, isCompressed: isCompressed,
                hasRouteCount: hasRouteCount, routeCount: routeCount, bodyOffset: offset, bodyLength: bodyLength,
                payloadLength: payloadLength, length: length))
    }

    @usableFromInline
    init(
        version: UInt8, hasRecipient: Bool, hasSignature: Bool, isCompressed: Bool, hasRouteCount: Bool,
        routeCount: Int, bodyOffset: Int, bodyLength: Int, payloadLength: Int, length: Int
    ) {
        self.version = version
        self.hasRecipient = hasRecipient
        self.hasSignature = hasSignature
        self.isCompressed = isCompressed
        self.hasRouteCount = hasRouteCount
        self.routeCount = routeCount
        self.bodyOffset = bodyOffset
        self.bodyLength = bodyLength
        self.payloadLength = payloadLength
        self.length = length
    }

    /// The 2- or 4-byte length at an offset the caller has checked.
    @inlinable
    static func bigEndian(in bytes: UnsafeRawBufferPointer, at offset: Int, isLong: Bool) -> UInt32 {
        isLong
            ? UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            : UInt32(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }
}

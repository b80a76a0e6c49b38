import Basics

/// Sealed mail for a peer who is out of reach, type 0x04, and the content of kind-1401 Nostr drops (chapter 01 §9.4).
public struct CourierEnvelope: Hashable, Sendable {
    public static let tagSize = 16
    /// Bytes of the ciphertext.
    public static let ciphertextSizes = 1...16_384
    /// The spray budget is clamped into this.
    public static let copiesRange: ClosedRange<UInt8> = 1...8
    /// Largest encoding left at a relay, or taken from one, in bytes (chapter 06 §5.3, §5.6).
    public static let maximumDropSize = 20_480

    /// Names the recipient to whoever knows its Noise key and the day; 16 bytes.
    public var recipientTag: [UInt8]
    public var expiry: WallTime
    /// One Noise X message.
    public var ciphertext: [UInt8]
    /// Spray budget, 1 to 8.
    public let copies: UInt8
    /// The one-time prekey it is sealed to; `nil` when sealed to the recipient's static key.
    public var prekeyID: UInt32?

    /// - Parameter copies: clamped to 1…8.
    public init(
        recipientTag: [UInt8], expiry: WallTime, ciphertext: [UInt8], copies: UInt8 = 1, prekeyID: UInt32? = nil
    ) {
        self.recipientTag = recipientTag
        self.expiry = expiry
        self.ciphertext = ciphertext
        self.copies = min(max(copies, Self.copiesRange.lowerBound), Self.copiesRange.upperBound)
        self.prekeyID = prekeyID
    }

    /// The same mail with another budget.
    public func withCopies(_ copies: UInt8) -> CourierEnvelope {
        CourierEnvelope(
            recipientTag: recipientTag, expiry: expiry, ciphertext: ciphertext, copies: copies, prekeyID: prekeyID)
    }

    private enum Field {
        static let recipientTag: UInt8 = 0x01
        static let expiry: UInt8 = 0x02
        static let ciphertext: UInt8 = 0x03
        static let copies: UInt8 = 0x04
        static let prekeyID: UInt8 = 0x05
    }

    public init?(payload: [UInt8]) {
        var recipientTag: [UInt8]?
        var expiry: UInt64?
        var ciphertext: [UInt8]?
        var copies: UInt8 = 1
        var prekeyID: UInt32?
        let isWellFormed = TLVFormat.tlv16.read(payload) { type, value in
            switch type {
            case Field.recipientTag:
                recipientTag = value.bytes(Self.tagSize)
                return recipientTag != nil
            case Field.expiry:
                expiry = value.integer()
                return expiry != nil
            case Field.ciphertext:
                ciphertext = [UInt8](value)
                return Self.ciphertextSizes.contains(value.count)
            case Field.copies:
                guard let budget = value.integer(UInt8.self) else { return false }
                copies = budget
            case Field.prekeyID:
                prekeyID = value.integer()
                return prekeyID != nil
            default: break
            }
            return true
        }
        guard isWellFormed, let recipientTag, let expiry, let ciphertext else { return nil }
        self.init(
            recipientTag: recipientTag, expiry: WallTime(milliseconds: expiry), ciphertext: ciphertext, copies: copies,
            prekeyID: prekeyID)
    }

    /// A budget of 1 is left out: stores recognise an envelope by its bytes. `nil` when tag or ciphertext has a wrong
    /// size.
    public func encoded() -> [UInt8]? {
        guard recipientTag.count == Self.tagSize, Self.ciphertextSizes.contains(ciphertext.count) else { return nil }
        var writer = TLVWriter(.tlv16)
        writer.append(Field.recipientTag, recipientTag)
        writer.append(Field.expiry, bigEndian: expiry.milliseconds)
        writer.append(Field.ciphertext, ciphertext)
        if copies != 1 { writer.append(Field.copies, bigEndian: copies) }
        if let prekeyID { writer.append(Field.prekeyID, bigEndian: prekeyID) }
        return writer.encoded
    }

    public func isExpired(at now: WallTime) -> Bool { now >= expiry }

    /// The day that recipient tags are made for: whole days since the epoch.
    public static func day(at time: WallTime) -> UInt32 {
        UInt32(clamping: time.milliseconds / 86_400_000)
    }
}

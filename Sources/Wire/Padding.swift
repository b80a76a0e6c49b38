/// PKCS#7-like padding of a whole frame toward fixed sizes (chapter 01 §4).
public enum Padding {
    /// Frame sizes padding aims at.
    static let buckets = [256, 512, 1024, 2048]
    /// Bytes kept free below a bucket for the encryption overhead the reference reckons with.
    static let reserve = 16
    /// One byte must express the pad length.
    static let longest = 255

    /// The bucket for a frame of `count` bytes, or `count` itself past the largest.
    public static func bucket(for count: Int) -> Int {
        for bucket in buckets where count + reserve <= bucket { return bucket }
        return count
    }

    /// Pad bytes an encoder appends to a frame of `count` bytes: 0 or 16 … 255.
    public static func length(for count: Int) -> Int {
        let needed = bucket(for: count) - count
        return needed <= longest ? needed : 0
    }

    /// `bytes` padded to `target`, unchanged when that takes no byte or more than 255.
    public static func pad(_ bytes: [UInt8], to target: Int) -> [UInt8] {
        let needed = target - bytes.count
        guard needed > 0, needed <= longest else { return bytes }
        return bytes + repeatElement(UInt8(needed), count: needed)
    }

    /// A frame padded to its bucket.
    public static func padded(_ frame: [UInt8]) -> [UInt8] { pad(frame, to: bucket(for: frame.count)) }

    /// `bytes` without valid padding at the end, else unchanged (chapter 01 §4.3).
    ///
    /// A decoder has no use for it: what decodes without its tail decodes with it too. It serves payloads that were
    /// padded by themselves.
    public static func unpad(_ bytes: [UInt8]) -> [UInt8] {
        guard let last = bytes.last, last > 0, Int(last) <= bytes.count,
            bytes.suffix(Int(last)).allSatisfy({ $0 == last })
        else { return bytes }
        return Array(bytes.dropLast(Int(last)))
    }
}

extension MessageType {
    /// Whether frames of this type are padded on Bluetooth links (chapter 01 §4.2).
    public var isPadded: Bool { self == .noiseHandshake || self == .noiseEncrypted }
}

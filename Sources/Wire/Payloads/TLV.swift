import Basics

/// One of the TLV layouts of chapter 01 §1.1, with what a structure that uses it tolerates at its end. What an unknown,
/// repeated or ill-sized field means is the structure's own rule, in its closure.
struct TLVFormat: Sendable {
    /// Bytes of the length field: 1 in TLV8, 2 in TLV16.
    let lengthSize: Int
    /// Whether bytes at the end that cannot hold type and length are ignored; otherwise they reject the payload.
    let ignoresPartialHeader: Bool
    /// The one type with a 4-byte length, in TLV-file. Old senders wrote 2 bytes there, which is tried second.
    let wideType: UInt8?

    static let tlv8 = TLVFormat(lengthSize: 1, ignoresPartialHeader: false, wideType: nil)
    static let lenientTLV8 = TLVFormat(lengthSize: 1, ignoresPartialHeader: true, wideType: nil)
    static let tlv16 = TLVFormat(lengthSize: 2, ignoresPartialHeader: false, wideType: nil)
    static let lenientTLV16 = TLVFormat(lengthSize: 2, ignoresPartialHeader: true, wideType: nil)
    static let file = TLVFormat(lengthSize: 2, ignoresPartialHeader: false, wideType: 0x04)

    /// Hands every field to `take` in order of appearance, until it returns false.
    /// - Returns: true when the payload is whole fields to its end and `take` refused none.
    func read(_ payload: UnsafeRawBufferPointer, _ take: (UInt8, UnsafeRawBufferPointer) -> Bool) -> Bool {
        var reader = ByteReader(payload)
        while !reader.isAtEnd {
            guard reader.remaining > lengthSize else { return ignoresPartialHeader }
            guard let type = reader.readUInt8(), let value = value(of: type, from: &reader), take(type, value) else {
                return false
            }
        }
        return true
    }

    func read(_ payload: [UInt8], _ take: (UInt8, UnsafeRawBufferPointer) -> Bool) -> Bool {
        payload.withUnsafeBytes { read($0, take) }
    }

    private func value(of type: UInt8, from reader: inout ByteReader) -> UnsafeRawBufferPointer? {
        if type == wideType {
            var wide = reader
            if let length = wide.readUInt32(), let value = wide.readView(Int(length)) {
                reader = wide
                return value
            }
        }
        let length = lengthSize == 1 ? reader.readUInt8().map(Int.init) : reader.readUInt16().map(Int.init)
        return length.flatMap { reader.readView($0) }
    }
}

/// Writes fields of one `TLVFormat`.
struct TLVWriter {
    private let format: TLVFormat
    private var bytes: [UInt8] = []
    private var isOverflown = false

    init(_ format: TLVFormat) { self.format = format }

    mutating func append(_ type: UInt8, _ value: some Collection<UInt8>) {
        let limit = type == format.wideType ? Int(UInt32.max) : format.lengthSize == 1 ? 0xff : 0xffff
        guard value.count <= limit else {
            isOverflown = true
            return
        }
        bytes.append(type)
        if type == format.wideType {
            bytes.append(bigEndian: UInt32(value.count))
        } else if format.lengthSize == 1 {
            bytes.append(UInt8(value.count))
        } else {
            bytes.append(bigEndian: UInt16(value.count))
        }
        bytes.append(contentsOf: value)
    }

    mutating func append(_ type: UInt8, bigEndian value: some FixedWidthInteger) {
        var field = [UInt8]()
        field.append(bigEndian: value)
        append(type, field)
    }

    /// The fields so far, or `nil` when one was longer than its length field can tell.
    var encoded: [UInt8]? { isOverflown ? nil : bytes }
}

extension UnsafeRawBufferPointer {
    /// A copy of all the bytes, if there are exactly `count`.
    func bytes(_ count: Int) -> [UInt8]? { self.count == count ? [UInt8](self) : nil }

    /// All the bytes as one big-endian integer, if there are exactly as many as it has.
    func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
        var reader = ByteReader(self)
        guard count == MemoryLayout<T>.size else { return nil }
        return reader.readInteger(T.self)
    }

    /// All the bytes as text, if they are valid UTF-8.
    var text: String? { String(validating: self, as: UTF8.self) }
}

extension Array where Element == UInt8 {
    /// Appends `field` behind its length in one byte, cut at 255 bytes.
    mutating func append(length8 field: some Collection<UInt8>) {
        let kept = field.prefix(0xff)
        append(UInt8(kept.count))
        append(contentsOf: kept)
    }

    /// Appends `field` behind its length in two bytes, cut at 65,535 bytes.
    mutating func append(length16 field: some Collection<UInt8>) {
        let kept = field.prefix(0xffff)
        append(bigEndian: UInt16(kept.count))
        append(contentsOf: kept)
    }
}

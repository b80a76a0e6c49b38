/// Text with its length in one byte before it, as records at rest hold it.
extension Array where Element == UInt8 {
    /// Longer text is cut before the character that would not fit, so that what is read back is written the same again.
    public mutating func append(shortText text: String) {
        var end = text.unicodeScalars.startIndex
        var count = 0
        while end < text.unicodeScalars.endIndex {
            count += UTF8.width(text.unicodeScalars[end])
            guard count <= Int(UInt8.max) else { break }
            end = text.unicodeScalars.index(after: end)
        }
        let utf8 = text[..<end].utf8
        append(UInt8(utf8.count))
        append(contentsOf: utf8)
    }
}

extension ByteReader {
    /// What is not UTF-8 is replaced; `nil` when the text is cut off.
    public mutating func readShortText() -> String? {
        readUInt8().flatMap { readBytes(Int($0)) }.map { String(decoding: $0, as: UTF8.self) }
    }
}

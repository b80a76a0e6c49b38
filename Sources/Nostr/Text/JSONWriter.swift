/// Emits compact JSON with the escapes of the canonical form and no others (chapter 05 §1.2), so that one serialiser
/// serves the hash and every frame sent.
public struct JSONWriter {
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Text that is JSON already.
    public mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func raw(_ json: [UInt8]) { bytes.append(contentsOf: json) }

    public mutating func integer(_ value: Int64) {
        var digits: (UInt64, UInt64, UInt32) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { buffer in
            var start = buffer.count
            var rest = value.magnitude
            repeat {
                start -= 1
                buffer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(contentsOf: buffer[start...])
        }
    }

    public mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { escape(UnsafeRawBufferPointer($0)) }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func strings(_ list: [String]) {
        array(list) { writer, text in writer.string(text) }
    }

    public mutating func array<Element>(_ list: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        raw("[")
        for (index, element) in list.enumerated() {
            if index > 0 { raw(",") }
            write(&self, element)
        }
        raw("]")
    }

    private mutating func escape(_ text: UnsafeRawBufferPointer) {
        var offset = 0
        while true {
            let run = text.plainJSONRun(from: offset)
            bytes.append(contentsOf: text[offset..<offset + run])
            offset += run
            guard offset < text.count else { return }
            let byte = text[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): raw("\\\"")
            case UInt8(ascii: "\\"): raw("\\\\")
            case 0x08: raw("\\b")
            case 0x09: raw("\\t")
            case 0x0a: raw("\\n")
            case 0x0c: raw("\\f")
            case 0x0d: raw("\\r")
            default:
                raw(byte < 0x10 ? "\\u000" : "\\u001")
                let nibble = byte & 15
                bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
            }
        }
    }
}

import Basics

/// Whether a board post is urgent, read from its flags field alone: a relay does not decode posts (chapter 01 §9.11).
enum BoardUrgency {
    private static let flagsField: UInt8 = 0x09
    private static let urgent: UInt8 = 0x01

    /// The first field 0x09 of length 1 decides.
    static func isUrgent(_ payload: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(payload)
        while let type = reader.readUInt8(), let length = reader.readUInt16() {
            guard let value = reader.readView(Int(length)) else { return false }
            if type == flagsField, value.count == 1 { return value[0] & urgent != 0 }
        }
        return false
    }
}

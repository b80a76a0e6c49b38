/// What the Core Specification, Vol 3 Part F 3.4, says a server with the attributes of chapter 03 A13.3 answers:
/// written down once more, plainly and without regard for the server under test. Everything is a list of bytes.
struct ATTReference {
    struct Row {
        let handle: Int
        let type: [UInt8]
        /// Nil where reading is not permitted.
        let value: [UInt8]?
        /// Where the group ends that this attribute begins.
        var groupEnd: Int?
    }

    /// Chapter 03 A13.3. Both configurations are at their default.
    static let rows: [Row] = [
        Row(handle: 0x01, type: [0x00, 0x28], value: [0x00, 0x18], groupEnd: 0x05),
        Row(handle: 0x02, type: [0x03, 0x28], value: [0x02, 0x03, 0x00, 0x00, 0x2A]),
        Row(handle: 0x03, type: [0x00, 0x2A], value: Array("bitchat".utf8)),
        Row(handle: 0x04, type: [0x03, 0x28], value: [0x02, 0x05, 0x00, 0x01, 0x2A]),
        Row(handle: 0x05, type: [0x01, 0x2A], value: [0, 0]),
        Row(handle: 0x06, type: [0x00, 0x28], value: [0x01, 0x18], groupEnd: 0x09),
        Row(handle: 0x07, type: [0x03, 0x28], value: [0x20, 0x08, 0x00, 0x05, 0x2A]),
        Row(handle: 0x08, type: [0x05, 0x2A], value: nil),
        Row(handle: 0x09, type: [0x02, 0x29], value: [0, 0]),
        Row(handle: 0x10, type: [0x00, 0x28], value: bytes(serviceHex), groupEnd: 0x13),
        Row(handle: 0x11, type: [0x03, 0x28], value: [0x1E, 0x12, 0x00] + bytes(characteristicHex)),
        Row(handle: 0x12, type: bytes(characteristicHex), value: []),
        Row(handle: 0x13, type: [0x02, 0x29], value: [0, 0]),
    ]

    let mtu: Int

    /// A 16-bit UUID is the same as its place in the Bluetooth base UUID.
    static func long(_ uuid: [UInt8]) -> [UInt8] {
        uuid.count == 16 ? uuid : bytes("fb 34 9b 5f 80 00 00 80 00 10 00 00") + uuid + [0, 0]
    }

    private func le(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
    private func error(_ opcode: UInt8, _ handle: Int, _ code: UInt8) -> [UInt8] { [1, opcode] + le(handle) + [code] }

    private func rows(_ start: Int, _ end: Int, _ type: [UInt8]? = nil) -> [Row] {
        ATTReference.rows.filter {
            (start...end).contains($0.handle)
                && (type == nil || ATTReference.long($0.type) == ATTReference.long(type ?? []))
        }
    }

    /// 3.4.3.1: handles with types of one size; as many as fit.
    func findInformation(_ start: Int, _ end: Int) -> [UInt8] {
        guard start != 0, start <= end else { return error(0x04, start, 0x01) }
        let found = rows(start, end)
        guard let first = found.first else { return error(0x04, start, 0x0A) }
        let run = found.prefix { $0.type.count == first.type.count }
        let most = (mtu - 2) / (2 + first.type.count)
        return [0x05, first.type.count == 2 ? 1 : 2] + run.prefix(most).flatMap { le($0.handle) + $0.type }
    }

    /// 3.4.3.3, of services only (chapter 03 A13.4).
    func findByTypeValue(_ start: Int, _ end: Int, type: [UInt8], value: [UInt8]) -> [UInt8] {
        guard start != 0, start <= end else { return error(0x06, start, 0x01) }
        let found = type == [0x00, 0x28] ? rows(start, end, type).filter { $0.value == value } : []
        guard !found.isEmpty else { return error(0x06, start, 0x0A) }
        return [0x07] + found.prefix((mtu - 1) / 4).flatMap { le($0.handle) + le($0.groupEnd ?? 0) }
    }

    /// 3.4.4.1: handles with values of one length; a value that may not be read is an error if it is the first, and
    /// otherwise ends the list.
    func readByType(_ start: Int, _ end: Int, type: [UInt8]) -> [UInt8] {
        guard start != 0, start <= end else { return error(0x08, start, 0x01) }
        let found = rows(start, end, type)
        guard let first = found.first else { return error(0x08, start, 0x0A) }
        guard let value = first.value else { return error(0x08, first.handle, 0x02) }
        let length = min(value.count, mtu - 4, 253)
        let run = found.prefix { $0.value.map { min($0.count, mtu - 4, 253) } == length }
        return [0x09, UInt8(2 + length)]
            + run.prefix((mtu - 2) / (2 + length)).flatMap { le($0.handle) + ($0.value ?? []).prefix(length) }
    }

    /// 3.4.4.9.
    func readByGroupType(_ start: Int, _ end: Int, type: [UInt8]) -> [UInt8] {
        guard start != 0, start <= end else { return error(0x10, start, 0x01) }
        guard ATTReference.long(type) == ATTReference.long([0x00, 0x28]) else { return error(0x10, start, 0x10) }
        let found = rows(start, end, type)
        guard let first = found.first, let value = first.value else { return error(0x10, start, 0x0A) }
        let length = min(value.count, mtu - 6, 251)
        let run = found.prefix { $0.value.map { min($0.count, mtu - 6, 251) } == length }
        return [0x11, UInt8(4 + length)]
            + run.prefix((mtu - 2) / (4 + length)).flatMap {
                le($0.handle) + le($0.groupEnd ?? 0) + ($0.value ?? []).prefix(length)
            }
    }

    /// 3.4.4.3.
    func read(_ handle: Int) -> [UInt8] {
        guard let row = ATTReference.rows.first(where: { $0.handle == handle }) else {
            return error(0x0A, handle, 0x01)
        }
        guard let value = row.value else { return error(0x0A, handle, 0x02) }
        return [0x0B] + value.prefix(mtu - 1)
    }

    /// 3.4.4.5.
    func readBlob(_ handle: Int, _ offset: Int) -> [UInt8] {
        guard let row = ATTReference.rows.first(where: { $0.handle == handle }) else {
            return error(0x0C, handle, 0x01)
        }
        guard let value = row.value else { return error(0x0C, handle, 0x02) }
        guard offset <= value.count else { return error(0x0C, handle, 0x07) }
        return [0x0D] + value.dropFirst(offset).prefix(mtu - 1)
    }

    /// 3.4.5.1 and 3.4.6.1 without their queue: the error a write to this handle draws, if any.
    func refusal(ofWriting length: Int, to handle: Int) -> UInt8? {
        switch handle {
        case 0x12: length > 512 ? 0x0D : nil
        case 0x09, 0x13: length != 2 ? 0x0D : nil
        case 0x01...0x08, 0x10, 0x11: 0x03
        default: 0x01
        }
    }
}

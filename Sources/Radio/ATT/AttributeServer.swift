import Basics

/// The server half of a bearer (chapter 03 A13.4). It answers every request at once, so there is never more than one
/// answer to be sent.
struct AttributeServer {
    enum Event {
        case respond([UInt8])
        /// A value written to the mesh characteristic; valid during the call.
        case written(UnsafeRawBufferPointer)
        /// The peer turned our notifications on or off.
        case subscription(Bool)
        /// Agreed on, and valid for what is sent after the response.
        case mtu(Int)
        case dropped(BearerDrop)
    }

    private let table: AttributeTable
    /// The two client characteristic configurations of this link, as written.
    private var serviceChangedConfiguration: UInt16 = 0
    private var meshConfiguration: UInt16 = 0
    private var prepared = PreparedWrites()

    init(service: BluetoothUUID) { table = AttributeTable(service: service) }

    /// Takes one PDU that is not a server's. A response is given out before what the request brought about.
    mutating func receive(_ pdu: UnsafeRawBufferPointer, mtu: Int, emit: (Event) -> Void) {
        var reader = ByteReader(pdu)
        guard let first = reader.readUInt8() else { return emit(.dropped(.malformedPDU)) }
        do throws(ATTRefusal) {
            switch ATTOpcode(rawValue: first) {
            case .exchangeMTURequest: try exchangeMTU(&reader, emit)
            case .findInformationRequest: emit(.respond(try findInformation(&reader, mtu)))
            case .findByTypeValueRequest: emit(.respond(try findByTypeValue(&reader, mtu)))
            case .readByTypeRequest: emit(.respond(try readByType(&reader, mtu)))
            case .readByGroupTypeRequest: emit(.respond(try readByGroupType(&reader, mtu)))
            case .readRequest: emit(.respond(try read(&reader, mtu)))
            case .readBlobRequest: emit(.respond(try readBlob(&reader, mtu)))
            case .writeRequest: try write(&reader, emit)
            case .writeCommand: writeCommand(&reader, emit)
            case .prepareWriteRequest: emit(.respond(try prepareWrite(&reader, pdu, mtu)))
            case .executeWriteRequest: try executeWrites(&reader, emit)
            case .signedWriteCommand: emit(.dropped(.commandIgnored))
            // We indicate nothing.
            case .confirmation: emit(.dropped(.unexpectedValue))
            default:
                guard first & ATTOpcode.commandBit == 0 else { return emit(.dropped(.commandIgnored)) }
                throw ATTRefusal(.requestNotSupported)
            }
        } catch {
            emit(.dropped(.requestRefused))
            emit(.respond(error.response(to: first)))
        }
    }

    // MARK: Requests

    /// Chapter 03 A13.4 has it once per link. Peers ask again all the same, and one that names less and is sent more
    /// goes silent, so each request is answered, and the newest value counts.
    private func exchangeMTU(_ reader: inout ByteReader, _ emit: (Event) -> Void) throws(ATTRefusal) {
        guard let offered = reader.readLittleEndian(UInt16.self), reader.isAtEnd else { throw ATTRefusal(.invalidPDU) }
        var response = [ATTOpcode.exchangeMTUResponse.rawValue]
        response.append(littleEndian: UInt16(ATTLimits.ownMTU))
        emit(.respond(response))
        emit(.mtu(max(ATTLimits.smallestMTU, min(Int(offered), ATTLimits.ownMTU))))
    }

    private func findInformation(_ reader: inout ByteReader, _ mtu: Int) throws(ATTRefusal) -> [UInt8] {
        let range = try handleRange(&reader)
        guard reader.isAtEnd else { throw ATTRefusal(.invalidPDU) }
        try check(range)
        var response: [UInt8] = []
        var size = 0
        for attribute in table.attributes(in: range.start...range.end) {
            let type = attribute.type.bytes
            if response.isEmpty {
                size = type.count
                response = [ATTOpcode.findInformationResponse.rawValue, size == 2 ? 1 : 2]
            }
            guard type.count == size, response.count + 2 + size <= mtu else { break }
            response.append(littleEndian: attribute.handle)
            response += type
        }
        guard !response.isEmpty else { throw ATTRefusal(.attributeNotFound, range.start) }
        return response
    }

    /// Only services are found by value.
    private func findByTypeValue(_ reader: inout ByteReader, _ mtu: Int) throws(ATTRefusal) -> [UInt8] {
        let range = try handleRange(&reader)
        guard let type = reader.readLittleEndian(UInt16.self), let value = reader.readView(reader.remaining) else {
            throw ATTRefusal(.invalidPDU)
        }
        try check(range)
        var response = [ATTOpcode.findByTypeValueResponse.rawValue]
        if BluetoothUUID(type) == AttributeTable.AttributeType.primaryService,
            let wanted = BluetoothUUID(littleEndian: value)
        {
            for service in table.attributes(in: range.start...range.end, of: BluetoothUUID(type)) {
                guard case .constant(let uuid) = service.content, BluetoothUUID(littleEndian: uuid) == wanted else {
                    continue
                }
                guard response.count + 4 <= mtu else { break }
                response.append(littleEndian: service.handle)
                response.append(littleEndian: service.groupEnd)
            }
        }
        guard response.count > 1 else { throw ATTRefusal(.attributeNotFound, range.start) }
        return response
    }

    private func readByType(_ reader: inout ByteReader, _ mtu: Int) throws(ATTRefusal) -> [UInt8] {
        let range = try handleRange(&reader)
        let type = try attributeType(&reader)
        try check(range)
        return try list(.readByTypeResponse, of: type, in: range, mtu) { $0.append(littleEndian: $1.handle) }
    }

    private func readByGroupType(_ reader: inout ByteReader, _ mtu: Int) throws(ATTRefusal) -> [UInt8] {
        let range = try handleRange(&reader)
        let type = try attributeType(&reader)
        try check(range)
        guard type == AttributeTable.AttributeType.primaryService else {
            throw ATTRefusal(.unsupportedGroupType, range.start)
        }
        return try list(.readByGroupTypeResponse, of: type, in: range, mtu) {
            $0.append(littleEndian: $1.handle)
            $0.append(littleEndian: $1.groupEnd)
        }
    }

    /// Entries of one length: a head, and as much of the value as fits. Stops before the first that is longer or
    /// shorter, may not be read, or has no room left.
    private func list(
        _ opcode: ATTOpcode, of type: BluetoothUUID, in range: (start: UInt16, end: UInt16), _ mtu: Int,
        head: (inout [UInt8], AttributeTable.Attribute) -> Void
    ) throws(ATTRefusal) -> [UInt8] {
        var response: [UInt8] = []
        var size = 0
        for attribute in table.attributes(in: range.start...range.end, of: type) {
            guard let value = value(of: attribute) else {
                guard response.isEmpty else { break }
                throw ATTRefusal(.readNotPermitted, attribute.handle)
            }
            var entry: [UInt8] = []
            head(&entry, attribute)
            entry += value
            entry.removeLast(max(0, entry.count - min(mtu - 2, ATTLimits.longestEntry)))
            if response.isEmpty {
                size = entry.count
                response = [opcode.rawValue, UInt8(truncatingIfNeeded: size)]
            }
            guard entry.count == size, response.count + size <= mtu else { break }
            response += entry
        }
        guard !response.isEmpty else { throw ATTRefusal(.attributeNotFound, range.start) }
        return response
    }

    private func read(_ reader: inout ByteReader, _ mtu: Int) throws(ATTRefusal) -> [UInt8] {
        guard let handle = reader.readLittleEndian(UInt16.self), reader.isAtEnd else { throw ATTRefusal(.invalidPDU) }
        return [ATTOpcode.readResponse.rawValue] + (try readable(handle)).prefix(mtu - 1)
    }

    private func readBlob(_ reader: inout ByteReader, _ mtu: Int) throws(ATTRefusal) -> [UInt8] {
        guard let handle = reader.readLittleEndian(UInt16.self), let offset = reader.readLittleEndian(UInt16.self),
            reader.isAtEnd
        else { throw ATTRefusal(.invalidPDU) }
        let value = try readable(handle)
        guard Int(offset) <= value.count else { throw ATTRefusal(.invalidOffset, handle) }
        return [ATTOpcode.readBlobResponse.rawValue] + value.dropFirst(Int(offset)).prefix(mtu - 1)
    }

    private mutating func write(_ reader: inout ByteReader, _ emit: (Event) -> Void) throws(ATTRefusal) {
        guard let handle = reader.readLittleEndian(UInt16.self), let value = reader.readView(reader.remaining) else {
            throw ATTRefusal(.invalidPDU)
        }
        try checkWritable(handle)
        try check(length: value.count, writtenTo: handle)
        emit(.respond([ATTOpcode.writeResponse.rawValue]))
        apply(value, to: handle, emit)
    }

    /// Longer than the MTU or than a value may be is taken as it comes (chapter 03 A13.4).
    private func writeCommand(_ reader: inout ByteReader, _ emit: (Event) -> Void) {
        guard let handle = reader.readLittleEndian(UInt16.self), let value = reader.readView(reader.remaining) else {
            return emit(.dropped(.malformedPDU))
        }
        emit(handle == AttributeTable.meshHandle ? .written(value) : .dropped(.commandIgnored))
    }

    private mutating func prepareWrite(
        _ reader: inout ByteReader, _ pdu: UnsafeRawBufferPointer, _ mtu: Int
    ) throws(ATTRefusal) -> [UInt8] {
        // One longer than the MTU could not be echoed.
        guard let handle = reader.readLittleEndian(UInt16.self), let offset = reader.readLittleEndian(UInt16.self),
            let value = reader.readView(reader.remaining), pdu.count <= mtu
        else { throw ATTRefusal(.invalidPDU) }
        try checkWritable(handle)
        guard prepared.add(value, to: handle, at: offset) else { throw ATTRefusal(.prepareQueueFull, handle) }
        return [ATTOpcode.prepareWriteResponse.rawValue] + pdu.dropFirst()
    }

    /// All that was prepared, or nothing of it.
    private mutating func executeWrites(_ reader: inout ByteReader, _ emit: (Event) -> Void) throws(ATTRefusal) {
        guard let flags = reader.readUInt8(), reader.isAtEnd, flags <= 1 else { throw ATTRefusal(.invalidPDU) }
        guard flags == 1 else {
            prepared.removeAll()
            return emit(.respond([ATTOpcode.executeWriteResponse.rawValue]))
        }
        let writes = try prepared.take()
        for write in writes { try check(length: write.value.count, writtenTo: write.handle) }
        emit(.respond([ATTOpcode.executeWriteResponse.rawValue]))
        for write in writes { write.value.withUnsafeBytes { apply($0, to: write.handle, emit) } }
    }

    // MARK: Parts of requests

    private func handleRange(_ reader: inout ByteReader) throws(ATTRefusal) -> (start: UInt16, end: UInt16) {
        guard let start = reader.readLittleEndian(UInt16.self), let end = reader.readLittleEndian(UInt16.self) else {
            throw ATTRefusal(.invalidPDU)
        }
        return (start, end)
    }

    private func check(_ range: (start: UInt16, end: UInt16)) throws(ATTRefusal) {
        guard range.start > 0, range.start <= range.end else { throw ATTRefusal(.invalidHandle, range.start) }
    }

    /// The rest of a request, which must be a type.
    private func attributeType(_ reader: inout ByteReader) throws(ATTRefusal) -> BluetoothUUID {
        guard let bytes = reader.readView(reader.remaining), let type = BluetoothUUID(littleEndian: bytes) else {
            throw ATTRefusal(.invalidPDU)
        }
        return type
    }

    // MARK: Values

    private func value(of attribute: AttributeTable.Attribute) -> [UInt8]? {
        switch attribute.content {
        case .constant(let value): value
        case .serviceChanged: nil
        case .mesh: []
        case .configuration(.serviceChanged): littleEndian(serviceChangedConfiguration)
        case .configuration(.mesh): littleEndian(meshConfiguration)
        }
    }

    private func littleEndian(_ value: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)] }

    private func readable(_ handle: UInt16) throws(ATTRefusal) -> [UInt8] {
        guard let attribute = table[handle] else { throw ATTRefusal(.invalidHandle, handle) }
        guard let value = value(of: attribute) else { throw ATTRefusal(.readNotPermitted, handle) }
        return value
    }

    private func checkWritable(_ handle: UInt16) throws(ATTRefusal) {
        switch table[handle]?.content {
        case .mesh, .configuration: return
        case .constant, .serviceChanged: throw ATTRefusal(.writeNotPermitted, handle)
        case nil: throw ATTRefusal(.invalidHandle, handle)
        }
    }

    private func check(length: Int, writtenTo handle: UInt16) throws(ATTRefusal) {
        let isRight = handle == AttributeTable.meshHandle ? length <= RadioLimits.longestValue : length == 2
        guard isRight else { throw ATTRefusal(.invalidValueLength, handle) }
    }

    private mutating func apply(_ value: UnsafeRawBufferPointer, to handle: UInt16, _ emit: (Event) -> Void) {
        guard case .configuration(let configuration) = table[handle]?.content else { return emit(.written(value)) }
        var reader = ByteReader(value)
        guard var written = reader.readLittleEndian(UInt16.self) else { return }
        // Notifications and indications; the other bits mean nothing.
        written &= 3
        switch configuration {
        case .serviceChanged: serviceChangedConfiguration = written
        case .mesh:
            let wasOn = meshConfiguration & 1 == 1
            meshConfiguration = written
            if (written & 1 == 1) != wasOn { emit(.subscription(!wasOn)) }
        }
    }
}

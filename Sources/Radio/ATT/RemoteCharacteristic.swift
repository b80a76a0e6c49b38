import Basics

/// What a client reads out of the responses of discovery. Everything a response may say wrongly ends in nil.
enum DiscoveryResponse {
    /// Handles of the first service in a Find By Type Value Response.
    static func service(_ body: UnsafeRawBufferPointer) -> ClosedRange<UInt16>? {
        var reader = ByteReader(body)
        guard body.count.isMultiple(of: 4), let start = reader.readLittleEndian(UInt16.self),
            let end = reader.readLittleEndian(UInt16.self), start > 0, start <= end
        else { return nil }
        return start...end
    }

    struct Declaration: Equatable {
        let handle: UInt16
        let properties: CharacteristicProperties
        let valueHandle: UInt16
        let uuid: BluetoothUUID
    }

    /// The characteristic declarations of a Read By Type Response, in rising order inside `range`.
    static func declarations(_ body: UnsafeRawBufferPointer, in range: ClosedRange<UInt16>) -> [Declaration]? {
        var reader = ByteReader(body)
        guard let size = reader.readUInt8().map(Int.init), size == 7 || size == 21, !reader.isAtEnd,
            reader.remaining.isMultiple(of: size)
        else { return nil }
        var declarations: [Declaration] = []
        var last = range.lowerBound - 1
        while !reader.isAtEnd {
            guard let handle = reader.readLittleEndian(UInt16.self), let properties = reader.readUInt8(),
                let valueHandle = reader.readLittleEndian(UInt16.self),
                let uuid = reader.readView(size - 5).flatMap({ BluetoothUUID(littleEndian: $0) }),
                handle > last, range.contains(handle), valueHandle > handle, range.contains(valueHandle)
            else { return nil }
            declarations.append(
                Declaration(
                    handle: handle, properties: CharacteristicProperties(rawValue: properties),
                    valueHandle: valueHandle, uuid: uuid))
            last = valueHandle
        }
        return declarations
    }

    /// Handles and types of a Find Information Response, in rising order inside `range`.
    static func types(
        _ body: UnsafeRawBufferPointer, in range: ClosedRange<UInt16>
    ) -> [(handle: UInt16, type: BluetoothUUID)]? {
        var reader = ByteReader(body)
        guard let format = reader.readUInt8(), format == 1 || format == 2, !reader.isAtEnd else { return nil }
        let size = format == 1 ? 2 : 16
        guard reader.remaining.isMultiple(of: 2 + size) else { return nil }
        var types: [(handle: UInt16, type: BluetoothUUID)] = []
        while !reader.isAtEnd {
            guard let handle = reader.readLittleEndian(UInt16.self), range.contains(handle),
                handle > types.last?.handle ?? 0,
                let type = reader.readView(size).flatMap({ BluetoothUUID(littleEndian: $0) })
            else { return nil }
            types.append((handle, type))
        }
        return types
    }
}

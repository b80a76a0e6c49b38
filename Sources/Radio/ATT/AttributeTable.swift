/// What our server offers. The handles are the same for the life of the product: phones that never bonded may remember
/// them by our address, and a change would have to be told to each (chapter 03 A13.3).
struct AttributeTable: Sendable {
    struct Attribute: Sendable {
        enum Content: Sendable {
            case constant([UInt8])
            /// Never indicated while the table is fixed, and not readable.
            case serviceChanged
            /// Writes are frames from the peer, notifications frames to it; reading it gives nothing.
            case mesh
            case configuration(Configuration)
        }

        let handle: UInt16
        let type: BluetoothUUID
        let content: Content
        /// Of a service declaration: the last handle of the service. Of anything else: its own.
        let groupEnd: UInt16
    }

    /// Whose client characteristic configuration: each link has its own.
    enum Configuration: Sendable { case serviceChanged, mesh }

    enum AttributeType {
        static let primaryService = BluetoothUUID(0x2800)
        static let characteristic = BluetoothUUID(0x2803)
        static let configuration = BluetoothUUID(0x2902)
        static let deviceName = BluetoothUUID(0x2A00)
        static let appearance = BluetoothUUID(0x2A01)
        static let serviceChanged = BluetoothUUID(0x2A05)
    }

    /// The value of the mesh characteristic.
    static let meshHandle: UInt16 = 0x0012
    /// The same for every box: a name of one's own would be a label that follows it about.
    static let deviceName = "bitchat"

    /// In the order of handles.
    let attributes: [Attribute]

    init(service: BluetoothUUID) {
        var attributes: [Attribute] = []
        func add(_ handle: UInt16, _ type: BluetoothUUID, _ content: Attribute.Content, groupEnd: UInt16? = nil) {
            attributes.append(
                Attribute(handle: handle, type: type, content: content, groupEnd: groupEnd ?? handle))
        }
        func addService(_ handle: UInt16, to end: UInt16, _ uuid: BluetoothUUID) {
            add(handle, AttributeType.primaryService, .constant(uuid.bytes), groupEnd: end)
        }
        func addCharacteristic(
            _ handle: UInt16, _ properties: CharacteristicProperties, _ uuid: BluetoothUUID,
            _ content: Attribute.Content
        ) {
            var declaration = [properties.rawValue]
            declaration.append(littleEndian: handle + 1)
            add(handle, AttributeType.characteristic, .constant(declaration + uuid.bytes))
            add(handle + 1, uuid, content)
        }
        addService(0x0001, to: 0x0005, BluetoothUUID(0x1800))
        addCharacteristic(
            0x0002, .read, AttributeType.deviceName, .constant([UInt8](AttributeTable.deviceName.utf8)))
        addCharacteristic(0x0004, .read, AttributeType.appearance, .constant([0, 0]))
        addService(0x0006, to: 0x0009, BluetoothUUID(0x1801))
        addCharacteristic(0x0007, .indicate, AttributeType.serviceChanged, .serviceChanged)
        add(0x0009, AttributeType.configuration, .configuration(.serviceChanged))
        addService(0x0010, to: 0x0013, service)
        addCharacteristic(
            0x0011, [.read, .writeWithoutResponse, .write, .notify], .meshCharacteristic, .mesh)
        add(0x0013, AttributeType.configuration, .configuration(.mesh))
        self.attributes = attributes
    }

    subscript(_ handle: UInt16) -> Attribute? { attributes.first { $0.handle == handle } }

    func attributes(
        in range: ClosedRange<UInt16>, of type: BluetoothUUID? = nil
    ) -> some Sequence<Attribute> {
        attributes.lazy.filter { range.contains($0.handle) && (type == nil || $0.type == type) }
    }
}

/// What may be done with a characteristic (Core Specification, Vol 3 Part G 3.3.1.1).
struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let read = CharacteristicProperties(rawValue: 0x02)
    static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    static let write = CharacteristicProperties(rawValue: 0x08)
    static let notify = CharacteristicProperties(rawValue: 0x10)
    static let indicate = CharacteristicProperties(rawValue: 0x20)
}

import Basics

/// What the kernel reports on the management channel (mgmt-api, "Events"), as far as it concerns an adapter that
/// speaks only LE.
public enum ManagementEvent: Hashable, Sendable {
    /// An answer to the command with this code. A status event is one without parameters.
    case answer(command: UInt16, status: ManagementStatus, parameters: [UInt8])
    /// The controller's hardware error; the kernel resets it by itself.
    case controllerError(UInt8)
    case indexAdded
    case indexRemoved
    case newSettings(AdapterSettings)
    /// - Parameter isOutgoing: this side asked for the connection.
    case deviceConnected(ManagementAddress, isOutgoing: Bool)
    /// - Parameter reason: 0 unknown, 1 timed out, 2 ended here, 3 ended by the peer, 4 no key, 5 suspended.
    case deviceDisconnected(ManagementAddress, reason: UInt8)
    case connectFailed(ManagementAddress, ManagementStatus)
    case pairingQuestion(PairingQuestion, ManagementAddress)
    case deviceFound(DeviceReport)
    case discovering(Bool)
    case advertisingAdded(UInt8)
    case advertisingRemoved(UInt8)

    /// What a peer that wants to pair makes the kernel ask.
    public enum PairingQuestion: Sendable { case pin, confirmation, passkey }

    public enum Parsed: Hashable, Sendable {
        case event(ManagementEvent, index: UInt16)
        /// Well formed, and of no concern here.
        case ignored(code: UInt16)
        case malformed
    }

    /// Reads one message of the socket. Bytes behind what is known of an event are left unread: newer kernels append.
    public static func parse(_ message: UnsafeRawBufferPointer) -> Parsed {
        var reader = ByteReader(message)
        guard let code = reader.readLittleEndian(UInt16.self), let index = reader.readLittleEndian(UInt16.self),
            let length = reader.readLittleEndian(UInt16.self), Int(length) == reader.remaining
        else { return .malformed }
        guard let kind = Kind(rawValue: code) else { return .ignored(code: code) }
        guard let event = read(kind, from: &reader) else { return .malformed }
        return .event(event, index: index)
    }

    private enum Kind: UInt16 {
        case commandComplete = 0x01
        case commandStatus = 0x02
        case controllerError = 0x03
        case indexAdded = 0x04
        case indexRemoved = 0x05
        case newSettings = 0x06
        case deviceConnected = 0x0b
        case deviceDisconnected = 0x0c
        case connectFailed = 0x0d
        case pinRequest = 0x0e
        case confirmationRequest = 0x0f
        case passkeyRequest = 0x10
        case deviceFound = 0x12
        case discovering = 0x13
        case advertisingAdded = 0x23
        case advertisingRemoved = 0x24
    }

    /// Flag of a connection event: initiated here.
    private static let initiatedHere: UInt32 = 1 << 3

    private static func read(_ kind: Kind, from reader: inout ByteReader) -> ManagementEvent? {
        switch kind {
        case .commandComplete, .commandStatus:
            guard let command = reader.readLittleEndian(UInt16.self), let status = reader.readUInt8(),
                let parameters = reader.readBytes(kind == .commandComplete ? reader.remaining : 0)
            else { return nil }
            return .answer(
                command: command, status: ManagementStatus(rawValue: status), parameters: parameters)
        case .controllerError: return reader.readUInt8().map { .controllerError($0) }
        case .indexAdded: return .indexAdded
        case .indexRemoved: return .indexRemoved
        case .newSettings:
            return reader.readLittleEndian(UInt32.self).map { .newSettings(AdapterSettings(rawValue: $0)) }
        case .deviceConnected:
            guard let address = ManagementAddress(&reader), let flags = reader.readLittleEndian(UInt32.self) else {
                return nil
            }
            return .deviceConnected(address, isOutgoing: flags & initiatedHere != 0)
        case .deviceDisconnected:
            guard let address = ManagementAddress(&reader), let reason = reader.readUInt8() else { return nil }
            return .deviceDisconnected(address, reason: reason)
        case .connectFailed:
            guard let address = ManagementAddress(&reader), let status = reader.readUInt8() else { return nil }
            return .connectFailed(address, ManagementStatus(rawValue: status))
        case .pinRequest: return ManagementAddress(&reader).map { .pairingQuestion(.pin, $0) }
        case .confirmationRequest: return ManagementAddress(&reader).map { .pairingQuestion(.confirmation, $0) }
        case .passkeyRequest: return ManagementAddress(&reader).map { .pairingQuestion(.passkey, $0) }
        case .deviceFound: return DeviceReport(&reader).map { .deviceFound($0) }
        case .discovering:
            guard reader.readUInt8() != nil, let isOn = reader.readUInt8() else { return nil }
            return .discovering(isOn != 0)
        case .advertisingAdded: return reader.readUInt8().map { .advertisingAdded($0) }
        case .advertisingRemoved: return reader.readUInt8().map { .advertisingRemoved($0) }
        }
    }
}

/// One advertiser heard during a discovery: its advertising data and scan response, joined by the kernel.
public struct DeviceReport: Hashable, Sendable {
    public let address: ManagementAddress
    /// dBm; nil when the controller does not know.
    public let rssi: Int8?
    public let isConnectable: Bool
    public let data: [UInt8]

    public init(address: ManagementAddress, rssi: Int8?, isConnectable: Bool = true, data: [UInt8]) {
        self.address = address
        self.rssi = rssi
        self.isConnectable = isConnectable
        self.data = data
    }

    private static let unknownSignal: Int8 = 127
    private static let notConnectable: UInt32 = 1 << 2

    init?(_ reader: inout ByteReader) {
        guard let address = ManagementAddress(&reader), let signal = reader.readUInt8(),
            let flags = reader.readLittleEndian(UInt32.self), let length = reader.readLittleEndian(UInt16.self),
            let data = reader.readBytes(Int(length))
        else { return nil }
        let rssi = Int8(bitPattern: signal)
        self.init(
            address: address, rssi: rssi == DeviceReport.unknownSignal ? nil : rssi,
            isConnectable: flags & DeviceReport.notConnectable == 0, data: data)
    }
}

/// The first byte of a PDU (Core Specification, Vol 3 Part F 3.4).
enum ATTOpcode: UInt8, CaseIterable {
    case errorResponse = 0x01
    case exchangeMTURequest = 0x02
    case exchangeMTUResponse = 0x03
    case findInformationRequest = 0x04
    case findInformationResponse = 0x05
    case findByTypeValueRequest = 0x06
    case findByTypeValueResponse = 0x07
    case readByTypeRequest = 0x08
    case readByTypeResponse = 0x09
    case readRequest = 0x0A
    case readResponse = 0x0B
    case readBlobRequest = 0x0C
    case readBlobResponse = 0x0D
    case readMultipleRequest = 0x0E
    case readMultipleResponse = 0x0F
    case readByGroupTypeRequest = 0x10
    case readByGroupTypeResponse = 0x11
    case writeRequest = 0x12
    case writeResponse = 0x13
    case prepareWriteRequest = 0x16
    case prepareWriteResponse = 0x17
    case executeWriteRequest = 0x18
    case executeWriteResponse = 0x19
    case notification = 0x1B
    case indication = 0x1D
    case confirmation = 0x1E
    case readMultipleVariableRequest = 0x20
    case readMultipleVariableResponse = 0x21
    case multipleNotification = 0x23
    case writeCommand = 0x52
    case signedWriteCommand = 0xD2

    /// Set in a command, which is never answered, not even when it is unknown.
    static let commandBit: UInt8 = 0x40

    /// Whether it is said by a server and so concerns our client.
    var isOfServer: Bool {
        switch self {
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
            .writeResponse, .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse, .notification,
            .indication, .multipleNotification:
            true
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest,
            .executeWriteRequest, .confirmation, .readMultipleVariableRequest, .writeCommand, .signedWriteCommand:
            false
        }
    }
}

/// The codes this server answers with (Core Specification, Vol 3 Part F 3.4.1.1). Those of security are not among them:
/// each would raise a pairing dialog on the phone (chapter 03 A13.2).
enum ATTErrorCode: UInt8 {
    case invalidHandle = 0x01
    case readNotPermitted = 0x02
    case writeNotPermitted = 0x03
    case invalidPDU = 0x04
    case requestNotSupported = 0x06
    case invalidOffset = 0x07
    case prepareQueueFull = 0x09
    case attributeNotFound = 0x0A
    case invalidValueLength = 0x0D
    case unsupportedGroupType = 0x10
}

/// A request that is answered with an error.
struct ATTRefusal: Error, Equatable {
    let code: ATTErrorCode
    /// The attribute the error is about, or 0.
    let handle: UInt16

    init(_ code: ATTErrorCode, _ handle: UInt16 = 0) {
        self.code = code
        self.handle = handle
    }

    func response(to opcode: UInt8) -> [UInt8] {
        var pdu: [UInt8] = [ATTOpcode.errorResponse.rawValue, opcode]
        pdu.append(littleEndian: handle)
        pdu.append(code.rawValue)
        return pdu
    }
}

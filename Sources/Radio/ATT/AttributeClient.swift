import Basics

/// The client half of a bearer (chapter 03 A13.5): exchanges the MTU, finds the mesh characteristic, subscribes once,
/// then writes. It reads no value and prepares no write, since Android never answers either (chapter 03 A12.3), and
/// touches no other service, since some of the phone's own would raise a pairing dialog.
struct AttributeClient {
    enum Event {
        case request([UInt8])
        case confirm([UInt8])
        case mtu(Int)
        /// The peer will not exchange the MTU.
        case mtuRefused
        /// The peer's service is being looked for again: what its stream left incomplete is void.
        case streamEnded
        /// Set up, for the first time or once more.
        case ready
        /// A notified value; valid during the call.
        case value(UnsafeRawBufferPointer)
        /// The write request under way is over.
        case written
        case dropped(BearerDrop)
        case failed(BearerFailure)
    }

    typealias Emit = (Event) -> Void

    private enum State: Equatable {
        case idle
        case exchangingMTU
        case findingService
        /// Declarations are read from `next` on.
        case findingCharacteristic(next: UInt16)
        /// Descriptors are read from `next` on.
        case findingDescriptor(next: UInt16)
        case subscribing
        case ready
    }

    private struct Characteristic {
        let valueHandle: UInt16
        let takesCommands: Bool
        var descriptor: UInt16?
    }

    private let wanted: BluetoothUUID
    private var state = State.idle
    /// The one request under way (Core Specification, Vol 3 Part F 3.3.2).
    private var outstanding: (opcode: ATTOpcode, deadline: Instant)?
    private var setUpDeadline: Instant?
    /// Whether discovery follows the MTU exchange.
    private var discovers = false
    private var service: ClosedRange<UInt16>?
    private var characteristic: Characteristic?
    /// The CCCD written on this connection. Android doubles every notification when it is written twice.
    private var subscribedDescriptor: UInt16?
    private var serviceChanges = ATTLimits.serviceChanges
    private var mustRediscover = false

    init(service: BluetoothUUID) { wanted = service }

    var isReady: Bool { state == .ready }
    /// Whether a frame may be written now.
    var canWrite: Bool { isReady && outstanding == nil }

    var nextDeadline: Instant? {
        guard let outstanding else { return setUpDeadline }
        return min(outstanding.deadline, setUpDeadline ?? outstanding.deadline)
    }

    // MARK: Beginning

    /// The whole set-up.
    mutating func setUp(at now: Instant, emit: Emit) {
        discovers = true
        setUpDeadline = now + ATTLimits.setUpTime
        exchangeMTU(at: now, emit: emit)
    }

    /// Only the MTU, on a connection that the peer opened.
    mutating func exchangeMTU(at now: Instant, emit: Emit) {
        guard state == .idle, outstanding == nil else { return }
        state = .exchangingMTU
        var request = [ATTOpcode.exchangeMTURequest.rawValue]
        request.append(littleEndian: UInt16(ATTLimits.ownMTU))
        send(request, at: now, emit: emit)
    }

    mutating func timeout(at now: Instant, emit: Emit) {
        if let setUpDeadline, setUpDeadline <= now { return fail(.setUpTimedOut, emit) }
        guard let outstanding, outstanding.deadline <= now else { return }
        guard !discovers else { return fail(.requestTimedOut, emit) }
        // A peer that connected to us and has no server does without.
        (state, self.outstanding) = (.idle, nil)
        emit(.mtuRefused)
    }

    // MARK: Writing

    /// The PDU that writes a frame; nil unless `canWrite`. A write request counts as sent.
    mutating func write(_ frame: [UInt8], at now: Instant) -> [UInt8]? {
        guard canWrite, let characteristic else { return nil }
        let opcode: ATTOpcode = characteristic.takesCommands ? .writeCommand : .writeRequest
        if opcode == .writeRequest { outstanding = (opcode, now + ATTLimits.requestTimeout) }
        return ATTValue.pdu(opcode, characteristic.valueHandle, frame)
    }

    // MARK: Receiving

    /// Takes one PDU that only a server sends.
    mutating func receive(_ opcode: ATTOpcode, _ pdu: UnsafeRawBufferPointer, at now: Instant, emit: Emit) {
        var reader = ByteReader(pdu)
        guard reader.skip(1), let body = reader.readView(reader.remaining) else {
            return emit(.dropped(.malformedPDU))
        }
        switch opcode {
        case .notification: notified(body, emit)
        case .indication: indicated(body, at: now, emit)
        case .multipleNotification: emit(.dropped(.unexpectedValue))
        case .errorResponse: refused(body, at: now, emit)
        default:
            guard let outstanding, opcode.rawValue == outstanding.opcode.rawValue + 1 else {
                return emit(.dropped(.unexpectedResponse))
            }
            self.outstanding = nil
            answered(body, at: now, emit)
        }
    }

    private func notified(_ body: UnsafeRawBufferPointer, _ emit: Emit) {
        var reader = ByteReader(body)
        guard let handle = reader.readLittleEndian(UInt16.self), let value = reader.readView(reader.remaining) else {
            return emit(.dropped(.malformedPDU))
        }
        // May overtake the response that confirms the subscription.
        guard handle == characteristic?.valueHandle, isReady || state == .subscribing else {
            return emit(.dropped(.unexpectedValue))
        }
        emit(.value(value))
    }

    /// Every indication is confirmed; the one of changed services means that ours must be found anew.
    private mutating func indicated(_ body: UnsafeRawBufferPointer, at now: Instant, _ emit: Emit) {
        var reader = ByteReader(body)
        guard let handle = reader.readLittleEndian(UInt16.self) else { return emit(.dropped(.malformedPDU)) }
        emit(.confirm([ATTOpcode.confirmation.rawValue]))
        guard handle != characteristic?.valueHandle, let start = reader.readLittleEndian(UInt16.self),
            let end = reader.readLittleEndian(UInt16.self), reader.isAtEnd, start > 0, start <= end
        else { return emit(.dropped(.unexpectedValue)) }
        // Before the service is found, nothing is known that could have changed.
        guard let service, service.overlaps(start...end), !mustRediscover else { return }
        guard serviceChanges.take(at: now) else { return emit(.dropped(.serviceChangeIgnored)) }
        guard outstanding == nil else {
            mustRediscover = true
            return
        }
        rediscover(at: now, emit)
    }

    private mutating func refused(_ body: UnsafeRawBufferPointer, at now: Instant, _ emit: Emit) {
        guard body.count == 4 else { return emit(.dropped(.malformedPDU)) }
        guard let outstanding, body[0] == outstanding.opcode.rawValue else {
            return emit(.dropped(.unexpectedResponse))
        }
        let isNotFound = body[3] == ATTErrorCode.attributeNotFound.rawValue
        self.outstanding = nil
        switch state {
        case .exchangingMTU:
            emit(.mtuRefused)
            afterMTU(at: now, emit)
        case .ready:
            emit(.dropped(.writeRefused))
            emit(.written)
            if mustRediscover { rediscover(at: now, emit) }
        case _ where mustRediscover: rediscover(at: now, emit)
        case .findingService: fail(isNotFound ? .serviceMissing : .refused, emit)
        case .findingCharacteristic: fail(isNotFound ? .characteristicMissing : .refused, emit)
        case .findingDescriptor: fail(isNotFound ? .descriptorMissing : .refused, emit)
        case .subscribing, .idle: fail(.refused, emit)
        }
    }

    private mutating func answered(_ body: UnsafeRawBufferPointer, at now: Instant, _ emit: Emit) {
        switch state {
        case .exchangingMTU:
            var reader = ByteReader(body)
            guard let mtu = reader.readLittleEndian(UInt16.self), reader.isAtEnd else {
                return fail(.malformedResponse, emit)
            }
            emit(.mtu(max(ATTLimits.smallestMTU, min(Int(mtu), ATTLimits.ownMTU))))
            afterMTU(at: now, emit)
        case .ready:
            emit(.written)
            if mustRediscover { rediscover(at: now, emit) }
        case .subscribing:
            subscribedDescriptor = characteristic?.descriptor
            mustRediscover ? rediscover(at: now, emit) : becomeReady(emit)
        case _ where mustRediscover: rediscover(at: now, emit)
        case .findingService:
            guard let found = DiscoveryResponse.service(body) else { return fail(.malformedResponse, emit) }
            service = found
            findCharacteristic(from: found.lowerBound, at: now, emit)
        case .findingCharacteristic(let next): foundDeclarations(body, from: next, at: now, emit)
        case .findingDescriptor(let next): foundDescriptors(body, from: next, at: now, emit)
        case .idle: break
        }
    }

    // MARK: Discovery

    private mutating func afterMTU(at now: Instant, _ emit: Emit) {
        if discovers { findService(at: now, emit) } else { state = .idle }
    }

    private mutating func rediscover(at now: Instant, _ emit: Emit) {
        setUpDeadline = now + ATTLimits.setUpTime
        emit(.streamEnded)
        findService(at: now, emit)
    }

    private mutating func findService(at now: Instant, _ emit: Emit) {
        state = .findingService
        mustRediscover = false
        (service, characteristic) = (nil, nil)
        var request = [ATTOpcode.findByTypeValueRequest.rawValue, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28]
        request += wanted.bytes
        send(request, at: now, emit: emit)
    }

    private mutating func findCharacteristic(from start: UInt16, at now: Instant, _ emit: Emit) {
        guard let service, start <= service.upperBound else { return fail(.characteristicMissing, emit) }
        state = .findingCharacteristic(next: start)
        var request = [ATTOpcode.readByTypeRequest.rawValue]
        request.append(littleEndian: start)
        request.append(littleEndian: service.upperBound)
        request += AttributeTable.AttributeType.characteristic.bytes
        send(request, at: now, emit: emit)
    }

    private mutating func foundDeclarations(
        _ body: UnsafeRawBufferPointer, from start: UInt16, at now: Instant, _ emit: Emit
    ) {
        guard let service, start <= service.upperBound,
            let declarations = DiscoveryResponse.declarations(body, in: start...service.upperBound),
            let last = declarations.last
        else { return fail(.malformedResponse, emit) }
        guard let found = declarations.first(where: { $0.uuid == .meshCharacteristic }) else {
            guard last.valueHandle < service.upperBound else { return fail(.characteristicMissing, emit) }
            return findCharacteristic(from: last.valueHandle + 1, at: now, emit)
        }
        guard found.properties.contains(.notify),
            !found.properties.isDisjoint(with: [.write, .writeWithoutResponse])
        else { return fail(.characteristicUnsuitable, emit) }
        characteristic = Characteristic(
            valueHandle: found.valueHandle, takesCommands: found.properties.contains(.writeWithoutResponse))
        guard found.valueHandle < service.upperBound else { return fail(.descriptorMissing, emit) }
        findDescriptor(from: found.valueHandle + 1, at: now, emit)
    }

    private mutating func findDescriptor(from start: UInt16, at now: Instant, _ emit: Emit) {
        guard let service, start <= service.upperBound else { return fail(.descriptorMissing, emit) }
        state = .findingDescriptor(next: start)
        var request = [ATTOpcode.findInformationRequest.rawValue]
        request.append(littleEndian: start)
        request.append(littleEndian: service.upperBound)
        send(request, at: now, emit: emit)
    }

    private mutating func foundDescriptors(
        _ body: UnsafeRawBufferPointer, from start: UInt16, at now: Instant, _ emit: Emit
    ) {
        guard let service, start <= service.upperBound,
            let types = DiscoveryResponse.types(body, in: start...service.upperBound), let last = types.last
        else { return fail(.malformedResponse, emit) }
        for (handle, type) in types {
            // The next characteristic begins: what follows is not ours.
            if type == AttributeTable.AttributeType.characteristic { return fail(.descriptorMissing, emit) }
            if type == AttributeTable.AttributeType.configuration { return subscribe(handle, at: now, emit) }
        }
        guard last.handle < service.upperBound else { return fail(.descriptorMissing, emit) }
        findDescriptor(from: last.handle + 1, at: now, emit)
    }

    private mutating func subscribe(_ descriptor: UInt16, at now: Instant, _ emit: Emit) {
        characteristic?.descriptor = descriptor
        guard descriptor != subscribedDescriptor else { return becomeReady(emit) }
        state = .subscribing
        send(ATTValue.pdu(.writeRequest, descriptor, [0x01, 0x00]), at: now, emit: emit)
    }

    private mutating func becomeReady(_ emit: Emit) {
        state = .ready
        setUpDeadline = nil
        emit(.ready)
    }

    private mutating func send(_ request: [UInt8], at now: Instant, emit: Emit) {
        guard let opcode = request.first.flatMap(ATTOpcode.init) else { return }
        outstanding = (opcode, now + ATTLimits.requestTimeout)
        emit(.request(request))
    }

    private mutating func fail(_ failure: BearerFailure, _ emit: Emit) {
        (state, outstanding, setUpDeadline) = (.idle, nil, nil)
        // An application that is being restarted takes its service away and offers it again.
        emit(.failed(failure.isLasting && subscribedDescriptor != nil ? .serviceGone : failure))
    }
}

/// The PDUs that carry a value under a handle.
enum ATTValue {
    static func pdu(_ opcode: ATTOpcode, _ handle: UInt16, _ value: [UInt8]) -> [UInt8] {
        var pdu: [UInt8] = []
        pdu.reserveCapacity(3 + value.count)
        pdu.append(opcode.rawValue)
        pdu.append(littleEndian: handle)
        pdu += value
        return pdu
    }
}

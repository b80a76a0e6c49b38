import Basics
import Radio
import Wire

extension FuzzTarget {
    static let radio = [
        FuzzTarget("att", checkBearer), FuzzTarget("advertising", checkAdvertising),
        FuzzTarget("management", checkManagement),
    ]

    /// A kernel that says what it likes, as an event and as an answer.
    private static func checkManagement(_ buffer: UnsafeRawBufferPointer) {
        if case .event(let event, _) = ManagementEvent.parse(buffer) {
            require(buffer.count >= 6, "an event has a header")
            if case .deviceFound(let report) = event {
                require(report.data.count <= buffer.count - 20, "a report has the data it came with")
                report.data.withUnsafeBytes { _ = AdvertisingData(parsing: $0) }
            }
            if case .answer(_, _, let parameters) = event { checkAnswers(parameters) }
        }
        checkAnswers([UInt8](buffer))
    }

    private static func checkAnswers(_ bytes: [UInt8]) {
        if let list = ControllerList(parsing: bytes) { require(list.indexes.count <= 256, "the list is bounded") }
        if let list = ConnectionList(parsing: bytes) { require(list.addresses.count <= 256, "the list is bounded") }
        if let features = AdvertisingFeatures(parsing: bytes) {
            require(features.instances.count <= bytes.count - 8, "as many instances as there are bytes")
        }
        _ = ControllerInformation(parsing: bytes)
        _ = ManagementCommandList(parsing: bytes)
        _ = ManagementVersion(parsing: bytes)
    }

    /// A peer that sends what it likes, when it likes, to either role.
    private static func checkBearer(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        var watch = BearerWatch(role: input.byte() & 1 == 0 ? .incoming : .outgoing)
        while !input.isAtEnd {
            switch input.byte() & 7 {
            case 0: watch.pass(.milliseconds(Int(input.short())))
            case 1: watch.send(length: Int(input.short() & 0x3ff))
            default: watch.receive(input.bytes(Int(input.short() & 0x3ff)))
            }
        }
    }

    private static func checkAdvertising(_ buffer: UnsafeRawBufferPointer) {
        let data = AdvertisingData(parsing: buffer)
        let own = BluetoothUUID.meshService.longBytes
        if data.offersMesh {
            let bytes = [UInt8](buffer)
            require(
                bytes.indices.contains { bytes[$0...].starts(with: own) }, "only who names the service offers it")
        }
        require(data.peerHint == nil || data.offersMesh, "a hint comes with the service")
        (AdvertisingData.advertisement() + buffer).withUnsafeBytes {
            require(AdvertisingData(parsing: $0).offersMesh, "what follows hides no advertisement")
        }
    }
}

/// Holds a bearer to what `BearerEffect` promises.
private struct BearerWatch {
    private let bearer: AttributeBearer
    private var now = Instant.zero
    private var isUp = false
    private var isOver = false
    private var limit = 0

    init(role: LinkRole) {
        bearer = AttributeBearer(role: role)
        bearer.start(at: now)
        drain(after: nil)
    }

    mutating func receive(_ pdu: UnsafeRawBufferPointer) {
        bearer.receive(pdu, at: now)
        drain(after: pdu)
    }

    mutating func pass(_ span: Interval) {
        let end = now + span
        var rounds = 0
        while let due = bearer.nextDeadline, due <= end {
            now = max(now, due)
            bearer.timeout(at: now)
            drain(after: nil)
            rounds += 1
            require(rounds < 100, "time passes")
        }
        now = end
    }

    func send(length: Int) {
        let fit = bearer.fit(length)
        let pdu = bearer.pdu(for: Array(repeating: 0, count: length), at: now)
        require((fit == .ready) == (pdu != nil), "what fits is sent, and nothing else")
        if let pdu { require(pdu.count == length + 3 && pdu.count <= bearer.mtu, "a PDU keeps to the MTU, uncut") }
        if let pdu { require([0x12, 0x1B, 0x52].contains(pdu[0]), "a frame is a value") }
    }

    private mutating func drain(after pdu: UnsafeRawBufferPointer?) {
        var responses = 0
        var requests = 0
        while let effect = bearer.nextEffect() {
            require(!isOver, "nothing follows a failure")
            switch effect {
            case .transmitResponse(let response):
                responses += 1
                check(response, to: pdu)
            case .transmitRequest(let request):
                requests += 1
                require([0x02, 0x04, 0x06, 0x08, 0x12].contains(request[0]), "only what every phone answers")
                require(request.count <= 23, "a request fits any MTU")
            case .up(let frameLimit):
                require(!isUp, "up once")
                (isUp, limit) = (true, frameLimit)
            case .down:
                require(isUp, "down after up")
                isUp = false
            case .frameLimitChanged(let frameLimit):
                require(isUp && frameLimit != limit, "a change is one")
                limit = frameLimit
            case .frame(let frame):
                require(isUp, "frames come from a link that is up")
                guard case .success(let layout) = frame.withUnsafeBytes({ FrameLayout.parse($0) }) else {
                    return require(false, "a frame parses")
                }
                require(layout.length == frame.count, "a frame ends where it says")
            case .readyForFrames: require(isUp, "frames wait for a link that is up")
            case .fail: isOver = true
            }
        }
        require(responses <= 1 && requests <= 1, "one thing at a time")
        require(isOver || isUp == bearer.isUp, "the state is the one told")
        require(!isUp || isOver || limit == bearer.frameLimit, "the limit is the one told")
        require((23...517).contains(bearer.mtu) && bearer.frameLimit <= 512, "the MTU keeps its bounds")
    }

    private func check(_ response: [UInt8], to pdu: UnsafeRawBufferPointer?) {
        guard let asked = pdu?.first else { return require(false, "only what was asked is answered") }
        require(response.count <= 517 && !response.isEmpty, "an answer keeps to the MTU")
        if response[0] == 0x01 {
            require(response.count == 5 && response[1] == asked, "an error names what it refuses")
            require(![0x05, 0x08, 0x0C, 0x0F].contains(response[4]), "nothing asks for pairing")
        } else {
            require(response[0] == asked + 1, "an answer belongs to its question")
        }
    }
}

import Basics
import EventLoop
import Glibc
import Wire

/// Why a connection is over.
enum LinkEnd: Equatable {
    /// The attempt did not become a connection.
    case notConnected(errno: Int32)
    case timedOut
    /// The neighbour or the controller ended it, or the neighbour walked away.
    case lost
    case failed(BearerFailure)
    /// The socket refuses to take a PDU, however large its buffer, or however long it waits.
    case stuck
}

/// What a `BluetoothLink` tells the radio that holds it. Calls come from the event loop only, never from inside `send`.
protocol BluetoothLinkOwner: AnyObject {
    /// An outgoing attempt has become a connection; it is set up next.
    func linkConnected(_ link: BluetoothLink)
    /// It can carry frames; its ID is a new one.
    func linkIsUp(_ link: BluetoothLink, id: LinkID)
    func link(_ link: BluetoothLink, id: LinkID, changedTo frameLimit: Int)
    func link(_ link: BluetoothLink, id: LinkID, received frame: UnsafeRawBufferPointer)
    /// It carries no more frames, while the connection stays.
    func linkIsDown(_ link: BluetoothLink, id: LinkID)
    func link(_ link: BluetoothLink, counted event: BluetoothEvent, _ count: Int)
    /// It still holds its socket, which the owner closes. Comes once, and not after `close`.
    func linkEnded(_ link: BluetoothLink, _ end: LinkEnd)
}

/// One connection to one neighbour, from connect or accept to close: its socket, its ATT bearer and what waits to be
/// sent.
final class BluetoothLink {
    let role: LinkRole
    let address: BluetoothAddress
    let adapter: UInt16
    let opened: Instant
    /// The link as the mesh knows it; nil while the connection carries no frames.
    private(set) var id: LinkID?
    private(set) var since: Instant?
    private(set) var isConnected: Bool
    private(set) var lastReceived: Instant?
    private(set) var lastSent: Instant?
    private(set) var queue = OutboundQueue()
    /// Since when nobody is known to be at its far end; kept by the radio.
    var unboundSince: Instant?

    private let loop: any EventLoop
    private let socket: any AttributeSocket
    private let bearer: AttributeBearer
    private let linkIDs: LinkIDSource
    private weak var owner: (any BluetoothLinkOwner)?
    private var isOpen = true
    private var isEnding = false
    /// The socket has reported its error.
    private var hasFailed = false
    private var reading: (any Cancellable)?
    private var writing: (any Cancellable)?
    private var timer: (any Cancellable)?
    private var armed: Instant?

    /// PDUs that go first: an answer the peer waits for, a question of ours, a frame already made into a PDU.
    private var response: [UInt8]?
    private var request: [UInt8]?
    private var data: [UInt8]?
    private var sendBuffer = BluetoothLimits.sendBuffer
    private var fruitlessWakeUps = 0
    /// Since when the socket takes nothing.
    private var blockedSince: Instant?

    init(
        role: LinkRole, address: BluetoothAddress, adapter: UInt16, socket: any AttributeSocket,
        service: BluetoothUUID, linkIDs: LinkIDSource, loop: any EventLoop, owner: any BluetoothLinkOwner
    ) {
        self.role = role
        self.address = address
        self.adapter = adapter
        self.socket = socket
        self.linkIDs = linkIDs
        self.loop = loop
        self.owner = owner
        opened = loop.now.monotonic
        isConnected = role == .incoming
        bearer = AttributeBearer(role: role, service: service)
    }

    deinit { close() }

    var frameLimit: Int { bearer.frameLimit }
    var bearerDrops: Tally<BearerDrop> { bearer.counters }

    func open() {
        socket.setSendBuffer(sendBuffer)
        guard role == .outgoing else { return begin() }
        writing = socket.watch(.write) { [weak self] in self?.decided() }
        timer = loop.schedule(after: BluetoothLimits.connectTimeout) { [weak self] in self?.end(.timedOut) }
    }

    /// Closes without a call to the owner; what is queued is discarded.
    func close() {
        isOpen = false
        reading?.cancel()
        writing?.cancel()
        timer?.cancel()
        (reading, writing, timer) = (nil, nil, nil)
        queue.removeAll()
        socket.close()
    }

    func send(_ frame: [UInt8], priority: WritePriority) {
        guard isOpen, id != nil else { return }
        switch bearer.fit(frame.count) {
        case .tooLong: return count(.frameTooLong)
        case .nobodyListens: return count(.nobodyListens)
        case .ready, .wait: break
        }
        let dropped = queue.insert(frame, priority: priority)
        if dropped > 0 { count(.queueOverflow, dropped) }
        if writing == nil { flush() }
    }

    /// The controller says that its connection is over: it is, once the socket says so too. A new connection of the
    /// same neighbour may have come first.
    func check() {
        guard isOpen, isConnected else { return }
        readMessages(limit: BluetoothLimits.drainBatch)
    }

    /// Whether it has taken nothing for too long.
    func isStalled(at now: Instant) -> Bool { blockedSince.map { now - $0 >= BluetoothLimits.stalled } ?? false }

    /// Ends it for that.
    func giveUp() { end(.stuck) }

    // MARK: Life

    private func decided() {
        stopWriting()
        if let error = socket.takeError() { return end(.notConnected(errno: error.code)) }
        isConnected = true
        timer?.cancel()
        timer = nil
        owner?.linkConnected(self)
        if isOpen { begin() }
    }

    private func begin() {
        unboundSince = loop.now.monotonic
        startReading()
        bearer.start(at: loop.now.monotonic)
        carryOut()
    }

    private func end(_ end: LinkEnd) {
        guard isOpen, !isEnding else { return }
        isEnding = true
        queue.removeAll()
        if let id {
            self.id = nil
            owner?.linkIsDown(self, id: id)
        }
        owner?.linkEnded(self, end)
    }

    /// Ends from the loop, after the frames that already wait in the socket.
    private func endLater(_ end: LinkEnd) {
        loop.enqueue { [weak self] in
            guard let self, self.isOpen else { return }
            self.readMessages(limit: BluetoothLimits.drainBatch)
            self.end(end)
        }
    }

    private func count(_ event: BluetoothEvent, _ count: Int = 1) { owner?.link(self, counted: event, count) }

    private func armTimer() {
        guard isOpen, isConnected, bearer.nextDeadline != armed else { return }
        timer?.cancel()
        armed = bearer.nextDeadline
        timer = armed.map { due in
            loop.schedule(after: due - loop.now.monotonic) { [weak self] in
                guard let self, self.isOpen else { return }
                self.armed = nil
                self.bearer.timeout(at: self.loop.now.monotonic)
                self.carryOut()
            }
        }
    }

    /// Carries out what the bearer asks for.
    private func carryOut() {
        while isOpen, !isEnding, let effect = bearer.nextEffect() {
            switch effect {
            case .transmitResponse(let pdu):
                response = pdu
                // Room for it will be reported; until then its peer's next question would wake us for nothing.
                if writing != nil { stopReading() }
            case .transmitRequest(let pdu): request = pdu
            case .up:
                let id = linkIDs.next()
                self.id = id
                since = loop.now.monotonic
                owner?.linkIsUp(self, id: id)
            case .frameLimitChanged(let limit):
                dropOversize()
                if let id { owner?.link(self, id: id, changedTo: limit) }
            case .frame(let frame):
                lastReceived = loop.now.monotonic
                if let id { frame.withUnsafeBytes { owner?.link(self, id: id, received: $0) } }
            case .readyForFrames: break
            case .down:
                queue.removeAll()
                if let id {
                    self.id = nil
                    since = nil
                    owner?.linkIsDown(self, id: id)
                }
            case .fail(let failure): end(.failed(failure))
            }
        }
        guard isOpen, !isEnding else { return }
        if writing == nil { flush() }
        armTimer()
    }

    // MARK: Sending

    /// One PDU a message, whole or not at all. What does not fit waits for the socket, ahead of everything later.
    private func flush() {
        while let pdu = nextPDU() {
            switch pdu.withUnsafeBytes({ socket.send($0) }) {
            case .bytes:
                sent()
            case .wouldBlock:
                return waitForRoom()
            case .end, .failed:
                stopWriting()
                queue.removeAll()
                (response, request, data) = (nil, nil, nil)
                return endLater(.lost)
            }
        }
        stopWriting()
    }

    private func nextPDU() -> [UInt8]? {
        if let first = response ?? request ?? data { return first }
        while let frame = queue.head {
            switch bearer.fit(frame.count) {
            case .wait: return nil
            case .ready:
                queue.removeHead()
                data = bearer.pdu(for: frame, at: loop.now.monotonic)
                if let data { return data }
            case .tooLong:
                queue.removeHead()
                count(.frameTooLong)
            case .nobodyListens:
                queue.removeHead()
                count(.nobodyListens)
            }
        }
        return nil
    }

    /// A frame that waited as a PDU while the MTU shrank is more than its peer takes now. Only a write request goes all
    /// the same, since its answer is waited for.
    private func dropOversize() {
        guard let waiting = data, waiting.count > bearer.mtu, waiting.first != ATTOpcode.writeRequest.rawValue else {
            return
        }
        data = nil
        count(.frameTooLong)
    }

    private func sent() {
        fruitlessWakeUps = 0
        blockedSince = nil
        if response != nil {
            response = nil
            if reading == nil { startReading() }
        } else if request != nil {
            request = nil
        } else {
            data = nil
            lastSent = loop.now.monotonic
        }
        armTimer()
    }

    private func waitForRoom() {
        // A peer that does not take its answer asks no further questions.
        if response != nil { stopReading() }
        blockedSince = blockedSince ?? loop.now.monotonic
        if writing == nil { writing = socket.watch(.write) { [weak self] in self?.roomReported() } }
    }

    /// Some controllers take a PDU in so many pieces that a small buffer never holds one, while the kernel calls the
    /// socket writable.
    private func roomReported() {
        fruitlessWakeUps += 1
        if fruitlessWakeUps > BluetoothLimits.fruitlessWakeUps {
            fruitlessWakeUps = 0
            guard sendBuffer < BluetoothLimits.largestSendBuffer else {
                stopWriting()
                return end(.stuck)
            }
            sendBuffer *= 2
            socket.setSendBuffer(sendBuffer)
        }
        flush()
    }

    private func stopWriting() {
        writing?.cancel()
        writing = nil
    }

    // MARK: Receiving

    private func startReading() {
        reading = socket.watch(.read) { [weak self] in self?.readMessages(limit: BluetoothLimits.readBatch) }
    }

    private func stopReading() {
        reading?.cancel()
        reading = nil
    }

    private func readMessages(limit: Int) {
        withUnsafeTemporaryAllocation(byteCount: BluetoothLimits.longestPDU, alignment: 1) { buffer in
            var left = limit
            while left > 0, isOpen, !isEnding, response == nil {
                left -= 1
                switch socket.receive(into: buffer) {
                case .length(let length):
                    let whole = buffer.prefix(min(length, buffer.count))
                    if length > bearer.mtu { count(.beyondMTU) }
                    bearer.receive(UnsafeRawBufferPointer(rebasing: whole), at: loop.now.monotonic)
                    carryOut()
                case .empty: break
                case .wouldBlock:
                    if hasFailed { end(.lost) }
                    return
                case .failed where !hasFailed:
                    // Reported once, before what came in until then; after that the kernel has nothing more to say.
                    hasFailed = true
                case .end, .failed: return end(.lost)
                }
            }
        }
    }
}

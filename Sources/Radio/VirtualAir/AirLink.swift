import Basics
import EventLoop
import Glibc
import Wire

/// What an `AirLink` tells the air that holds it. Calls come from the event loop only, never from inside `send`.
protocol AirLinkOwner: AnyObject {
    /// Whether a link to the neighbour that greets under this name may come up.
    func link(_ link: AirLink, mayGreet name: AirName) -> Bool
    /// Both greetings are exchanged.
    func linkIsUp(_ link: AirLink)
    func link(_ link: AirLink, received frame: UnsafeRawBufferPointer)
    func link(_ link: AirLink, dropped drop: AirDrop, count: Int)
    /// The link is closed. Comes once, and not after `close`.
    func linkEnded(_ link: AirLink, timedOut: Bool)
}

/// One SEQPACKET connection of the virtual air, from connect or accept to close.
final class AirLink {
    let id: LinkID
    let role: LinkRole
    /// The socket file we connected to; for an incoming link known from the greeting.
    private(set) var remote: AirName?
    /// Nil until both greetings are exchanged.
    private(set) var since: Instant?
    private(set) var frameLimit = 0
    private(set) var lastReceived: Instant?
    private(set) var lastSent: Instant?
    private(set) var queue = OutboundQueue()

    private let loop: any EventLoop
    private let socket: FileDescriptor
    private let ownHello: AirHello
    private weak var owner: (any AirLinkOwner)?
    private var reading: (any Cancellable)?
    private var writing: (any Cancellable)?
    private var helloTimer: (any Cancellable)?
    private var line: ImpairedLine?
    /// Only iOS's notification side can join a frame from several values; written values are frames (chapter 03 A8).
    private var notifications = NotificationAssembler()
    private let impairment: Impairment

    /// Takes over a connected socket. A central passes the name it dialled and greets at once.
    init(
        id: LinkID, role: LinkRole, remote: AirName?, socket: FileDescriptor, hello: AirHello, impairment: Impairment,
        loop: any EventLoop, owner: any AirLinkOwner
    ) {
        self.id = id
        self.role = role
        self.remote = remote
        self.socket = socket
        self.ownHello = hello
        self.impairment = impairment
        self.loop = loop
        self.owner = owner
    }

    deinit { close() }

    var isUp: Bool { since != nil && socket.isOpen }

    func open() {
        // A refused option only makes priorities decide earlier.
        try? socket.setSendBuffer(RadioLimits.sendBuffer)
        startReading()
        helloTimer = loop.schedule(after: RadioLimits.helloTimeout) { [weak self] in
            guard let self, self.socket.isOpen else { return }
            self.drop(.helloTimeout)
            self.end(timedOut: true)
        }
        if role == .outgoing, !transmitHello() { endLater() }
    }

    /// Closes without a call to the owner; what is queued is discarded.
    func close() {
        reading?.cancel()
        writing?.cancel()
        helloTimer?.cancel()
        line?.clear()
        (reading, writing, helloTimer, line) = (nil, nil, nil, nil)
        queue.removeAll()
        socket.close()
    }

    func send(_ frame: [UInt8], priority: WritePriority) {
        guard isUp else { return }
        guard (1...frameLimit).contains(frame.count) else { return drop(.frameTooLong) }
        let dropped = queue.insert(frame, priority: priority)
        if dropped > 0 { drop(.queueOverflow, dropped) }
        if writing == nil { flush() }
    }

    // MARK: Sending

    private func transmitHello() -> Bool {
        ownHello.bytes.withUnsafeBytes { socket.send($0) } == .bytes(ownHello.bytes.count)
    }

    /// One message a frame, whole or not at all; a frame that does not fit stays at the head until the socket is
    /// writable.
    private func flush() {
        while let frame = queue.head {
            switch frame.withUnsafeBytes({ socket.send($0) }) {
            case .bytes:
                queue.removeHead()
                lastSent = loop.now.monotonic
            case .wouldBlock:
                if writing == nil {
                    writing = loop.watch(socket.raw, .write) { [weak self] _ in self?.flush() }
                }
                return
            case .end, .failed:
                queue.removeAll()
                stopWriting()
                return endLater()
            }
        }
        stopWriting()
    }

    private func stopWriting() {
        writing?.cancel()
        writing = nil
    }

    /// Ends the link from the loop, after the frames that already wait in the socket.
    private func endLater() {
        loop.enqueue { [weak self] in
            guard let self, self.socket.isOpen else { return }
            self.readMessages()
            self.end()
        }
    }

    private func end(timedOut: Bool = false) {
        guard socket.isOpen else { return }
        close()
        owner?.linkEnded(self, timedOut: timedOut)
    }

    private func drop(_ drop: AirDrop, _ count: Int = 1) { owner?.link(self, dropped: drop, count: count) }

    // MARK: Receiving

    private func startReading() {
        reading = loop.watch(socket.raw, .read) { [weak self] _ in self?.readMessages() }
    }

    private func readMessages() {
        withUnsafeTemporaryAllocation(byteCount: RadioLimits.longestValue, alignment: 1) { buffer in
            for _ in 0..<RadioLimits.readBatch where socket.isOpen {
                switch socket.receiveMessage(into: buffer) {
                case .length(let length):
                    received(UnsafeRawBufferPointer(rebasing: buffer.prefix(length)), fullLength: length)
                case .empty: received(UnsafeRawBufferPointer(rebasing: buffer.prefix(0)), fullLength: 0)
                case .wouldBlock: return
                case .failed(let error) where error.code == ECONNRESET:
                    // Reported once when the neighbour closed with our messages unread; its own still wait.
                    continue
                case .end, .failed: return end()
                }
                if let line, line.count >= RadioLimits.delayedValues { return pauseReading() }
            }
        }
    }

    private func received(_ message: UnsafeRawBufferPointer, fullLength: Int) {
        guard since != nil else { return greeted(message, fullLength: fullLength) }
        guard fullLength > 0 else { return drop(.valueEmpty) }
        guard fullLength <= frameLimit else { return drop(.valueTooLong) }
        guard let line else { return deliver(message) }
        if line.offer(message) == .lost { drop(.impairedLoss) }
    }

    private func greeted(_ message: UnsafeRawBufferPointer, fullLength: Int) {
        guard fullLength == message.count, let hello = AirHello(parsing: message),
            remote == nil || remote == hello.name
        else {
            drop(.badHello)
            return end()
        }
        remote = hello.name
        frameLimit = RadioLimits.frameLimit(mtu: min(hello.mtu, ownHello.mtu))
        guard owner?.link(self, mayGreet: hello.name) == true, role == .outgoing || transmitHello() else {
            return end()
        }
        helloTimer?.cancel()
        helloTimer = nil
        since = loop.now.monotonic
        if !impairment.isNone {
            line = ImpairedLine(loop: loop, impairment: impairment, stream: id.value) { [weak self] in
                self?.deliver($0)
                self?.resumeReading()
            }
        }
        owner?.linkIsUp(self)
    }

    private func deliver(_ value: UnsafeRawBufferPointer) {
        let now = loop.now.monotonic
        lastReceived = now
        guard role == .outgoing else {
            owner?.link(self, received: value)
            return
        }
        let damage = notifications.damage.total
        notifications.receive(value, at: now) { frame in
            if socket.isOpen { owner?.link(self, received: frame) }
        }
        let more = notifications.damage.total - damage
        if more > 0 { drop(.undecodableStream, Int(more)) }
    }

    private func pauseReading() {
        reading?.cancel()
        reading = nil
    }

    private func resumeReading() {
        if reading == nil, socket.isOpen { startReading() }
    }
}

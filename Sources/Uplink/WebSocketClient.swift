import Basics
import EventLoop

/// Calls arrive from the event loop, never from inside a call to the socket.
public protocol WebSocketDelegate: AnyObject {
    func webSocketOpened(_ socket: WebSocketClient)
    /// What the server's answer to the upgrade says the time is; before the call it leads to, if it says so at all.
    func webSocket(_ socket: WebSocketClient, received date: ServerDate)
    func webSocket(_ socket: WebSocketClient, received message: WebSocketMessage)
    func webSocket(_ socket: WebSocketClient, receivedPong payload: [UInt8])
    /// After a refused send: there is room in the queue again.
    func webSocketMaySendAgain(_ socket: WebSocketClient)
    /// The last call. The socket cannot be used again.
    func webSocket(_ socket: WebSocketClient, closed reason: WebSocketCloseReason)
}

extension WebSocketDelegate {
    public func webSocket(_ socket: WebSocketClient, received date: ServerDate) {}
}

public enum WebSocketMessage: Equatable, Sendable {
    /// Valid UTF-8.
    case text([UInt8])
    case binary([UInt8])
}

/// One WebSocket connection to a server, RFC 6455 client side (chapter 05 §6.10). Used once: dial, talk, close.
///
/// Releasing it closes the connection without a further call.
public final class WebSocketClient {
    public weak var delegate: (any WebSocketDelegate)?
    public let address: WebSocketAddress

    private enum State: Equatable {
        case idle
        case connecting
        /// The transport is there; the HTTP exchange runs.
        case upgrading
        case open
        /// A close frame is queued or sent; waiting for the other one.
        case closing
        /// We reported a violation. Whatever the server still sends is discarded until it hangs up, because closing
        /// with unread bytes would reset the connection under our close frame.
        case lingering
        case closed
    }

    private let loop: any EventLoop
    private let dialer: any StreamDialer
    private let isolation: StreamIsolation
    private var random: any RandomNumberGenerator
    private let keepAlive: WebSocketKeepAlive?
    private var state = State.idle
    private var stream: (any ByteStream)?
    private var handshake: UpgradeHandshake?
    /// When the upgrade was asked for.
    private var asked = Instant.zero
    private var framing: WebSocketFraming?
    private var silence: SilenceWatch?
    private var deadline: (any Cancellable)?

    private var input = InputBuffer()
    /// What arrived and was not delivered yet: at most one large message, or a few kilobytes of small ones.
    private var inbox: [WebSocketFraming.Event] = []
    /// Bytes the framing may still take in this turn.
    private var turnBudget = 0
    /// Messages and other events that may still be delivered in this turn.
    private var turnEvents = 0
    private var pumpIsQueued = false
    private var isReadingPaused = false
    private var sendWasRefused = false
    /// Our close frame until the messages queued before it are sent; the framing would let it overtake them.
    private var closeFrame: (code: UInt16, text: String)?
    private var serverClosed = false
    /// What `closed` will say.
    private var reason: WebSocketCloseReason?
    /// The transport has ended or broken: acted on once everything received is delivered.
    private var loss: String?
    private var isInputEnded = false

    /// - Parameters:
    ///   - isolation: of the circuit through Tor.
    ///   - random: makes the handshake key and the frame masks; the system's generator outside tests.
    ///   - keepAlive: nil for none.
    public init(
        loop: any EventLoop, address: WebSocketAddress, dialer: any StreamDialer, isolation: StreamIsolation,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        keepAlive: WebSocketKeepAlive? = WebSocketKeepAlive()
    ) {
        self.loop = loop
        self.address = address
        self.dialer = dialer
        self.isolation = isolation
        self.random = random
        self.keepAlive = keepAlive
    }

    deinit { release() }

    // MARK: Commands

    /// Bytes of messages not yet handed to the transport.
    public var queuedBytes: Int { framing?.queuedBytes ?? 0 }

    /// Dials. `webSocketOpened` or `closed` follows: the streams that lead to the server bound their parts, and there
    /// is a limit for all of it and one for the upgrade.
    public func open() {
        guard state == .idle else { return }
        state = .connecting
        arm(UplinkLimits.connectTimeout, "no connection")
        do {
            let stream = try dialer.makeStream(to: address, isolation: isolation)
            self.stream = stream
            stream.delegate = self
            stream.open()
        } catch {
            finishLater(WebSocketCloseReason(error))
        }
    }

    /// Queues a text message.
    /// - Returns: false when the socket is not open, when the message alone exceeds the queue's 1 MiB, or when it does
    ///   not fit into what is left of 1 MiB and 512 messages; only then `webSocketMaySendAgain` follows.
    @discardableResult
    public func send(text: [UInt8]) -> Bool { send(.text, text) }

    /// Queues a ping, ahead of messages. False when the socket is not open or the payload exceeds 125 bytes.
    @discardableResult
    public func ping(_ payload: [UInt8] = []) -> Bool {
        payload.count <= UplinkLimits.controlPayloadBytes && send(.ping, payload)
    }

    /// Starts the closing handshake, or gives up an attempt to connect. `closed` follows within 5 seconds.
    public func close(code: UInt16 = 1_000, text: String = "") {
        switch state {
        case .idle, .closed, .closing, .lingering: return
        case .connecting, .upgrading: finishLater(.closedByUs)
        case .open:
            closeFrame = (code, text)
            beginEnding(.closing, .closedByUs)
            pumpLater()
        }
    }

    /// Delivers no further message until `resumeReading`; TCP holds the server up. Pongs wait too, and the keep-alive
    /// rests.
    public func pauseReading() {
        isReadingPaused = true
        silence?.isResting = true
    }

    public func resumeReading() {
        isReadingPaused = false
        silence?.isResting = false
        pumpLater()
    }

    private func send(_ kind: WebSocketFraming.Kind, _ bytes: [UInt8]) -> Bool {
        guard state == .open, let framing, bytes.count <= UplinkLimits.sendQueueBytes else { return false }
        guard framing.queuedBytes + bytes.count <= UplinkLimits.sendQueueBytes,
            framing.queuedMessages < UplinkLimits.sendQueueMessages, framing.queue(kind, bytes)
        else {
            sendWasRefused = true
            return false
        }
        framing.flush()
        updateInterest()
        return true
    }

    // MARK: Ending

    private func beginEnding(_ next: State, _ reason: WebSocketCloseReason) {
        state = next
        self.reason = reason
        silence = nil
        deadline?.cancel()
        deadline = loop.schedule(after: UplinkLimits.closeTimeout) { [weak self] in
            if let self { self.finish(self.reason ?? reason) }
        }
    }

    private func finishLater(_ reason: WebSocketCloseReason) {
        loop.enqueue { [weak self] in self?.finish(reason) }
    }

    private func finish(_ reason: WebSocketCloseReason) {
        guard state != .closed else { return }
        release()
        delegate?.webSocket(self, closed: reason)
    }

    private func release() {
        state = .closed
        deadline?.cancel()
        deadline = nil
        stream?.delegate = nil
        stream?.close()
        (stream, handshake, framing, silence) = (nil, nil, nil, nil)
        inbox.removeAll()
    }

    private func arm(_ limit: Interval, _ lacking: String) {
        deadline?.cancel()
        deadline = loop.schedule(after: limit) { [weak self] in
            self?.finish(.openTimedOut("\(lacking) within \(limit.milliseconds / 1_000) s"))
        }
    }

    // MARK: Upgrade

    private func upgrade() {
        while let unsent = handshake?.unsent {
            if !unsent.isEmpty, let count = unsent.withUnsafeBytes({ write($0) }) {
                handshake?.sent(count)
                continue
            }
            guard fillInput(), let outcome = handshake?.receive(input.takeAll()) else { break }
            if outcome != .incomplete { reportDate() }
            guard state == .upgrading else { return }
            switch outcome {
            case .incomplete: continue
            case .failed(let reason): return finish(reason)
            case .upgraded(let surplus):
                input.putBack(surplus)
                return opened()
            }
        }
        if let loss { return finish(.connectionLost(loss)) }
        updateInterest()
    }

    private func reportDate() {
        guard let date = handshake?.date else { return }
        delegate?.webSocket(self, received: ServerDate(date: date, asked: asked, answered: loop.now.monotonic))
    }

    private func opened() {
        // The framing lives no longer than we do.
        let framing = WebSocketFraming(mask: { [unowned self] in UInt32(truncatingIfNeeded: self.random.next()) })
        guard let framing else { return finish(.connectFailed("out of memory")) }
        framing.source = { [unowned self] in self.supply($0) }
        framing.sink = { [unowned self] in self.write($0) }
        self.framing = framing
        handshake = nil
        state = .open
        deadline?.cancel()
        silence = keepAlive.map { policy in
            SilenceWatch(
                loop: loop, policy: policy, ask: { [weak self] in _ = self?.ping() },
                giveUp: { [weak self] in self?.finish(.unresponsive) })
        }
        silence?.isResting = isReadingPaused
        delegate?.webSocketOpened(self)
        pump()
    }

    // MARK: Traffic

    /// Takes in what has arrived, delivers it, sends what waits. A bounded amount in one turn.
    private func pump() {
        turnBudget = UplinkLimits.readsPerTurn * UplinkLimits.readChunk
        turnEvents = UplinkLimits.eventsPerTurn
        while let framing, state == .open || state == .closing, !holdsBack, turnEvents > 0 {
            if inbox.isEmpty {
                framing.receive()
                inbox = framing.takeEvents()
            }
            if inbox.isEmpty { break }
            deliver()
        }
        if state == .lingering { discard() }
        settle()
    }

    private func pumpLater() {
        guard !pumpIsQueued else { return }
        pumpIsQueued = true
        loop.enqueue { [weak self] in
            guard let self else { return }
            self.pumpIsQueued = false
            if self.framing != nil { self.pump() }
        }
    }

    /// Messages wait for `resumeReading`; once we are closing they are discarded instead.
    private var holdsBack: Bool { isReadingPaused && state == .open }

    private func deliver() {
        var position = 0
        let events = inbox
        while position < events.count, state == .open || state == .closing, !holdsBack, turnEvents > 0 {
            switch events[position] {
            case .text(let bytes) where state == .open: delegate?.webSocket(self, received: .text(bytes))
            case .binary(let bytes) where state == .open: delegate?.webSocket(self, received: .binary(bytes))
            case .pong(let payload) where state == .open: delegate?.webSocket(self, receivedPong: payload)
            case .text, .binary, .pong: break
            case .close(let code, let text):
                serverClosed = true
                if state == .open { beginEnding(.closing, .closedByServer(code: code, text: text)) }
            }
            position += 1
            turnEvents -= 1
        }
        inbox = state == .closed ? [] : Array(events[position...])
    }

    private func discard() {
        while turnBudget > 0, fillInput() { turnBudget -= input.takeAll().count }
    }

    /// Decides what the turn has led to.
    private func settle() {
        guard let framing else { return }
        let known = loss
        if state == .open || state == .closing, !framing.isReading, !serverClosed, inbox.isEmpty {
            beginEnding(.lingering, reason ?? .protocolError)
            pumpLater()
        }
        framing.flush()
        if let close = closeFrame, !framing.wantsToWrite {
            closeFrame = nil
            framing.queueClose(code: close.code, text: close.text)
            framing.flush()
        }
        if state == .lingering, !framing.wantsToWrite { closeFrameLeft(code: framing.codeSent) }
        if state == .closing, serverClosed, !framing.wantsToWrite { return finish(reason ?? .closedByUs) }
        if let known, inbox.isEmpty, turnBudget > 0 { return finish(reason ?? .connectionLost(known)) }
        if !inbox.isEmpty || !input.isEmpty && !answersAreStuck, !holdsBack { pumpLater() }
        updateInterest()
        if sendWasRefused, state == .open, framing.queuedBytes <= UplinkLimits.sendQueueBytes / 2,
            framing.queuedMessages <= UplinkLimits.sendQueueMessages / 2
        {
            sendWasRefused = false
            delegate?.webSocketMaySendAgain(self)
        }
    }

    /// The code of the close frame tells which violation the framing found.
    private func closeFrameLeft(code: UInt16) {
        switch code {
        case 1_007: reason = .invalidText
        case 1_009: reason = .messageTooLarge
        default: break
        }
        stream?.finishWriting()
    }

    private func updateInterest() {
        var interest: IOInterest = []
        switch state {
        case .upgrading:
            interest = handshake?.unsent.isEmpty == false ? [.read, .write] : .read
        case .open, .closing, .lingering:
            let isHeldUp = holdsBack || !inbox.isEmpty || answersAreStuck
            if !isHeldUp || state == .lingering { interest.insert(.read) }
            if framing?.wantsToWrite ?? false { interest.insert(.write) }
        case .idle, .connecting, .closed: break
        }
        stream?.interest = loss == nil ? interest : []
        if loss != nil, !holdsBack { pumpLater() }
    }

    /// A server that pings without reading the answers is not read from either.
    private var answersAreStuck: Bool { (framing?.unansweredPings ?? 0) > UplinkLimits.queuedControlFrames }

    // MARK: Transport

    private func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let framing, !framing.hasEvents, !answersAreStuck, turnBudget > 0, !input.isEmpty || fillInput() else {
            return nil
        }
        let count = input.take(into: buffer)
        turnBudget -= count
        return count
    }

    private func fillInput() -> Bool {
        guard let stream, !isInputEnded else { return false }
        switch input.fill(from: stream) {
        case .bytes:
            silence?.received()
            return true
        case .wouldBlock: return false
        case .end: loss = loss ?? "the server hung up"
        case .failed(let failure): loss = loss ?? failure.description
        }
        isInputEnded = true
        return false
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let stream, loss == nil else { return nil }
        switch stream.write(bytes) {
        case .bytes(let count): return count
        case .wouldBlock: return nil
        case .end: loss = "the server hung up"
        case .failed(let failure): loss = failure.description
        }
        return nil
    }
}

extension WebSocketClient: ByteStreamDelegate {
    public func streamOpened() {
        state = .upgrading
        asked = loop.now.monotonic
        arm(UplinkLimits.upgradeTimeout, "no answer to the upgrade request")
        handshake = UpgradeHandshake(address: address, nonce: random.bytes(16))
        upgrade()
    }

    public func streamFailed(_ failure: StreamFailure) { finish(WebSocketCloseReason(failure)) }

    public func streamReady(_ ready: IOInterest) {
        if state == .upgrading { upgrade() } else { pump() }
    }
}

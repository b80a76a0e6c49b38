import Basics
import EventLoop
import Glibc

@testable import Radio

/// What connects controllers in tests: sockets on the ATT fixed channel as the kernel has them, in virtual time. One
/// link a pair of addresses, crossing calls become one, a call to nobody stays pending.
final class Ether {
    enum Answer {
        case connects
        /// The call stays pending.
        case silence
        case fails(Int32)
    }

    let loop: EmbeddedLoop
    /// How calls to an address are answered; those to a listener connect, others stay pending.
    var answers: [BluetoothAddress: Answer] = [:]
    var connectDelay = Interval.milliseconds(30)
    fileprivate var listeners: [BluetoothAddress: ScriptedListener] = [:]
    private var pending: [Pair: ScriptedSocket] = [:]
    private(set) var links: [Pair: (ScriptedSocket, ScriptedSocket)] = [:]
    private(set) var adapters: [BluetoothAddress: ScriptedAdapter] = [:]
    /// When somebody calls, before anything comes of it.
    var onCall: (() -> Void)?
    private(set) var calls: [(from: BluetoothAddress, to: BluetoothAddress, at: Instant)] = []
    /// Messages a socket holds until it blocks.
    var capacity = 8

    struct Pair: Hashable {
        let from: BluetoothAddress
        let to: BluetoothAddress
        var reversed: Pair { Pair(from: to, to: from) }
    }

    init(loop: EmbeddedLoop) { self.loop = loop }

    func add(_ adapter: ScriptedAdapter) { adapters[adapter.address] = adapter }

    fileprivate func call(_ socket: ScriptedSocket, _ pair: Pair) throws(SystemError) {
        calls.append((pair.from, pair.to, loop.now.monotonic))
        onCall?()
        guard links[pair] == nil, links[pair.reversed] == nil else { throw SystemError("connect", code: EBUSY) }
        pending[pair] = socket
        loop.schedule(after: connectDelay) { [weak self, weak socket] in
            guard let self, let socket, socket.isOpen, self.pending[pair] === socket else { return }
            switch self.answers[pair.to] ?? (self.listeners[pair.to] == nil ? .silence : .connects) {
            case .silence: break
            case .fails(let code):
                self.pending[pair] = nil
                socket.decide(SystemError("connect", code: code))
            case .connects: self.join(socket, pair)
            }
        }
    }

    /// The callee's own call to the caller, if any, stays pending, as the kernel leaves it.
    private func join(_ socket: ScriptedSocket, _ pair: Pair) {
        guard let listener = listeners[pair.to], links[pair] == nil, links[pair.reversed] == nil else { return }
        pending[pair] = nil
        let other = ScriptedSocket(ether: self, pair: pair.reversed)
        (socket.peer, other.peer) = (other, socket)
        (socket.state, other.state) = (.connected, .connected)
        links[pair] = (socket, other)
        adapters[pair.from]?.tell { $0.adapter($1, connected: pair.to) }
        adapters[pair.to]?.tell { $0.adapter($1, connected: pair.from) }
        socket.decide(nil)
        loop.enqueue { listener.onConnection(other, pair.from) }
    }

    /// A bare socket connected to whoever listens at `to`.
    func dial(from: BluetoothAddress, to: BluetoothAddress) throws -> ScriptedSocket {
        let socket = ScriptedSocket(ether: self, pair: Pair(from: from, to: to))
        try call(socket, socket.pair)
        return socket
    }

    /// Accepts calls to `address` by hand.
    func listen(at address: BluetoothAddress, _ onConnection: @escaping (ScriptedSocket) -> Void) {
        listeners[address] = ScriptedListener(ether: self, address) { socket, _ in
            if let scripted = socket as? ScriptedSocket { onConnection(scripted) }
        }
    }

    /// Ends the link of two controllers.
    func end(_ a: BluetoothAddress, _ b: BluetoothAddress, code: Int32 = ECONNRESET) {
        for pair in [Pair(from: a, to: b), Pair(from: b, to: a)] {
            guard let (first, second) = links.removeValue(forKey: pair) else { continue }
            first.fail(code)
            second.fail(code)
            adapters[a]?.tell { $0.adapter($1, disconnected: b, reason: 3) }
            adapters[b]?.tell { $0.adapter($1, disconnected: a, reason: 3) }
        }
    }

    fileprivate func closed(_ socket: ScriptedSocket) {
        if pending[socket.pair] === socket { pending[socket.pair] = nil }
        // The kernel keeps the link for two seconds.
        loop.schedule(after: .seconds(2)) { [weak self] in
            guard let self else { return }
            for pair in [socket.pair, socket.pair.reversed] {
                guard let (a, b) = self.links[pair], a === socket || b === socket else { continue }
                self.end(pair.from, pair.to)
            }
        }
    }

    func isLinked(_ a: BluetoothAddress, _ b: BluetoothAddress) -> Bool {
        links[Pair(from: a, to: b)] != nil || links[Pair(from: b, to: a)] != nil
    }
    /// The socket of one end of a link.
    func socket(at own: BluetoothAddress, to other: BluetoothAddress) -> ScriptedSocket? {
        links[Pair(from: own, to: other)]?.0 ?? links[Pair(from: other, to: own)]?.1
    }
    func pendingCalls(from: BluetoothAddress) -> Int { pending.keys.count { $0.from == from } }

    func port() -> ScriptedSocketPort { ScriptedSocketPort(self) }
}

final class ScriptedSocketPort: AttributeSocketPort {
    private let ether: Ether
    var listenError: Int32?

    init(_ ether: Ether) { self.ether = ether }

    func listen(
        at own: BluetoothAddress, onConnection: @escaping (any AttributeSocket, BluetoothAddress) -> Void
    ) throws(SystemError) -> any AttributeListener {
        if let listenError { throw SystemError("listen", code: listenError) }
        let listener = ScriptedListener(ether: ether, own, onConnection)
        ether.listeners[own] = listener
        return listener
    }

    func connect(from own: BluetoothAddress, to remote: BluetoothAddress) throws(SystemError) -> any AttributeSocket {
        let socket = ScriptedSocket(ether: ether, pair: Ether.Pair(from: own, to: remote))
        try ether.call(socket, socket.pair)
        return socket
    }
}

final class ScriptedListener: AttributeListener {
    private weak var ether: Ether?
    private let address: BluetoothAddress
    let onConnection: (any AttributeSocket, BluetoothAddress) -> Void

    init(
        ether: Ether, _ address: BluetoothAddress,
        _ onConnection: @escaping (any AttributeSocket, BluetoothAddress) -> Void
    ) {
        self.ether = ether
        self.address = address
        self.onConnection = onConnection
    }

    func close() { if ether?.listeners[address] === self { ether?.listeners[address] = nil } }
}

final class ScriptedSocket: AttributeSocket {
    enum State { case connecting, connected, ended }

    let pair: Ether.Pair
    var state = State.connecting
    weak var peer: ScriptedSocket?
    private(set) var isOpen = true
    private(set) var sent: [[UInt8]] = []
    private(set) var sendBuffers: [Int32] = []
    /// Says that it is writable and takes nothing, until its buffer is this large.
    var neededBuffer: Int32 = 0
    private let ether: Ether
    private var inbox: [[UInt8]] = []
    private var error: SystemError?
    private var watches: [Watch] = []
    private var isKicked = false
    /// How often a watch was called.
    private(set) var wakeUps = 0

    final class Watch: Cancellable {
        let interest: IOInterest
        var action: (() -> Void)?
        weak var socket: ScriptedSocket?
        init(_ interest: IOInterest, _ action: @escaping () -> Void) {
            (self.interest, self.action) = (interest, action)
        }
        func cancel() {
            action = nil
            socket?.watches.removeAll { $0 === self }
        }
    }

    init(ether: Ether, pair: Ether.Pair) { (self.ether, self.pair) = (ether, pair) }

    private var isReadable: Bool { !inbox.isEmpty || state == .ended }
    private var isWritable: Bool {
        switch state {
        case .connecting: error != nil
        case .connected: (peer?.inbox.count ?? 0) < ether.capacity
        case .ended: true
        }
    }

    func decide(_ error: SystemError?) {
        self.error = error
        if error != nil { state = .ended }
        kick()
    }

    func fail(_ code: Int32) {
        guard state != .ended else { return }
        state = .ended
        error = SystemError("recv", code: code)
        kick()
    }

    private func kick() {
        guard !isKicked else { return }
        isKicked = true
        ether.loop.enqueue { [weak self] in
            guard let self else { return }
            self.isKicked = false
            var wasCalled = false
            for watch in self.watches where watch.action != nil {
                guard watch.interest.contains(.read) ? self.isReadable : self.isWritable else { continue }
                wasCalled = true
                wakeUps += 1
                watch.action?()
            }
            if wasCalled { self.kick() }
        }
    }

    func send(_ pdu: UnsafeRawBufferPointer) -> FileDescriptor.Transfer {
        guard isOpen, state == .connected, let peer else { return .failed(SystemError("send", code: ENOTCONN)) }
        guard (sendBuffers.last ?? .max) >= neededBuffer, peer.inbox.count < ether.capacity else { return .wouldBlock }
        sent.append(Array(pdu))
        peer.inbox.append(Array(pdu))
        peer.kick()
        return .bytes(pdu.count)
    }

    func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { send($0) } }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> FileDescriptor.Message {
        guard isOpen else { return .failed(SystemError("recv", code: EBADF)) }
        if let error {
            self.error = nil
            return .failed(error)
        }
        // As the kernel has it: an ended connection is reported once, as an error, and never as an end.
        guard !inbox.isEmpty else { return .wouldBlock }
        let message = inbox.removeFirst()
        peer?.kick()
        guard !message.isEmpty else { return .empty }
        buffer.copyBytes(from: message.prefix(buffer.count))
        return .length(message.count)
    }

    /// Everything that waits, by hand.
    func drain() -> [[UInt8]] {
        defer {
            inbox.removeAll()
            peer?.kick()
        }
        return inbox
    }

    func watch(_ interest: IOInterest, _ action: @escaping () -> Void) -> any Cancellable {
        let watch = Watch(interest, action)
        watch.socket = self
        watches.append(watch)
        kick()
        return watch
    }

    func takeError() -> SystemError? {
        defer { error = nil }
        return error
    }

    func setSendBuffer(_ bytes: Int32) { sendBuffers.append(bytes) }

    func close() {
        guard isOpen else { return }
        isOpen = false
        watches.removeAll()
        ether.closed(self)
    }
}

/// A controller that does as told and notes it.
final class ScriptedAdapter: AdapterPort {
    weak var delegate: (any AdapterPortDelegate)?
    let index: UInt16
    let address: BluetoothAddress
    var status = AdapterStatus(state: .absent)
    var admitsAttempt = true
    /// Whether it says so at once when the air is clear for an attempt.
    var clearsAir = true
    private(set) var isStarted = false
    private(set) var wantsAdvertising = false
    private(set) var wantsScanning = false
    private(set) var outcomes: [ConnectionOutcome] = []
    private(set) var attempts = 0
    private(set) var disconnects: [BluetoothAddress] = []
    private(set) var scanPauses: [Interval] = []
    private(set) var traffic = 0
    private let ether: Ether

    init(_ index: UInt16, ether: Ether) {
        self.index = index
        self.ether = ether
        address = BluetoothAddress(value: 0x0200_A15E_0000 + UInt64(index) + 1, kind: .public)
        ether.add(self)
    }

    func tell(_ news: @escaping (any AdapterPortDelegate, ScriptedAdapter) -> Void) {
        ether.loop.enqueue { [self] in delegate.map { news($0, self) } }
    }

    func comeUp() {
        status.state = .ready
        tell { $0.adapterUp($1, address: $1.address) }
    }

    /// Removed: its links go with it.
    func goDown(_ state: AdapterStatus.State = .absent) {
        status.state = state
        tell { $0.adapterDown($1) }
        for pair in ether.links.keys where pair.from == address || pair.to == address {
            ether.end(pair.from, pair.to, code: ECONNABORTED)
        }
    }

    func hear(_ address: BluetoothAddress, _ rssi: Int8? = -50) {
        tell { $0.adapter($1, heard: Sighting(address: address, rssi: rssi)) }
    }

    func start() { isStarted = true }
    func stop() {
        isStarted = false
        for pair in ether.links.keys where pair.from == address { disconnect(pair.to) }
    }
    func setAdvertising(_ isWanted: Bool) { wantsAdvertising = isWanted }
    func setScanning(_ isWanted: Bool) { wantsScanning = isWanted }
    func connectionAttemptBegan() {
        attempts += 1
        if clearsAir { tell { $0.adapterClearedAir($1) } }
    }
    func connectionAttemptEnded(_ outcome: ConnectionOutcome) { outcomes.append(outcome) }
    func disconnect(_ address: BluetoothAddress) {
        disconnects.append(address)
        ether.loop.schedule(after: .milliseconds(30)) { [self] in ether.end(self.address, address) }
    }
    func noteTraffic() { traffic += 1 }
    func pauseScanning(for span: Interval) { scanPauses.append(span) }
}

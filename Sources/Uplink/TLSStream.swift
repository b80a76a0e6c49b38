import Basics
import Copenssl
import EventLoop

/// TLS over any stream, client side (chapter 05 §6.10). The server's certificate must lead to a trusted authority, be
/// valid at the given time and name the host; names in the subject's CN do not count (RFC 9525).
public final class TLSStream: ByteStream {
    public weak var delegate: (any ByteStreamDelegate)?

    private enum State {
        case idle
        case connecting
        case handshaking
        case open
        case closed
    }

    private let loop: any EventLoop
    private let transport: any ByteStream
    private let trust: TLSTrust
    private let host: String
    private let time: () -> WallTime
    private var session: TLSSession?
    private var state = State.idle
    private var deadline: (any Cancellable)?
    /// The transport has ended or broken.
    private var transportEnd: StreamTransfer?
    private var isFinishing = false

    /// There may be more to read than the transport knows of.
    private var mayHoldMore = false
    private var wakeIsQueued = false
    /// Received bytes that may still be worked on in this turn.
    private var turnBudget = UplinkLimits.tlsBytesPerTurn

    /// - Parameters:
    ///   - transport: not opened yet.
    ///   - host: the name the certificate must have, or a numeric address.
    ///   - time: when the certificate must be valid. Asked at the handshake; the system's clock may be wrong.
    public init(
        loop: any EventLoop, transport: any ByteStream, host: String, trust: TLSTrust, time: @escaping () -> WallTime
    ) {
        self.loop = loop
        self.transport = transport
        self.host = host
        self.trust = trust
        self.time = time
    }

    deinit { close() }

    public var interest: IOInterest = [] {
        didSet { if state == .open { updateInterest() } }
    }

    public func open() {
        guard state == .idle else { return }
        state = .connecting
        transport.delegate = self
        transport.open()
    }

    public func finishWriting() {
        guard state == .open, !isFinishing else { return }
        isFinishing = true
        session?.sayGoodbye()
        flush()
        updateInterest()
    }

    public func close() {
        guard state != .closed else { return }
        if state == .open, !isFinishing {
            session?.sayGoodbye()
            flush()
        }
        state = .closed
        deadline?.cancel()
        deadline = nil
        session = nil
        transport.delegate = nil
        transport.close()
    }

    // MARK: Handshake

    private func shakeHands() {
        guard let session else { return }
        turnBudget = UplinkLimits.tlsBytesPerTurn
        while state == .handshaking {
            let step = session.handshake()
            flush()
            switch step {
            case .done: return opened()
            case .failed(let failure): return fail(.tlsFailed(failure))
            case .wantsInput: break
            }
            switch transportEnd {
            case .failed(let failure)?: return fail(failure)
            case .some: return fail(.tlsFailed(.hungUp))
            case nil: break
            }
            guard fillInput() else { break }
        }
        if transportEnd != nil || turnBudget <= 0 { return wakeLater() }
        updateInterest()
    }

    private func opened() {
        state = .open
        deadline?.cancel()
        deadline = nil
        mayHoldMore = true
        updateInterest()
        delegate?.streamOpened()
    }

    private func fail(_ failure: StreamFailure) {
        guard state != .closed else { return }
        // Our alert, which says what we did not like, has been handed to the transport before.
        state = .closed
        close(transport)
        delegate?.streamFailed(failure)
    }

    private func close(_ transport: any ByteStream) {
        deadline?.cancel()
        deadline = nil
        session = nil
        transport.delegate = nil
        transport.close()
    }

    // MARK: Traffic

    public func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        guard state == .open, let session, !buffer.isEmpty else { return .wouldBlock }
        var filled = 0
        defer { updateInterest() }
        while true {
            switch session.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])) {
            case .bytes(let count):
                filled += count
                if filled < buffer.count { continue }
                mayHoldMore = true
                return .bytes(filled)
            case .wantsInput: break
            case .end where filled == 0: return .end
            case .failed(let failure) where filled == 0: return .failed(.tlsFailed(failure))
            case .end, .failed:
                mayHoldMore = true
                return .bytes(filled)
            }
            // Reading may have made something to write, an answer to a key update above all.
            flush()
            if fillInput() { continue }
            mayHoldMore = transportEnd != nil || turnBudget <= 0
            if filled > 0 { return .bytes(filled) }
            switch transportEnd {
            case .failed(let failure)?: return .failed(failure)
            case .some: return .failed(.tlsFailed(.truncated))
            case nil: return .wouldBlock
            }
        }
    }

    public func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        guard state == .open, !isFinishing, let session else { return .wouldBlock }
        defer { updateInterest() }
        flush()
        // One record at a time: what does not fit into the transport stays the caller's.
        guard session.unsentBytes == 0 else { return transportEnd.map(broken) ?? .wouldBlock }
        switch session.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(UplinkLimits.readChunk))) {
        case .bytes(let count):
            flush()
            return .bytes(count)
        case .wantsInput: return .wouldBlock
        case .end: return .end
        case .failed(let failure): return .failed(.tlsFailed(failure))
        }
    }

    private func broken(_ end: StreamTransfer) -> StreamTransfer { end == .end ? .failed(.tlsFailed(.truncated)) : end }

    /// Hands received bytes to the library. False when there are none now, or none may be taken.
    private func fillInput() -> Bool {
        guard let session, transportEnd == nil, turnBudget > 0, !isStuck else { return false }
        switch transport.read(into: trust.scratch) {
        case .bytes(let count):
            turnBudget -= count
            session.put(UnsafeRawBufferPointer(rebasing: trust.scratch.prefix(count)))
            return true
        case .wouldBlock: return false
        case let end:
            transportEnd = end
            return false
        }
    }

    /// Hands the transport what the library has made.
    private func flush() {
        guard let session else { return }
        while transportEnd == nil, session.unsentBytes > 0 {
            switch session.withUnsent({ transport.write($0) }) {
            case .bytes(let count): session.sent(count)
            case .wouldBlock: return
            case let end: transportEnd = end
            }
        }
        if isFinishing, transportEnd == nil, session.unsentBytes == 0 { transport.finishWriting() }
    }

    /// A server that makes us answer without reading the answers is not read from either.
    private var isStuck: Bool { (session?.unsentBytes ?? 0) > UplinkLimits.tlsUnsentBytes }

    // MARK: Readiness

    private func updateInterest() {
        let hasUnsent = transportEnd == nil && (session?.unsentBytes ?? 0) > 0
        var wanted: IOInterest = hasUnsent ? .write : []
        switch state {
        case .handshaking: if !isStuck { wanted.insert(.read) }
        case .open:
            if interest.contains(.read), transportEnd == nil, !isStuck { wanted.insert(.read) }
            if interest.contains(.write), transportEnd == nil { wanted.insert(.write) }
            let canReport = interest.contains(.read) && mayHoldMore || !interest.isEmpty && transportEnd != nil
            if canReport { wakeLater() }
        case .idle, .connecting, .closed: wanted = []
        }
        if transport.interest != wanted { transport.interest = wanted }
    }

    private func wakeLater() {
        guard !wakeIsQueued else { return }
        wakeIsQueued = true
        loop.enqueue { [weak self] in self?.wake() }
    }

    private func wake() {
        wakeIsQueued = false
        switch state {
        case .handshaking: shakeHands()
        case .open: report(transportEnd == nil ? (mayHoldMore ? .read : []) : [.read, .write])
        case .idle, .connecting, .closed: break
        }
    }

    private func report(_ ready: IOInterest) {
        turnBudget = UplinkLimits.tlsBytesPerTurn
        let wanted = ready.intersection(interest)
        updateInterest()
        if !wanted.isEmpty { delegate?.streamReady(wanted) }
    }
}

extension TLSStream: ByteStreamDelegate {
    public func streamOpened() {
        guard state == .connecting else { return }
        guard let session = TLSSession(trust: trust, host: host, time: time()) else {
            return fail(.tlsFailed(.library("no memory")))
        }
        self.session = session
        state = .handshaking
        deadline = loop.schedule(after: UplinkLimits.tlsTimeout) { [weak self] in
            self?.fail(.timedOut("no TLS handshake within \(UplinkLimits.tlsTimeout.milliseconds / 1_000) s"))
        }
        shakeHands()
    }

    public func streamFailed(_ failure: StreamFailure) { fail(failure) }

    public func streamReady(_ ready: IOInterest) {
        switch state {
        case .handshaking:
            flush()
            shakeHands()
        case .open:
            if ready.contains(.write) { flush() }
            var reported = ready
            if let session, session.unsentBytes > 0 { reported.remove(.write) }
            report(reported)
        case .idle, .connecting, .closed: break
        }
    }
}

import Basics
import EventLoop

/// What came of one use of the proxy: on this, beside the control port, rests whether the route works (chapter 05
/// §15.2). A listening port proves nothing.
public enum ProxyOutcome: Equatable, Sendable {
    /// The proxy made the connection.
    case connected
    /// It works, and says that this server cannot be reached.
    case serverUnreachable(StreamFailure)
    /// It took the request and never answered.
    case silent
    /// It is down, hangs up, or is no proxy that can be used.
    case unavailable(StreamFailure)
}

/// A connection through a SOCKS5 proxy, over a stream to the proxy (chapter 05 §15.2). Nothing is resolved here: the
/// host goes to the proxy as it is written.
public final class SOCKSStream: ByteStream {
    public weak var delegate: (any ByteStreamDelegate)?
    /// Called once, before the delegate hears of it.
    public var onOutcome: ((ProxyOutcome) -> Void)?

    private enum State {
        case idle
        case connecting
        case authenticating
        case requesting
        case open
        case closed
    }

    private let loop: any EventLoop
    private let proxy: any ByteStream
    private let isOnion: Bool
    private var handshake: SOCKSHandshake?
    private var state = State.idle
    private var deadline: (any Cancellable)?

    /// - Parameters:
    ///   - proxy: a stream to the proxy, not opened yet.
    ///   - host: at most 255 bytes.
    public init(loop: any EventLoop, proxy: any ByteStream, host: String, port: UInt16, isolation: StreamIsolation) {
        self.loop = loop
        self.proxy = proxy
        isOnion = HostName.isOnion(host)
        handshake = SOCKSHandshake(target: SOCKSHandshake.Target(host: host, port: port), isolation: isolation)
    }

    /// Opens when the proxy has taken the credentials, and asks it for no connection: whether there is a proxy at all.
    public init(probing proxy: any ByteStream, loop: any EventLoop, isolation: StreamIsolation) {
        self.loop = loop
        self.proxy = proxy
        isOnion = false
        handshake = SOCKSHandshake(target: nil, isolation: isolation)
    }

    deinit { close() }

    public var interest: IOInterest = [] {
        didSet { if state == .open { proxy.interest = interest } }
    }

    public func open() {
        guard state == .idle else { return }
        guard handshake != nil else {
            state = .connecting
            return loop.enqueue { [weak self] in
                self?.fail(.unsupported("the host name or the credentials do not fit into SOCKS5"))
            }
        }
        state = .connecting
        arm(UplinkLimits.proxyTimeout)
        proxy.delegate = self
        proxy.open()
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        state == .open ? proxy.read(into: buffer) : .wouldBlock
    }

    public func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        state == .open ? proxy.write(bytes) : .wouldBlock
    }

    public func finishWriting() {
        if state == .open { proxy.finishWriting() }
    }

    public func close() {
        state = .closed
        deadline?.cancel()
        deadline = nil
        handshake = nil
        proxy.delegate = nil
        proxy.close()
    }

    // MARK: Handshake

    private func arm(_ limit: Interval) {
        deadline?.cancel()
        deadline = loop.schedule(after: limit) { [weak self] in self?.timedOut(after: limit) }
    }

    private func timedOut(after limit: Interval) {
        let seconds = limit.milliseconds / 1_000
        switch state {
        case .requesting:
            fail(.timedOut("the proxy made no connection within \(seconds) s"), .silent)
        case .connecting: fail(.routeUnavailable("the proxy cannot be reached within \(seconds) s"))
        default: fail(.routeUnavailable("the proxy does not answer within \(seconds) s"))
        }
    }

    /// The whole handshake is a few hundred bytes, so this ends however the proxy cuts them.
    private func advance() {
        while state == .authenticating || state == .requesting, let handshake {
            if !handshake.unsent.isEmpty {
                switch handshake.unsent.withUnsafeBytes({ proxy.write($0) }) {
                case .bytes(let count): self.handshake?.sent(count)
                case .wouldBlock:
                    proxy.interest = .write
                    return
                case .end: return fail(.routeUnavailable("the proxy hung up"))
                case .failed(let failure): return fail(.routeUnavailable("the proxy: \(failure)"))
                }
                continue
            }
            var bytes = [UInt8](repeating: 0, count: handshake.needed)
            switch bytes.withUnsafeMutableBytes({ proxy.read(into: $0) }) {
            case .bytes(let count): received(bytes.prefix(count))
            case .wouldBlock:
                proxy.interest = .read
                return
            case .end: return fail(.routeUnavailable("the proxy hung up"))
            case .failed(let failure): return fail(.routeUnavailable("the proxy: \(failure)"))
            }
        }
    }

    private func received(_ bytes: ArraySlice<UInt8>) {
        switch handshake?.receive(bytes) {
        case .incomplete?, nil: break
        case .authenticated?:
            state = .requesting
            arm(isOnion ? UplinkLimits.onionConnectTimeout : UplinkLimits.proxiedConnectTimeout)
        case .connected?: opened()
        case .failed(let failure)?: fail(failure)
        }
    }

    private func opened() {
        state = .open
        deadline?.cancel()
        deadline = nil
        handshake = nil
        proxy.interest = interest
        report(.connected)
        // Whoever only wanted to know has closed it.
        if state == .open { delegate?.streamOpened() }
    }

    private func fail(_ failure: StreamFailure, _ outcome: ProxyOutcome? = nil) {
        guard state != .closed else { return }
        close()
        report(outcome ?? SOCKSStream.outcome(of: failure))
        delegate?.streamFailed(failure)
    }

    /// nil for what the proxy was not even asked.
    private static func outcome(of failure: StreamFailure) -> ProxyOutcome? {
        switch failure {
        case .unsupported: nil
        case .routeUnavailable: .unavailable(failure)
        default: .serverUnreachable(failure)
        }
    }

    private func report(_ outcome: ProxyOutcome?) {
        if let outcome { onOutcome?(outcome) }
        onOutcome = nil
    }
}

extension SOCKSStream: ByteStreamDelegate {
    public func streamOpened() {
        guard state == .connecting else { return }
        state = .authenticating
        arm(UplinkLimits.greetingTimeout)
        advance()
    }

    public func streamFailed(_ failure: StreamFailure) { fail(.routeUnavailable("the proxy: \(failure)")) }

    public func streamReady(_ ready: IOInterest) {
        if state == .open { delegate?.streamReady(ready) } else { advance() }
    }
}

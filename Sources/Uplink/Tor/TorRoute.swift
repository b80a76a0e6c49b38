import Basics
import EventLoop

/// The way through Tor, and only through Tor: makes streams while it is proven, and looks after the proof.
public final class TorRoute: NetworkRoute {
    public struct Configuration: Equatable, Sendable {
        /// On this machine: the names of relays go there in clear.
        public var socks: LocalEndpoint
        /// `nil`: what Tor does shows in connections alone.
        public var control: LocalEndpoint?
        /// `nil`: where tor says it is.
        public var controlCookie: String?

        public init(socks: LocalEndpoint = .torSOCKS, control: LocalEndpoint? = .torControl, cookie: String? = nil) {
            self.socks = socks
            self.control = control
            controlCookie = cookie
        }
    }

    /// Somebody who is to be reached anyway, with the credentials used for that: a probe then builds the circuit that
    /// is needed next, and nobody else hears of this box.
    public typealias Target = (address: WebSocketAddress, isolation: StreamIsolation)

    public var onChange: (() -> Void)?
    /// Whom probes may ask. While it gives nobody, only the SOCKS port is asked.
    public var targets: () -> [Target] = { [] }

    private let loop: any EventLoop
    private let configuration: Configuration
    /// Knows the proxy and no other way.
    private let dialer: NetworkDialer
    private let control: TorControlConnection?
    private var gate: TorGate
    private var probe: SOCKSStream?
    private var nextTarget = 0
    private var timer: (any Cancellable)?
    private var isRunning = false
    private var told: (access: RouteAccess, isProven: Bool, stage: TorStage)
    private var changeIsQueued = false

    /// - Parameter time: when certificates must be valid.
    public init(
        loop: any EventLoop, configuration: Configuration, trust: TLSTrust, time: @escaping () -> WallTime
    ) {
        self.loop = loop
        self.configuration = configuration
        dialer = NetworkDialer(loop: loop, policy: .proxied(configuration.socks), trust: trust, time: time)
        gate = TorGate(hasControlPort: configuration.control != nil)
        control = configuration.control.map {
            TorControlConnection(loop: loop, endpoint: $0, cookiePath: configuration.controlCookie)
        }
        told = (gate.access, gate.isProven, gate.stage)
        dialer.readiness = { [weak self] in
            guard let self, self.isProven else { return .closed("the way through Tor is not open") }
            return .open
        }
        dialer.onProxyOutcome = { [weak self] outcome in
            self?.update { $0.witnessed(RouteEvidence(outcome), at: $1) }
        }
        control?.onObservation = { [weak self] observation in
            self?.update { $0.observe(observation, at: $1) }
        }
    }

    deinit { stop() }

    public var access: RouteAccess { isRunning ? gate.access : .closed }
    public var isProven: Bool { isRunning && gate.isProven }
    public var stage: TorStage { gate.stage }
    public var report: TorReport { gate.report(at: loop.now.monotonic) }

    public func start() {
        guard !isRunning else { return }
        isRunning = true
        control?.start()
        update { $0.timeout(at: $1) }
    }

    public func setTimeProven(_ isProven: Bool) { update { $0.setTimeProven(isProven, at: $1) } }

    public func stop() {
        isRunning = false
        onChange = nil
        targets = { [] }
        control?.stop()
        timer?.cancel()
        timer = nil
        probe?.close()
        probe = nil
    }

    // MARK: Streams

    public func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream {
        let stream = try dialer.makeStream(to: address, isolation: isolation)
        return WitnessedStream(stream, loop: loop) { [weak self] evidence in
            self?.update { $0.witnessed(evidence, at: $1) }
        }
    }

    // MARK: The gate

    private func update(_ input: (inout TorGate, Instant) -> Void) {
        input(&gate, loop.now.monotonic)
        guard isRunning else { return }
        if let number = gate.takeProbe(at: loop.now.monotonic) { begin(probe: number) }
        arm()
        let now = (access: access, isProven: isProven, stage: gate.stage)
        guard now != told else { return }
        told = now
        guard !changeIsQueued else { return }
        changeIsQueued = true
        loop.enqueue { [weak self] in
            self?.changeIsQueued = false
            self?.onChange?()
        }
    }

    private func arm() {
        timer?.cancel()
        timer = gate.nextDeadline.map { due in
            loop.schedule(after: max(.milliseconds(1), due - loop.now.monotonic)) { [weak self] in
                self?.update { $0.timeout(at: $1) }
            }
        }
    }

    private func begin(probe number: UInt64) {
        probe?.close()
        let known = targets()
        let proxy = configuration.socks.makeStream(on: loop)
        let stream: SOCKSStream
        if known.isEmpty {
            stream = SOCKSStream(
                probing: proxy, loop: loop, isolation: StreamIsolation(user: "probe", password: "probe"))
        } else {
            nextTarget = (nextTarget + 1) % known.count
            let (address, isolation) = known[nextTarget]
            stream = SOCKSStream(
                loop: loop, proxy: proxy, host: address.host, port: address.port, isolation: isolation)
        }
        probe = stream
        stream.onOutcome = { [weak self] outcome in
            self?.probe?.close()
            self?.probe = nil
            self?.update { $0.probeEnded(number, RouteEvidence(outcome), at: $1) }
        }
        stream.open()
    }
}

extension RouteEvidence {
    /// Whatever the exit or the service says of the destination, the answer itself came through. Only when nobody was
    /// found in time, it may be the way's fault.
    init(_ outcome: ProxyOutcome) {
        switch outcome {
        case .connected: self = .worked
        case .serverUnreachable(.timedOut(let text)): self = .failed(text)
        case .serverUnreachable: self = .worked
        case .silent: self = .failed("Tor made no connection in time")
        case .unavailable(let failure): self = .proxyFailed(failure.description)
        }
    }
}

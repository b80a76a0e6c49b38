import Basics
import Wire

/// ATT on one connection: our server and, on connections we opened, our client, side by side on one channel (chapter 03
/// A13.4, A13.5). Neither waits for the other.
///
/// The owner of the socket passes in what it receives and what time it is, and after each call takes effects with
/// `nextEffect()` until there are none.
///
/// One connection is one link of the mesh, whichever halves of it the peer uses: what the peer writes to our server and
/// what it notifies our client of are frames of the same link, and each of ours leaves once, written if we are set up
/// as its client and notified otherwise.
public final class AttributeBearer {
    public let role: LinkRole
    /// What was ignored or refused so far.
    public private(set) var counters = Tally<BearerDrop>()
    /// The newest MTU agreed on in either direction.
    public private(set) var mtu = ATTLimits.smallestMTU
    /// Whether `up` was given out, and no `down` since.
    public private(set) var isUp = false
    /// Whether the peer listens to our notifications now.
    public private(set) var isSubscribed = false
    /// Whether it ever did.
    public private(set) var wasSubscribed = false
    /// When the last valid frame came in; nil if none did (chapter 03 A13.6).
    public private(set) var lastFrame: Instant?

    private var server: AttributeServer
    private var client: AttributeClient
    /// Only what a server notifies may be a frame in several parts; what is written is one frame (chapter 03 A8).
    private var assembler = NotificationAssembler()
    private var effects = Queue<BearerEffect>()
    private var isOver = false

    /// Whether the MTU will not change by itself: agreed on, refused, or waited for in vain.
    private var isMTUSettled = false
    private var exchangeDue: Instant?
    private var patienceEnds: Instant?
    private var unusedDeadline: Instant?
    private var unsubscriptions = ATTLimits.unsubscriptions
    /// What the mesh was told.
    private var toldFrameLimit = 0
    private var toldSubscribed = false
    /// A frame was told to wait.
    private var isAwaited = false

    /// - Parameter service: what we serve and, as central, look for.
    public init(role: LinkRole, service: BluetoothUUID = .meshService) {
        self.role = role
        server = AttributeServer(service: service)
        client = AttributeClient(service: service)
    }

    /// The largest frame the link carries now: min(MTU − 3, 512).
    public var frameLimit: Int { RadioLimits.frameLimit(mtu: mtu) }

    /// Begins set-up on an outgoing connection, and the time limits of either kind. Once, when connected.
    public func start(at now: Instant) {
        switch role {
        case .outgoing: client.setUp(at: now) { note($0, at: now) }
        case .incoming: unusedDeadline = now + ATTLimits.unusedTime
        }
    }

    public func nextEffect() -> BearerEffect? { effects.popFirst() }

    // MARK: Receiving

    /// Takes one PDU in, whole, as one read of the socket gave it; longer than the MTU is accepted.
    public func receive(_ pdu: UnsafeRawBufferPointer, at now: Instant) {
        guard !isOver else { return }
        if let opcode = pdu.first.flatMap(ATTOpcode.init), opcode.isOfServer {
            client.receive(opcode, pdu, at: now) { note($0, at: now) }
        } else {
            server.receive(pdu, mtu: mtu) { note($0, at: now) }
        }
        settle(at: now)
    }

    private func note(_ event: AttributeServer.Event, at now: Instant) {
        switch event {
        case .respond(let pdu): effects.append(.transmitResponse(pdu))
        case .written(let value): received(written: value, at: now)
        case .subscription(let isOn):
            isSubscribed = isOn
            wasSubscribed = wasSubscribed || isOn
        case .mtu(let agreed): agree(on: agreed)
        case .dropped(let drop): counters.count(drop)
        }
    }

    private func note(_ event: AttributeClient.Event, at now: Instant) {
        switch event {
        case .request(let pdu): effects.append(.transmitRequest(pdu))
        case .confirm(let pdu): effects.append(.transmitResponse(pdu))
        case .mtu(let agreed): agree(on: agreed)
        case .mtuRefused: isMTUSettled = true
        case .streamEnded: assembler = NotificationAssembler()
        case .value(let value): received(notified: value, at: now)
        case .ready, .written: break
        case .dropped(let drop): counters.count(drop)
        case .failed(let failure): fail(failure)
        }
    }

    /// The newest counts, the smaller one too: a peer sent more than it takes goes silent.
    private func agree(on agreed: Int) {
        mtu = agreed
        isMTUSettled = true
    }

    private func received(written value: UnsafeRawBufferPointer, at now: Instant) {
        guard !value.isEmpty else { return }
        guard case .success(let layout) = FrameLayout.parse(value) else { return counters.count(.notAFrame) }
        deliver(UnsafeRawBufferPointer(rebasing: value[..<layout.length]), at: now)
    }

    private func received(notified value: UnsafeRawBufferPointer, at now: Instant) {
        let damage = assembler.damage.total
        assembler.receive(value, at: now) { frame in
            guard case .success = FrameLayout.parse(frame) else { return counters.count(.notAFrame) }
            deliver(frame, at: now)
        }
        counters.count(.undecodableStream, assembler.damage.total - damage)
    }

    private func deliver(_ frame: UnsafeRawBufferPointer, at now: Instant) {
        lastFrame = now
        comeUp()
        effects.append(.frame([UInt8](frame)))
    }

    // MARK: State of the link

    /// Draws the consequences of one call, after its responses.
    private func settle(at now: Instant) {
        guard !isOver else { return }
        if isSubscribed { unusedDeadline = nil }
        if toldSubscribed != isSubscribed {
            toldSubscribed = isSubscribed
            if !isSubscribed, role == .incoming { unsubscribed(at: now) }
            guard !isOver else { return }
        }
        if isMTUSettled {
            (exchangeDue, patienceEnds) = (nil, nil)
            if isSubscribed || client.isReady { comeUp() }
        } else if isSubscribed, role == .incoming, patienceEnds == nil {
            exchangeDue = now + ATTLimits.beforeOwnExchange
            patienceEnds = now + ATTLimits.exchangePatience
        }
        guard isUp else { return }
        if toldFrameLimit != frameLimit {
            toldFrameLimit = frameLimit
            effects.append(.frameLimitChanged(frameLimit))
        }
        if isAwaited, isMTUSettled, client.canWrite || !client.isReady && isSubscribed {
            isAwaited = false
            effects.append(.readyForFrames)
        }
    }

    private func comeUp() {
        guard !isUp else { return }
        isUp = true
        unusedDeadline = nil
        toldFrameLimit = frameLimit
        effects.append(.up(frameLimit: frameLimit))
    }

    private func unsubscribed(at now: Instant) {
        unusedDeadline = now + ATTLimits.unusedTime
        (exchangeDue, patienceEnds) = (nil, nil)
        guard unsubscriptions.take(at: now) else { return fail(.restless) }
        guard isUp else { return }
        isUp = false
        isAwaited = false
        effects.append(.down)
    }

    private func fail(_ failure: BearerFailure) {
        isOver = true
        effects.append(.fail(failure))
    }

    // MARK: Time

    /// When to call `timeout(at:)`; changes with every call.
    public var nextDeadline: Instant? {
        guard !isOver else { return nil }
        let earliest = min(
            min(client.nextDeadline ?? .distantFuture, exchangeDue ?? .distantFuture),
            min(patienceEnds ?? .distantFuture, unusedDeadline ?? .distantFuture))
        return earliest == .distantFuture ? nil : earliest
    }

    public func timeout(at now: Instant) {
        guard !isOver else { return }
        if let unusedDeadline, unusedDeadline <= now { return fail(.unused) }
        if let exchangeDue, exchangeDue <= now {
            self.exchangeDue = nil
            client.exchangeMTU(at: now) { note($0, at: now) }
        }
        if let patienceEnds, patienceEnds <= now { isMTUSettled = true }
        client.timeout(at: now) { note($0, at: now) }
        settle(at: now)
    }

    // MARK: Sending

    /// Whether a frame of this many bytes can leave. Frames larger than any link carries until the MTU is known wait
    /// for it; none is cut.
    public func fit(_ length: Int) -> FrameFit {
        guard !isOver, role == .outgoing || isSubscribed else { return .nobodyListens }
        guard length <= (isMTUSettled ? frameLimit : RadioLimits.longestValue) else { return .tooLong }
        let hasPath = client.isReady ? client.canWrite : isSubscribed
        guard hasPath, length <= frameLimit else {
            isAwaited = true
            return .wait
        }
        return .ready
    }

    /// The PDU that carries a frame: a write command, a write request, or a notification. Nil unless it fits now; once
    /// made it must be sent, since a write request is waited for.
    public func pdu(for frame: [UInt8], at now: Instant) -> [UInt8]? {
        guard fit(frame.count) == .ready else { return nil }
        return client.isReady
            ? client.write(frame, at: now) : ATTValue.pdu(.notification, AttributeTable.meshHandle, frame)
    }
}

import Basics
import EventLoop
import Glibc

/// How a command ended.
public enum ManagementOutcome: Hashable, Sendable {
    case success([UInt8])
    case refused(ManagementStatus)
    /// No answer within the command's limit.
    case timedOut
    /// The channel or the controller went away before the answer, or the queue was full.
    case lost
}

public protocol ManagementChannelDelegate: AnyObject {
    func channelOpened()
    /// The socket failed or could not be opened; it is tried again by itself.
    func channelClosed()
    /// Anything but answers.
    func channelHeard(_ event: ManagementEvent, index: UInt16)
}

/// What the channel could not use.
public enum ManagementDrop: String, CaseIterable, Sendable {
    /// Well formed, and of no concern.
    case ignoredEvent = "ignored_event"
    case malformedEvent = "malformed_event"
    /// Nobody waits for this answer: its command's limit was over when it came.
    case strayAnswer = "stray_answer"
    case commandTimeout = "command_timeout"
    case queueFull = "queue_full"
    /// The kernel did not take a command.
    case sendFailed = "send_failed"
    case channelLost = "channel_lost"
}

/// The kernel's Bluetooth management channel: one socket for all controllers, one command at a time for each.
public final class ManagementChannel {
    public enum State: String, Sendable {
        case closed
        case open
        /// The kernel has no Bluetooth.
        case missing
        /// This process may not open such a socket.
        case forbidden
    }

    public weak var delegate: (any ManagementChannelDelegate)?
    public private(set) var state = State.closed
    public private(set) var counters = Tally<ManagementDrop>()

    private let loop: any EventLoop
    private let open: () -> Result<FileDescriptor, SystemError>
    private var socket: FileDescriptor?
    private var watch: (any Cancellable)?
    private var reopening: (any Cancellable)?
    private var pause = ManagementLimits.reopening.first
    private var lanes: [UInt16: Lane] = [:]
    private var isRunning = false
    private var buffer = [UInt8](repeating: 0, count: ManagementLimits.longestEvent)

    /// The commands of one controller.
    private struct Lane {
        var current: Pending?
        var waiting = Queue<Pending>()
        /// Codes of commands that had no answer in time, and since when. The kernel carries commands out in their
        /// order, so the next answer of such a code belongs to them.
        var unanswered: [UInt16: Instant] = [:]

        /// Whether an answer comes for a command that nobody waits for any more.
        mutating func takeUnanswered(_ code: UInt16, at now: Instant) -> Bool {
            unanswered.removeValue(forKey: code).map { now - $0 < ManagementLimits.lateAnswer } ?? false
        }

        func isIdle(at now: Instant) -> Bool {
            current == nil && waiting.isEmpty
                && unanswered.values.allSatisfy { now - $0 >= ManagementLimits.lateAnswer }
        }
    }

    private final class Pending {
        let command: ManagementCommand
        let completion: (ManagementOutcome) -> Void
        var limit: (any Cancellable)?
        /// An answer went to an earlier command of the kind.
        var hasYielded = false

        init(_ command: ManagementCommand, _ completion: @escaping (ManagementOutcome) -> Void) {
            self.command = command
            self.completion = completion
        }
    }

    /// - Parameter open: makes the socket: the kernel's, or one end of a pair of message sockets in tests.
    public init(
        loop: any EventLoop, open: @escaping () -> Result<FileDescriptor, SystemError> = ManagementSocket.open
    ) {
        self.loop = loop
        self.open = open
    }

    deinit { stop() }

    /// Opens the socket, now and again whenever that fails.
    public func start() {
        guard !isRunning else { return }
        isRunning = true
        connect()
    }

    /// Closes the socket. Commands under way end without a call.
    public func stop() {
        isRunning = false
        close()
        reopening?.cancel()
        reopening = nil
        for lane in lanes.values { lane.current?.limit?.cancel() }
        lanes.removeAll()
        state = .closed
    }

    /// Sends `command` when those before it have ended. `completion` is called once, later, unless the channel stops.
    public func send(
        _ command: ManagementCommand, to index: UInt16 = ManagementCommand.noController,
        completion: @escaping (ManagementOutcome) -> Void
    ) {
        guard state == .open, lanes[index, default: Lane()].waiting.count < ManagementLimits.waitingCommands else {
            if state == .open { counters.count(.queueFull) }
            loop.enqueue { completion(.lost) }
            return
        }
        lanes[index, default: Lane()].waiting.append(Pending(command, completion))
        sendNext(to: index)
    }

    /// Sends `command` at once, past those under way; its answer is not awaited. For the end of a process.
    public func post(_ command: ManagementCommand, to index: UInt16) { _ = write(command, to: index) }

    // MARK: Commands

    private func sendNext(to index: UInt16) {
        while lanes[index]?.current == nil, let next = lanes[index]?.waiting.popFirst() {
            guard write(next.command, to: index) else {
                // Some commands for a controller that is off fail in the call itself, and no answer follows.
                counters.count(.sendFailed)
                loop.enqueue { next.completion(.refused(.failed)) }
                continue
            }
            next.limit = loop.schedule(after: next.command.limit) { [weak self] in
                self?.counters.count(.commandTimeout)
                self?.noteUnanswered(next, at: index)
                self?.end(.timedOut, of: next, at: index)
            }
            lanes[index]?.current = next
        }
    }

    private func write(_ command: ManagementCommand, to index: UInt16) -> Bool {
        guard let socket else { return false }
        let message = command.message(to: index)
        return message.withUnsafeBytes { socket.send($0) } == .bytes(message.count)
    }

    private func end(_ outcome: ManagementOutcome, of pending: Pending, at index: UInt16) {
        guard lanes[index]?.current === pending else { return }
        pending.limit?.cancel()
        lanes[index]?.current = nil
        pending.completion(outcome)
        sendNext(to: index)
        if lanes[index]?.isIdle(at: loop.now.monotonic) == true { lanes[index] = nil }
    }

    /// What the kernel answers in the call itself is never late. Nor is an answer expected twice: the one that this
    /// command left to an earlier one was its own.
    private func noteUnanswered(_ pending: Pending, at index: UInt16) {
        guard !pending.command.isAnsweredAtOnce, !pending.hasYielded else { return }
        lanes[index]?.unanswered[pending.command.code] = loop.now.monotonic
    }

    private func answered(_ code: UInt16, _ outcome: ManagementOutcome, at index: UInt16) {
        let isLate = lanes[index]?.takeUnanswered(code, at: loop.now.monotonic) ?? false
        guard let pending = lanes[index]?.current, pending.command.code == code, !isLate else {
            if isLate, lanes[index]?.current?.command.code == code { lanes[index]?.current?.hasYielded = true }
            return counters.count(.strayAnswer)
        }
        // What was carried out later has been answered, so nothing of what came before it will be.
        if case .success = outcome, !pending.command.isAnsweredAtOnce { lanes[index]?.unanswered.removeAll() }
        end(outcome, of: pending, at: index)
    }

    /// Everything under way to a controller that is no more.
    private func abandon(_ index: UInt16) {
        guard let lane = lanes.removeValue(forKey: index) else { return }
        lane.current?.limit?.cancel()
        lane.current?.completion(.lost)
        var waiting = lane.waiting
        while let pending = waiting.popFirst() { pending.completion(.lost) }
    }

    // MARK: Socket

    private func connect() {
        switch open() {
        case .success(let socket):
            self.socket = socket
            state = .open
            pause = ManagementLimits.reopening.first
            watch = loop.watch(socket.raw, .read) { [weak self] _ in self?.read() }
            loop.enqueue { [weak self] in
                guard let self, self.state == .open else { return }
                self.delegate?.channelOpened()
            }
        case .failure(let error):
            switch error.code {
            case EPERM, EACCES: state = .forbidden
            case EAFNOSUPPORT, EPROTONOSUPPORT: state = .missing
            default: state = .closed
            }
            loop.enqueue { [weak self] in self?.delegate?.channelClosed() }
            connectLater()
        }
    }

    private func connectLater() {
        reopening = loop.schedule(after: pause) { [weak self] in
            guard let self, self.isRunning else { return }
            self.connect()
        }
        pause = min(pause * 2, ManagementLimits.reopening.last)
    }

    private func close() {
        watch?.cancel()
        watch = nil
        socket?.close()
        socket = nil
    }

    private func fail() {
        counters.count(.channelLost)
        close()
        state = .closed
        for index in lanes.keys.sorted() { abandon(index) }
        delegate?.channelClosed()
        if isRunning { connectLater() }
    }

    private func read() {
        for _ in 0..<ManagementLimits.readBatch {
            guard let socket else { return }
            let message = buffer.withUnsafeMutableBytes { socket.receiveMessage(into: $0) }
            switch message {
            case .length(let length) where length <= buffer.count:
                take(buffer.withUnsafeBytes { ManagementEvent.parse(UnsafeRawBufferPointer(rebasing: $0[..<length])) })
            case .length, .empty: counters.count(.malformedEvent)
            case .wouldBlock: return
            case .end, .failed: return fail()
            }
        }
    }

    private func take(_ parsed: ManagementEvent.Parsed) {
        switch parsed {
        case .malformed: counters.count(.malformedEvent)
        case .ignored: counters.count(.ignoredEvent)
        case .event(.answer(let command, let status, let parameters), let index):
            answered(command, status == .success ? .success(parameters) : .refused(status), at: index)
        case .event(let event, let index):
            if event == .indexRemoved { abandon(index) }
            delegate?.channelHeard(event, index: index)
        }
    }
}

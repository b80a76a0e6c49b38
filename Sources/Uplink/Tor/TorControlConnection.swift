import Basics
import EventLoop
import Glibc

/// Keeps a conversation with tor's control port going and reports what it tells. Reads only; connects again after every
/// end, by itself, until it is stopped.
final class TorControlConnection {
    var onObservation: ((TorObservation) -> Void)?

    private let loop: any EventLoop
    private let endpoint: LocalEndpoint
    private let cookiePath: String?
    private var random: any RandomNumberGenerator
    private var stream: (any ByteStream)?
    private var dialogue: TorControlDialogue?
    private var input = InputBuffer()
    /// Received, but for a later turn of the loop.
    private var unread: ArraySlice<UInt8> = []
    private var unsent: ArraySlice<UInt8> = []
    private var timer: (any Cancellable)?
    private var failures: Int64 = 0
    /// Counts connections: what an earlier one left in the loop is recognised and ignored.
    private var generation: UInt64 = 0

    init(
        loop: any EventLoop, endpoint: LocalEndpoint, cookiePath: String?,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.cookiePath = cookiePath
        self.random = random
    }

    deinit { stop() }

    func start() {
        guard stream == nil, timer == nil else { return }
        let stream = endpoint.makeStream(on: loop)
        self.stream = stream
        stream.delegate = self
        arm(after: TorLimits.answerTimeout) { $0.end(.silent) }
        stream.open()
    }

    /// Nothing is reported any more, and nothing left open.
    func stop() {
        disconnect()
        onObservation = nil
    }

    private func disconnect() {
        generation += 1
        timer?.cancel()
        timer = nil
        stream?.delegate = nil
        stream?.close()
        stream = nil
        dialogue = nil
        _ = input.takeAll()
        (unread, unsent) = ([], [])
    }

    private func end(_ fault: TorControlFault) {
        disconnect()
        let delay = min(TorLimits.firstReconnect * (1 << min(failures, 8)), TorLimits.slowestReconnect)
        failures += 1
        arm(after: delay) {
            $0.timer = nil
            $0.start()
        }
        onObservation?(.lost(fault))
    }

    private func arm(after delay: Interval, _ action: @escaping (TorControlConnection) -> Void) {
        timer?.cancel()
        timer = loop.schedule(after: delay) { [weak self, generation] in
            guard let self, self.generation == generation else { return }
            action(self)
        }
    }

    private func armForDialogue() {
        guard let due = dialogue?.nextDeadline else { return }
        arm(after: max(.zero, due - loop.now.monotonic)) { connection in
            do throws(TorControlFault) {
                try connection.dialogue?.timeout(at: connection.loop.now.monotonic)
                connection.settle()
            } catch {
                connection.end(error)
            }
        }
    }

    // MARK: Bytes

    private func pump() {
        let generation = self.generation
        while self.generation == generation {
            if unread.isEmpty {
                guard let stream else { return }
                switch input.fill(from: stream) {
                case .bytes: unread = input.takeAll()
                case .wouldBlock: return settle()
                case .end, .failed: return end(.ended)
                }
            }
            do throws(TorControlFault) {
                let isDone = try dialogue?.receive(&unread, at: loop.now.monotonic) ?? true
                settle()
                if !isDone { return pumpLater() }
            } catch {
                return end(error)
            }
        }
    }

    private func pumpLater() {
        stream?.interest = []
        loop.enqueue { [weak self, generation] in
            if let self, self.generation == generation { self.pump() }
        }
    }

    /// Sends what is to be said, reports what was learned, and arms the timer.
    private func settle() {
        let generation = self.generation
        while let observation = dialogue?.takeObservation() {
            if case .connected = observation { failures = 0 }
            onObservation?(observation)
            guard self.generation == generation else { return }
        }
        unsent += dialogue?.takeOutput() ?? []
        while let stream, !unsent.isEmpty {
            let transfer = unsent.withUnsafeBytes { stream.write($0) }
            if case .bytes(let count) = transfer {
                unsent = unsent.dropFirst(count)
            } else if transfer == .wouldBlock {
                break
            } else {
                return end(.ended)
            }
        }
        stream?.interest = unsent.isEmpty ? .read : [.read, .write]
        armForDialogue()
    }
}

extension TorControlConnection: ByteStreamDelegate {
    func streamOpened() {
        dialogue = TorControlDialogue(
            cookiePath: cookiePath, nonce: random.bytes(TorLimits.cookieBytes), at: loop.now.monotonic,
            readCookie: TorCookieFile.read)
        settle()
    }

    func streamFailed(_ failure: StreamFailure) {
        let code = (stream as? UnixStream)?.error?.code
        let isForbidden = code == EACCES || code == EPERM
        end(isForbidden ? .forbidden("no permission to connect to \(endpoint)") : .absent(failure.description))
    }

    func streamReady(_ ready: IOInterest) { pump() }
}

import Basics
import EventLoop

/// One client of the control socket, as the daemon sees it.
final class ControlClientConnection {
    /// Answers one request line.
    var onLine: (([UInt8]) -> [UInt8])?
    /// The connection is over; a reason when the daemon ended it.
    var onEnd: ((ControlEvent?) -> Void)?

    private let descriptor: FileDescriptor
    private let loop: any EventLoop
    private var watch: (any Cancellable)?
    private var awaited: IOInterest = []
    private let idle: Interval
    private var idleTimer: (any Cancellable)?
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var isEnding = false

    init(_ descriptor: FileDescriptor, loop: any EventLoop, idle: Interval) {
        self.descriptor = descriptor
        self.idle = idle
        self.loop = loop
    }

    func start() {
        wait(for: .read)
        restartIdleTimer()
    }

    func close() {
        watch?.cancel()
        idleTimer?.cancel()
        descriptor.close()
    }

    private func end(_ reason: ControlEvent?) {
        close()
        onEnd?(reason)
    }

    private func wait(for interest: IOInterest) {
        guard interest != awaited else { return }
        awaited = interest
        watch?.cancel()
        watch = loop.watch(descriptor.raw, interest) { [weak self] ready in
            if ready.contains(.write) { self?.flush() } else { self?.receive() }
        }
    }

    private func restartIdleTimer() {
        idleTimer?.cancel()
        idleTimer = loop.schedule(after: idle) { [weak self] in self?.end(.clientIdle) }
    }

    private static let overlong = ControlAnswer.refused(
        ControlError(code: "too_much", message: "the answer has more than \(ControlLimits.answerSize) bytes")
    ).line

    private func receive() {
        let room = ControlLimits.requestSize + 1 - input.count
        let result = withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { buffer in
            let result = descriptor.read(into: buffer)
            if case .bytes(let count) = result { input += buffer[..<count] }
            return result
        }
        switch result {
        case .bytes: takeLines()
        case .wouldBlock: break
        case .end, .failed: end(nil)
        }
    }

    private func takeLines() {
        var rest = input[...]
        // Only a whole request extends the timeout, so that occasional bytes cannot occupy a connection.
        if rest.contains(0x0a) { restartIdleTimer() }
        while let newline = rest.firstIndex(of: 0x0a) {
            guard output.count <= ControlLimits.unreadSize else { return end(.clientNotReading) }
            let answer = onLine?(Array(rest[..<newline])) ?? []
            output += answer.count <= ControlLimits.answerSize ? answer : ControlClientConnection.overlong
            rest = rest[(newline + 1)...]
        }
        input = Array(rest)
        guard input.count <= ControlLimits.requestSize else {
            output +=
                ControlAnswer.refused(
                    ControlError(
                        code: "too_long",
                        message: "a request has at most \(ControlLimits.requestSize) bytes before its newline")
                ).line
            isEnding = true
            return flush()
        }
        flush()
    }

    /// Sends what fits. While answers wait, no further request is read: a client that does not read cannot make the
    /// daemon work.
    private func flush() {
        while !output.isEmpty {
            switch output.withUnsafeBytes({ descriptor.send($0) }) {
            case .bytes(let count): output.removeFirst(count)
            case .wouldBlock: return wait(for: .write)
            case .end, .failed: return end(nil)
            }
        }
        if isEnding { return end(.overlongRequest) }
        wait(for: .read)
    }
}

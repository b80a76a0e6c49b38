import EventLoop
import Glibc

/// Lines from an input that is no terminal.
public final class PipeInput {
    public var onLine: ((String) -> Void)?
    public var onEnd: (() -> Void)?

    /// A longer line is given out in pieces; so no more than this and a chunk of the input is in memory.
    static let lineLimit = 65_536
    static let chunk = 4_096
    private let loop: any EventLoop
    private let descriptor: Int32
    private var watch: (any Cancellable)?
    private var buffer: [UInt8] = []
    private var isPaused = false
    private var hasEnded = false

    /// - Parameter descriptor: stays the caller's.
    public init(loop: any EventLoop, descriptor: Int32 = STDIN_FILENO) {
        self.loop = loop
        self.descriptor = descriptor
    }

    public func start() { giveOut() }

    /// Neither reads nor gives out anything: what is written meanwhile waits in the pipe, and its writer with it.
    public func pause() {
        isPaused = true
        stopWatching()
    }

    public func resume() {
        guard isPaused else { return }
        isPaused = false
        giveOut()
    }

    private func stopWatching() {
        watch?.cancel()
        watch = nil
    }

    private func read() {
        let count = withUnsafeTemporaryAllocation(byteCount: PipeInput.chunk, alignment: 1) { chunk in
            let count = Glibc.read(descriptor, chunk.baseAddress, chunk.count)
            if count > 0 { buffer += chunk[..<count] }
            return count
        }
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        hasEnded = count <= 0
        giveOut()
    }

    private func giveOut() {
        while !isPaused {
            if let newline = buffer.firstIndex(of: 0x0a), newline <= PipeInput.lineLimit {
                take(newline, dropping: 1)
            } else if buffer.count > PipeInput.lineLimit {
                take(PipeInput.lineLimit, dropping: 0)
            } else if hasEnded, !buffer.isEmpty {
                take(buffer.count, dropping: 0)
            } else {
                return hasEnded ? finish() : watchOn()
            }
        }
    }

    private func watchOn() {
        guard watch == nil else { return }
        watch = loop.watch(descriptor, .read) { [weak self] _ in self?.read() }
    }

    private func finish() {
        stopWatching()
        let end = onEnd
        onEnd = nil
        end?()
    }

    private func take(_ count: Int, dropping end: Int) {
        let line = String(decoding: buffer.prefix(count), as: UTF8.self)
        buffer.removeFirst(count + end)
        onLine?(line)
    }
}

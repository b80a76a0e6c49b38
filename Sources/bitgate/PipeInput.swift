import EventLoop
import Glibc

/// Lines from a standard input that is no terminal.
final class PipeInput {
    var onLine: ((String) -> Void)?
    var onEnd: (() -> Void)?

    /// A longer line is given out in pieces.
    private static let lineLimit = 65_536
    private let loop: any EventLoop
    private var watch: (any Cancellable)?
    private var buffer: [UInt8] = []

    init(loop: any EventLoop) { self.loop = loop }

    func start() {
        watch = loop.watch(STDIN_FILENO, .read) { [weak self] _ in self?.read() }
    }

    private func read() {
        let count = withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { chunk in
            let count = Glibc.read(STDIN_FILENO, chunk.baseAddress, chunk.count)
            if count > 0 { buffer += chunk[..<count] }
            return count
        }
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        while let newline = buffer.firstIndex(of: 0x0a) { take(newline, dropping: 1) }
        if buffer.count > PipeInput.lineLimit { take(PipeInput.lineLimit, dropping: 0) }
        guard count <= 0 else { return }
        if !buffer.isEmpty { take(buffer.count, dropping: 0) }
        watch?.cancel()
        onEnd?()
    }

    private func take(_ count: Int, dropping end: Int) {
        let line = String(decoding: buffer.prefix(count), as: UTF8.self)
        buffer.removeFirst(count + end)
        onLine?(line)
    }
}

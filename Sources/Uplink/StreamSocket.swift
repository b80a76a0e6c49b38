import EventLoop
import Glibc

/// The connected socket under a stream, whatever kind it is: reads, writes and tells of readiness.
struct StreamSocket {
    private(set) var descriptor: FileDescriptor?
    private var watch: (any Cancellable)?
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    /// Takes a socket that is connected, or about to be.
    mutating func use(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        descriptor.map { StreamTransfer($0.read(into: buffer)) } ?? .wouldBlock
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        descriptor.map { StreamTransfer($0.send(bytes)) } ?? .wouldBlock
    }

    func finishWriting() {
        if let descriptor { shutdown(descriptor.raw, Int32(SHUT_WR)) }
    }

    /// Sets the events to report, replacing the former set; an empty set reports none.
    mutating func report(_ interest: IOInterest, to action: @escaping (IOInterest) -> Void) {
        watch?.cancel()
        watch = nil
        guard let descriptor, !interest.isEmpty else { return }
        watch = loop.watch(descriptor.raw, interest, action)
    }

    mutating func close() {
        watch?.cancel()
        watch = nil
        descriptor?.close()
        descriptor = nil
    }
}

extension StreamTransfer {
    init(_ transfer: FileDescriptor.Transfer) {
        switch transfer {
        case .bytes(let count): self = .bytes(count)
        case .wouldBlock: self = .wouldBlock
        case .end: self = .end
        case .failed(let error): self = .failed(.failed(error.description))
        }
    }
}

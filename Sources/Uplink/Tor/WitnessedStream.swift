import Basics
import EventLoop

/// A stream that tells what it shows of the way it goes: that bytes came over it, or that it was given up because none
/// did.
final class WitnessedStream: ByteStream {
    weak var delegate: (any ByteStreamDelegate)?

    private let loop: any EventLoop
    private let stream: any ByteStream
    private let witness: (RouteEvidence) -> Void
    /// When bytes last came, or the connection; `nil` while there is none.
    private var lastHeard: Instant?

    init(_ stream: any ByteStream, loop: any EventLoop, witness: @escaping (RouteEvidence) -> Void) {
        self.stream = stream
        self.loop = loop
        self.witness = witness
    }

    var interest: IOInterest {
        get { stream.interest }
        set { stream.interest = newValue }
    }

    func open() {
        stream.delegate = self
        stream.open()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        let transfer = stream.read(into: buffer)
        if case .bytes = transfer {
            lastHeard = loop.now.monotonic
            witness(.worked)
        }
        return transfer
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer { stream.write(bytes) }

    func finishWriting() { stream.finishWriting() }

    func close() {
        stream.delegate = nil
        stream.close()
        guard let lastHeard else { return }
        self.lastHeard = nil
        // Whoever keeps a connection asks for a sign of life after 45 s, and closes it when none has come 30 s later
        // (chapter 05 §6.1): a circuit that is frozen shows in no other way.
        if loop.now.monotonic - lastHeard >= TorLimits.silence {
            witness(.fellSilent("a connection has fallen silent"))
        }
    }
}

extension WitnessedStream: ByteStreamDelegate {
    func streamOpened() {
        lastHeard = loop.now.monotonic
        delegate?.streamOpened()
    }

    func streamFailed(_ failure: StreamFailure) { delegate?.streamFailed(failure) }

    func streamReady(_ ready: IOInterest) { delegate?.streamReady(ready) }
}

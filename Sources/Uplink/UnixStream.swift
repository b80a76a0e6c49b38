import EventLoop
import Glibc

/// A connection to a Unix socket of this machine.
final class UnixStream: ByteStream {
    weak var delegate: (any ByteStreamDelegate)?
    /// Why `open` failed.
    private(set) var error: SystemError?

    private let loop: any EventLoop
    private let path: String
    private var socket: FileDescriptor?
    private var watch: (any Cancellable)?
    private var isConnected = false
    private var isClosed = false

    init(loop: any EventLoop, path: String) {
        self.loop = loop
        self.path = path
    }

    deinit { close() }

    var interest: IOInterest = [] {
        didSet { if interest != oldValue, isConnected { watchInterest() } }
    }

    func open() {
        guard socket == nil, !isClosed else { return }
        do throws(SystemError) {
            socket = try UnixSocket.connect(.stream, to: path)
        } catch {
            self.error = error
        }
        loop.enqueue { [weak self] in self?.opened() }
    }

    private func opened() {
        guard !isClosed else { return }
        guard socket != nil else {
            close()
            delegate?.streamFailed(.failed(error?.description ?? ""))
            return
        }
        isConnected = true
        watchInterest()
        delegate?.streamOpened()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        guard let socket, isConnected else { return .wouldBlock }
        return StreamTransfer(socket.read(into: buffer))
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        guard let socket, isConnected else { return .wouldBlock }
        return StreamTransfer(socket.send(bytes))
    }

    func finishWriting() {
        if let socket, isConnected { shutdown(socket.raw, Int32(SHUT_WR)) }
    }

    func close() {
        isClosed = true
        watch?.cancel()
        watch = nil
        isConnected = false
        socket?.close()
        socket = nil
    }

    private func watchInterest() {
        watch?.cancel()
        watch = nil
        guard let socket, !interest.isEmpty else { return }
        watch = loop.watch(socket.raw, interest) { [weak self] in self?.delegate?.streamReady($0) }
    }
}

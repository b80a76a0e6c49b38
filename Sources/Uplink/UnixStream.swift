import EventLoop

/// A connection to a Unix socket of this machine.
final class UnixStream: ByteStream {
    weak var delegate: (any ByteStreamDelegate)?
    /// Why `open` failed.
    private(set) var error: SystemError?

    private let loop: any EventLoop
    private let path: String
    private var socket: StreamSocket
    private var isConnected = false
    private var isClosed = false

    init(loop: any EventLoop, path: String) {
        self.loop = loop
        self.path = path
        socket = StreamSocket(loop: loop)
    }

    deinit { close() }

    var interest: IOInterest = [] {
        didSet { if interest != oldValue, isConnected { watchInterest() } }
    }

    func open() {
        guard socket.descriptor == nil, !isClosed else { return }
        do throws(SystemError) {
            socket.use(try UnixSocket.connect(.stream, to: path))
        } catch {
            self.error = error
        }
        loop.enqueue { [weak self] in self?.opened() }
    }

    private func opened() {
        guard !isClosed else { return }
        guard socket.descriptor != nil else {
            close()
            delegate?.streamFailed(.failed(error?.description ?? ""))
            return
        }
        isConnected = true
        watchInterest()
        delegate?.streamOpened()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        isConnected ? socket.read(into: buffer) : .wouldBlock
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        isConnected ? socket.write(bytes) : .wouldBlock
    }

    func finishWriting() {
        if isConnected { socket.finishWriting() }
    }

    func close() {
        isClosed = true
        isConnected = false
        socket.close()
    }

    private func watchInterest() {
        socket.report(interest) { [weak self] in self?.delegate?.streamReady($0) }
    }
}

import Basics
import EventLoop
import Glibc

/// A TCP connection to a numeric address.
public final class TCPStream: ByteStream {
    public weak var delegate: (any ByteStreamDelegate)?

    private let loop: any EventLoop
    private let endpoint: IPEndpoint
    private let timeout: Interval
    private var deadline: (any Cancellable)?
    private var socket: StreamSocket
    private var isConnected = false

    /// - Parameter timeout: for connecting.
    public init(loop: any EventLoop, endpoint: IPEndpoint, timeout: Interval = .seconds(15)) {
        self.loop = loop
        self.endpoint = endpoint
        self.timeout = timeout
        socket = StreamSocket(loop: loop)
    }

    deinit { close() }

    public var interest: IOInterest = [] {
        didSet { if interest != oldValue, isConnected { watchInterest() } }
    }

    public func open() {
        guard self.socket.descriptor == nil else { return }
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let socket = FileDescriptor(owning: Glibc.socket(endpoint.family, Int32(type), 0))
        self.socket.use(socket)
        guard socket.isOpen else { return failLater(.last("socket")) }
        var on: Int32 = 1
        setsockopt(socket.raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if endpoint.withSocketAddress({ connect(socket.raw, $0, $1) }) != 0, errno != EINPROGRESS {
            return failLater(.last("connect", subject: endpoint.description))
        }
        self.socket.report(.write) { [weak self] _ in self?.connected() }
        deadline = loop.schedule(after: timeout) { [weak self] in self?.timedOut() }
    }

    private func timedOut() {
        close()
        let seconds = timeout.milliseconds / 1_000
        delegate?.streamFailed(.timedOut("\(endpoint): connect: no answer within \(seconds) s"))
    }

    private func connected() {
        socket.report([]) { _ in }
        deadline?.cancel()
        deadline = nil
        if let error = socket.descriptor?.takeSocketError() {
            return fail(SystemError("connect", code: error.code, subject: endpoint.description))
        }
        isConnected = true
        watchInterest()
        delegate?.streamOpened()
    }

    private func failLater(_ error: SystemError) {
        loop.enqueue { [weak self] in self?.fail(error) }
    }

    private func fail(_ error: SystemError) {
        guard socket.descriptor != nil else { return }
        close()
        delegate?.streamFailed(TCPStream.failure(error))
    }

    /// What an error of `connect` says. No way to any network is a cable that is out, and says nothing of the server.
    static func failure(_ error: SystemError) -> StreamFailure {
        switch error.code {
        case ENETUNREACH, ENETDOWN: .routeUnavailable(error.description)
        case ECONNREFUSED, ECONNRESET, EHOSTUNREACH: .refused(error.description)
        default: .failed(error.description)
        }
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        isConnected ? socket.read(into: buffer) : .wouldBlock
    }

    public func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        isConnected ? socket.write(bytes) : .wouldBlock
    }

    public func finishWriting() {
        if isConnected { socket.finishWriting() }
    }

    public func close() {
        deadline?.cancel()
        deadline = nil
        isConnected = false
        socket.close()
    }

    private func watchInterest() {
        socket.report(interest) { [weak self] in self?.delegate?.streamReady($0) }
    }
}

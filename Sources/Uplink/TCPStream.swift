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
    private var socket: FileDescriptor?
    private var watch: (any Cancellable)?
    private var isConnected = false

    /// - Parameter timeout: for connecting.
    public init(loop: any EventLoop, endpoint: IPEndpoint, timeout: Interval = .seconds(15)) {
        self.loop = loop
        self.endpoint = endpoint
        self.timeout = timeout
    }

    deinit { close() }

    public var interest: IOInterest = [] {
        didSet { if interest != oldValue, isConnected { watchInterest() } }
    }

    public func open() {
        guard socket == nil else { return }
        let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let socket = FileDescriptor(owning: Glibc.socket(endpoint.family, Int32(type), 0))
        self.socket = socket
        guard socket.isOpen else { return failLater(.last("socket")) }
        var on: Int32 = 1
        setsockopt(socket.raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if endpoint.withSocketAddress({ connect(socket.raw, $0, $1) }) != 0, errno != EINPROGRESS {
            return failLater(.last("connect", subject: endpoint.description))
        }
        watch = loop.watch(socket.raw, .write) { [weak self] _ in self?.connected() }
        deadline = loop.schedule(after: timeout) { [weak self] in self?.timedOut() }
    }

    private func timedOut() {
        close()
        let seconds = timeout.milliseconds / 1_000
        delegate?.streamFailed(.timedOut("\(endpoint): connect: no answer within \(seconds) s"))
    }

    private func connected() {
        watch?.cancel()
        watch = nil
        deadline?.cancel()
        deadline = nil
        if let error = socket?.takeSocketError() {
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
        guard socket != nil else { return }
        close()
        let isRefusal = [ECONNREFUSED, ECONNRESET, ENETUNREACH, EHOSTUNREACH].contains(error.code)
        delegate?.streamFailed(isRefusal ? .refused(error.description) : .failed(error.description))
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        guard let socket, isConnected else { return .wouldBlock }
        return StreamTransfer(socket.read(into: buffer))
    }

    public func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        guard let socket, isConnected else { return .wouldBlock }
        return StreamTransfer(socket.send(bytes))
    }

    public func finishWriting() {
        if let socket, isConnected { shutdown(socket.raw, Int32(SHUT_WR)) }
    }

    public func close() {
        watch?.cancel()
        watch = nil
        deadline?.cancel()
        deadline = nil
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

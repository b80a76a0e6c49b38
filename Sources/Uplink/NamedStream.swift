import Basics
import EventLoop

/// A TCP connection to a host name in direct mode: looks it up, then tries its addresses one after another.
final class NamedStream: ByteStream {
    weak var delegate: (any ByteStreamDelegate)?

    private let loop: any EventLoop
    private let resolver: any NameResolver
    private let host: String
    private let port: UInt16
    private var query: (any Cancellable)?
    private var deadline: (any Cancellable)?
    private var waiting: ArraySlice<IPEndpoint> = []
    private var stream: TCPStream?
    /// What one of its addresses said of the server, which tells more than that there is no way to another.
    private var verdict: StreamFailure?
    private var isOpen = false
    private var isDone = false

    init(loop: any EventLoop, resolver: any NameResolver, host: String, port: UInt16) {
        self.loop = loop
        self.resolver = resolver
        self.host = host
        self.port = port
    }

    deinit { close() }

    var interest: IOInterest = [] {
        didSet { if isOpen { stream?.interest = interest } }
    }

    func open() {
        guard query == nil, !isDone else { return }
        deadline = loop.schedule(after: UplinkLimits.resolveTimeout) { [weak self] in
            guard let self else { return }
            fail(.routeUnavailable("\(host) cannot be looked up: the name servers do not answer"))
        }
        query = resolver.resolve(host) { [weak self] in self?.resolved($0) }
    }

    private func resolved(_ result: Result<[String], NameQuery.Failure>) {
        guard !isDone else { return }
        query = nil
        deadline?.cancel()
        deadline = nil
        switch result {
        case .success(let addresses):
            waiting = addresses.compactMap { IPEndpoint(literal: $0, port: port) }.prefix(UplinkLimits.addresses)
            guard !waiting.isEmpty else { return fail(.nameUnusable("\(host): it has no usable address")) }
            tryNext()
        case .failure(.noSuchName): fail(.nameUnusable("\(host): there is no such name"))
        case .failure(.unavailable(let reason)): fail(.routeUnavailable("\(host) cannot be looked up: \(reason)"))
        }
    }

    private func tryNext() {
        guard let endpoint = waiting.popFirst() else { return }
        let stream = TCPStream(loop: loop, endpoint: endpoint, timeout: UplinkLimits.directTimeout)
        self.stream = stream
        stream.delegate = self
        stream.open()
    }

    private func fail(_ failure: StreamFailure) {
        guard !isDone else { return }
        close()
        delegate?.streamFailed(failure)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        stream?.read(into: buffer) ?? .wouldBlock
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer { stream?.write(bytes) ?? .wouldBlock }

    func finishWriting() { stream?.finishWriting() }

    func close() {
        isDone = true
        isOpen = false
        query?.cancel()
        query = nil
        deadline?.cancel()
        deadline = nil
        stream?.delegate = nil
        stream?.close()
        stream = nil
    }
}

extension NamedStream: ByteStreamDelegate {
    func streamOpened() {
        isOpen = true
        stream?.interest = interest
        delegate?.streamOpened()
    }

    func streamFailed(_ failure: StreamFailure) {
        if case .routeUnavailable = failure {} else { verdict = failure }
        if waiting.isEmpty { fail(verdict ?? failure) } else { tryNext() }
    }

    func streamReady(_ ready: IOInterest) { delegate?.streamReady(ready) }
}

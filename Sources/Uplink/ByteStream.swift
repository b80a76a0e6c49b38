import EventLoop

/// An outbound connection as an ordered stream of bytes: plain TCP, or layers over it (a SOCKS5 proxy, TLS) that each
/// take a `ByteStream` and are one.
public protocol ByteStream: AnyObject {
    var delegate: (any ByteStreamDelegate)? { get set }

    /// What to report through `streamReady`, again and again while it lasts. Empty until set.
    var interest: IOInterest { get set }

    /// Begins connecting. `streamOpened` or `streamFailed` follows, never from inside this call.
    func open()

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer
    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer

    /// Tells the other side that nothing more will be written; reading goes on.
    func finishWriting()

    /// Closes at once. No delegate call follows.
    func close()
}

public protocol ByteStreamDelegate: AnyObject {
    /// Connected: reading and writing may begin.
    func streamOpened()
    /// Connecting failed; the stream is closed.
    func streamFailed(_ failure: StreamFailure)
    func streamReady(_ ready: IOInterest)
}

public enum StreamTransfer: Equatable {
    /// This many bytes moved, at least one.
    case bytes(Int)
    /// Nothing can move now; wait for readiness.
    case wouldBlock
    /// The other side has finished sending.
    case end
    case failed(StreamFailure)
}

/// Why there is no connection, in the classes the redial rules need (chapter 05 §6.3). The texts are for the operator
/// and hold nothing a server chose freely.
public enum StreamFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The host's name means nothing, by what a resolver or the proxy says: not worth retrying soon.
    case nameUnusable(String)
    /// This build or this configuration cannot carry such a connection; the text names what is needed.
    case unsupported(String)
    /// The way out is not there: the gate is closed, or the proxy is down or refuses us. Says nothing about the server,
    /// so it must not count against it.
    case routeUnavailable(String)
    /// The server, or the network before it, turned the connection down.
    case refused(String)
    case tlsFailed(TLSFailure)
    case timedOut(String)
    /// Everything else.
    case failed(String)

    /// Redialling soon is pointless.
    public var isPermanent: Bool {
        switch self {
        case .nameUnusable, .unsupported: true
        case .routeUnavailable, .refused, .tlsFailed, .timedOut, .failed: false
        }
    }

    public var description: String {
        switch self {
        case .nameUnusable(let text), .unsupported(let text), .routeUnavailable(let text), .refused(let text),
            .timedOut(let text), .failed(let text):
            text
        case .tlsFailed(let failure): failure.description
        }
    }
}

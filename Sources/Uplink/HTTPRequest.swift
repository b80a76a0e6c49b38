import Basics
import EventLoop

public struct HTTPResponse: Equatable, Sendable {
    public let body: [UInt8]
    /// What the server says the body is, in lower case and without parameters; empty when it does not say.
    public let mediaType: String
}

/// Why there is no response. Holds nothing the server sent except numbers.
public enum HTTPFailure: Error, Equatable, Sendable, CustomStringConvertible {
    case stream(StreamFailure)
    /// Not 200–299. Redirects are among these: they are never followed.
    case status(Int)
    case tooLong(limit: Int)
    /// The connection ended before the response did.
    case truncated
    /// Not HTTP, or HTTP that two readers could understand in two ways.
    case malformed
    case timedOut

    public var description: String {
        switch self {
        case .stream(let failure): failure.description
        case .status(let code): "the server answered HTTP \(code)"
        case .tooLong(let limit): "the answer is longer than \(limit) bytes"
        case .truncated: "the connection was cut off before the answer was complete"
        case .malformed: "the server's answer is not HTTP that can be understood"
        case .timedOut: "the server's answer took too long"
        }
    }
}

/// One GET over one connection, for the relay directory (chapter 05 §14.3) and for what a relay says about itself
/// (NIP-11). No redirects, no cookies, no cache, nothing that identifies the client. Used once.
///
/// Releasing it ends the request without a further call.
public final class HTTPRequest {
    public struct Outcome {
        public let result: Result<HTTPResponse, HTTPFailure>
        /// What the server says the time is, whatever else it says.
        public let date: ServerDate?
    }

    private let loop: any EventLoop
    private let dialer: any StreamDialer
    private let address: WebSocketAddress
    private let isolation: StreamIsolation
    private let timeout: Interval
    private var completion: ((Outcome) -> Void)?
    private var isStarted = false
    private var stream: (any ByteStream)?
    private var deadline: (any Cancellable)?
    private var unsent: ArraySlice<UInt8>
    private var input = InputBuffer()
    private var parser: HTTPResponseParser
    private var asked = Instant.zero
    private var answered: Instant?

    /// - Parameters:
    ///   - accept: the media type asked for, which must be plain ASCII; nil for any.
    ///   - bodyLimit: of the response, in bytes.
    ///   - timeout: from the connection being made to the end of the response.
    ///   - completion: called once, never from inside a call to this object.
    public init(
        loop: any EventLoop, address: WebSocketAddress, accept: String? = nil, dialer: any StreamDialer,
        isolation: StreamIsolation, bodyLimit: Int, timeout: Interval, completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.dialer = dialer
        self.address = address
        self.isolation = isolation
        self.timeout = timeout
        self.completion = completion
        parser = HTTPResponseParser(bodyLimit: bodyLimit)
        var lines = ["GET \(address.resource) HTTP/1.1", "Host: \(address.hostHeader)", "Connection: close"]
        if let accept { lines.append("Accept: \(accept)") }
        unsent = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)[...]
    }

    deinit { cancel() }

    public func start() {
        guard !isStarted, completion != nil else { return }
        isStarted = true
        arm(UplinkLimits.connectTimeout)
        do throws(StreamFailure) {
            let stream = try dialer.makeStream(to: address, isolation: isolation)
            self.stream = stream
            stream.delegate = self
            stream.open()
        } catch {
            loop.enqueue { [weak self] in self?.finish(.failure(.stream(error))) }
        }
    }

    /// Ends it without calling `completion`.
    public func cancel() {
        completion = nil
        deadline?.cancel()
        deadline = nil
        stream?.delegate = nil
        stream?.close()
        stream = nil
    }

    private func arm(_ limit: Interval) {
        deadline?.cancel()
        deadline = loop.schedule(after: limit) { [weak self] in self?.finish(.failure(.timedOut)) }
    }

    private func finish(_ result: Result<HTTPResponse, HTTPFailure>) {
        guard let completion else { return }
        let date = parser.head?.date.map {
            ServerDate(date: $0, asked: asked, answered: answered ?? loop.now.monotonic)
        }
        cancel()
        completion(Outcome(result: result, date: date))
    }

    // MARK: Traffic

    private func exchange() {
        while let stream, !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock:
                stream.interest = [.read, .write]
                return receive()
            case .end: return finish(.failure(.truncated))
            case .failed(let failure): return finish(.failure(.stream(failure)))
            }
        }
        stream?.interest = .read
        receive()
    }

    private func receive() {
        for _ in 0..<UplinkLimits.readsPerTurn {
            guard let stream else { return }
            switch input.fill(from: stream) {
            case .bytes:
                let outcome = parser.receive(input.takeAll())
                if answered == nil, parser.head != nil { answered = loop.now.monotonic }
                if settle(outcome) { return }
            case .wouldBlock: return
            case .end:
                _ = settle(parser.finish())
                return
            case .failed(.tlsFailed(.truncated)): return finish(.failure(.truncated))
            case .failed(let failure): return finish(.failure(.stream(failure)))
            }
        }
    }

    private func settle(_ outcome: HTTPResponseParser.Outcome) -> Bool {
        switch outcome {
        case .incomplete: return false
        case .failed(let failure): finish(.failure(failure))
        case .complete:
            let type = parser.head?.values("content-type").first ?? ""
            let essence = type.prefix { $0 != ";" && $0 != " " }.lowercased()
            finish(.success(HTTPResponse(body: parser.body, mediaType: essence)))
        }
        return true
    }
}

extension HTTPRequest: ByteStreamDelegate {
    public func streamOpened() {
        asked = loop.now.monotonic
        arm(timeout)
        exchange()
    }

    public func streamFailed(_ failure: StreamFailure) { finish(.failure(.stream(failure))) }

    public func streamReady(_ ready: IOInterest) { exchange() }
}

import Basics
import EventLoop
import Uplink

extension FuzzTarget {
    static let uplink = [
        FuzzTarget("socks-proxy", checkProxy), FuzzTarget("http-response", checkResponse),
        FuzzTarget("websocket-server", checkServer), FuzzTarget("tls-server", checkHandshake),
    ]

    private static let isolation = StreamIsolation(user: "relay", password: "fuzz")

    private static func checkProxy(_ buffer: UnsafeRawBufferPointer) {
        let loop = EmbeddedLoop()
        let transport = FuzzStream(buffer)
        let stream = SOCKSStream(loop: loop, proxy: transport, host: "relay.example", port: 443, isolation: isolation)
        var outcomes = 0
        stream.onOutcome = { _ in outcomes += 1 }
        let user = FuzzUser(stream)
        stream.open()
        transport.run(loop)
        require(user.opened + user.failed == 1 && outcomes == 1, "a proxy's answers have one outcome")
        if user.opened == 1 {
            // Greeting, authentication, and a reply whose address is an empty name at the least.
            require(user.received <= max(0, transport.total - 11), "the reply is not taken for the server's bytes")
        }
    }

    private static func checkResponse(_ buffer: UnsafeRawBufferPointer) {
        let loop = EmbeddedLoop()
        let transport = FuzzStream(buffer)
        guard let address = try? WebSocketAddress(parsingHTTP: "http://files.example/x") else { return }
        var outcomes = 0
        let request = HTTPRequest(
            loop: loop, address: address, dialer: FuzzDialer(transport), isolation: isolation, bodyLimit: 1_000,
            timeout: .seconds(15)
        ) { outcome in
            outcomes += 1
            if case .success(let response) = outcome.result {
                require(response.body.count <= 1_000, "a body keeps its bound")
            }
        }
        request.start()
        transport.run(loop)
        loop.advance(by: .seconds(15))
        require(outcomes == 1 && transport.isClosed && loop.isIdle, "a request ends, once")
    }

    /// The server's bytes follow its answer to the upgrade, the right one for the key that this generator gives.
    private static func checkServer(_ buffer: UnsafeRawBufferPointer) {
        let loop = EmbeddedLoop()
        let answer =
            "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: iaJ41DPjhsQ5WyA1w3/s7pqlXnU=\r\n\r\n"
        let transport = FuzzStream(buffer, after: Array(answer.utf8))
        guard let address = try? WebSocketAddress(parsing: "ws://relay.example") else { return }
        let socket = WebSocketClient(
            loop: loop, address: address, dialer: FuzzDialer(transport), isolation: isolation,
            random: SeededRandom(seed: 1), keepAlive: nil)
        let log = FuzzSocketLog()
        socket.delegate = log
        socket.open()
        transport.run(loop)
        loop.advance(by: .seconds(5))
        require(log.opened == 1 && log.closed == 1, "a socket opens once and closes once")
        require(transport.isClosed && loop.isIdle, "nothing is left of a closed socket")
    }

    private static func checkHandshake(_ buffer: UnsafeRawBufferPointer) {
        guard let trust = fuzzTrust else { return }
        let loop = EmbeddedLoop()
        let transport = FuzzStream(buffer)
        let stream = TLSStream(
            loop: loop, transport: transport, host: "relay.example", trust: trust,
            time: { WallTime(milliseconds: 1_800_000_000_000) })
        let user = FuzzUser(stream)
        stream.open()
        transport.run(loop)
        require(user.opened == 0 && user.failed == 1, "nobody is trusted without a certificate")
    }
}

/// Made once, since it takes longer than what is under test. Only ever used by the one thread there is.
nonisolated(unsafe) private let fuzzTrust = try? TLSTrust()

/// A transport that hands out fuzz bytes, the first of which says in which pieces, and then ends.
private final class FuzzStream: ByteStream {
    weak var delegate: (any ByteStreamDelegate)?
    var interest: IOInterest = []
    private(set) var isClosed = false
    let total: Int
    private let bytes: [UInt8]
    private let grain: Int
    private var position = 0

    init(_ buffer: UnsafeRawBufferPointer, after prefix: [UInt8] = []) {
        let first = buffer.first ?? 0
        grain = first == 0 ? 65_536 : Int(first)
        bytes = prefix + buffer.dropFirst()
        total = bytes.count
    }

    func open() {}
    func finishWriting() {}
    func close() { isClosed = true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        let count = min(buffer.count, grain, bytes.count - position)
        guard count > 0 else { return .end }
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return .bytes(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer { bytes.isEmpty ? .wouldBlock : .bytes(bytes.count) }

    func run(_ loop: EmbeddedLoop) {
        loop.settle()
        delegate?.streamOpened()
        loop.settle()
        var turns = 0
        while !isClosed, !interest.isEmpty {
            delegate?.streamReady(interest)
            loop.settle()
            turns += 1
            require(turns < 100_000, "a stream that has ended is left alone")
        }
    }
}

private final class FuzzDialer: StreamDialer {
    private let stream: FuzzStream

    init(_ stream: FuzzStream) { self.stream = stream }

    func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream { stream }
}

private final class FuzzUser: ByteStreamDelegate {
    private(set) var opened = 0
    private(set) var failed = 0
    private(set) var received = 0
    private let stream: any ByteStream

    init(_ stream: any ByteStream) {
        self.stream = stream
        stream.delegate = self
    }

    func streamOpened() {
        opened += 1
        stream.interest = .read
    }

    func streamFailed(_ failure: StreamFailure) { failed += 1 }

    func streamReady(_ ready: IOInterest) {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while true {
            switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
            case .bytes(let count): received += count
            case .wouldBlock: return
            case .end, .failed:
                stream.interest = []
                return
            }
        }
    }
}

private final class FuzzSocketLog: WebSocketDelegate {
    private(set) var opened = 0
    private(set) var closed = 0

    func webSocketOpened(_ socket: WebSocketClient) { opened += 1 }
    func webSocket(_ socket: WebSocketClient, received message: WebSocketMessage) {
        let bytes =
            switch message {
            case .text(let bytes), .binary(let bytes): bytes
            }
        require(opened == 1 && closed == 0 && bytes.count <= 524_288, "messages come in between, and keep their bound")
    }
    func webSocket(_ socket: WebSocketClient, receivedPong payload: [UInt8]) {}
    func webSocketMaySendAgain(_ socket: WebSocketClient) {}
    func webSocket(_ socket: WebSocketClient, closed reason: WebSocketCloseReason) { closed += 1 }
}

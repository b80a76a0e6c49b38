import Basics
import EventLoop
import XCTest

@testable import Uplink

/// A transport whose other side is the test.
final class ScriptedStream: ByteStream {
    weak var delegate: (any ByteStreamDelegate)?
    var interest: IOInterest = []
    private(set) var wasOpened = false
    private(set) var isClosed = false
    private(set) var hasFinishedWriting = false

    /// What the client will read.
    var incoming: [UInt8] = []
    /// Most bytes one read returns.
    var readGrain = Int.max
    var hangsUp = false
    var readFailure: StreamFailure?
    /// What the client has written, and how much more it may write now.
    var written: [UInt8] = []
    var room = Int.max
    var writeFailure: StreamFailure?

    func open() { wasOpened = true }
    func finishWriting() { hasFinishedWriting = true }
    func close() { isClosed = true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        let count = min(buffer.count, incoming.count, readGrain)
        if count > 0 {
            buffer.copyBytes(from: incoming.prefix(count))
            incoming.removeFirst(count)
            return .bytes(count)
        }
        if let readFailure { return .failed(readFailure) }
        return hangsUp ? .end : .wouldBlock
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        if let writeFailure { return .failed(writeFailure) }
        let count = min(bytes.count, room)
        guard count > 0 else { return .wouldBlock }
        written.append(contentsOf: bytes.prefix(count))
        if room != Int.max { room -= count }
        return .bytes(count)
    }

    /// Reports readiness while there is any.
    func pump(_ loop: EmbeddedLoop) {
        loop.settle()
        for _ in 0..<200_000 {
            guard !isClosed else { return }
            var ready = IOInterest()
            if !incoming.isEmpty || hangsUp || readFailure != nil { ready.insert(.read) }
            if room > 0 || writeFailure != nil { ready.insert(.write) }
            ready.formIntersection(interest)
            guard !ready.isEmpty else { return }
            delegate?.streamReady(ready)
            loop.settle()
        }
        XCTFail("the client spins")
    }
}

final class ScriptedDialer: StreamDialer {
    let stream = ScriptedStream()
    var refusal: StreamFailure?
    private(set) var isolations: [StreamIsolation] = []

    func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream {
        isolations.append(isolation)
        if let refusal { throw refusal }
        return stream
    }
}

extension StreamIsolation {
    static let test = StreamIsolation(user: "relay", password: "secret")
}

/// Everything a socket reported, in order.
final class SocketLog: WebSocketDelegate {
    enum Event: Equatable {
        case opened
        case message(WebSocketMessage)
        case pong([UInt8])
        case date(ServerDate)
        case maySendAgain
        case closed(WebSocketCloseReason)
    }

    private(set) var events: [Event] = []
    var onEvent: ((Event) -> Void)?
    /// Whether messages are among `events`.
    var keepsMessages = true

    func webSocketOpened(_ socket: WebSocketClient) { record(.opened) }
    func webSocket(_ socket: WebSocketClient, received date: ServerDate) { record(.date(date)) }
    func webSocket(_ socket: WebSocketClient, received message: WebSocketMessage) { record(.message(message)) }
    func webSocket(_ socket: WebSocketClient, receivedPong payload: [UInt8]) { record(.pong(payload)) }
    func webSocketMaySendAgain(_ socket: WebSocketClient) { record(.maySendAgain) }
    func webSocket(_ socket: WebSocketClient, closed reason: WebSocketCloseReason) { record(.closed(reason)) }

    private func record(_ event: Event) {
        if case .message = event, !keepsMessages {} else { events.append(event) }
        onEvent?(event)
    }

    var messages: [WebSocketMessage] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }
    var closed: WebSocketCloseReason? {
        events.lazy.compactMap { if case .closed(let reason) = $0 { reason } else { nil } }.first
    }
}

/// A frame as a server writes and reads it (RFC 6455 §5.2).
struct ServerFrame: Equatable {
    var opcode: UInt8
    var payload: [UInt8]
    var isFinal = true

    static func text(_ text: String, isFinal: Bool = true) -> ServerFrame {
        ServerFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
    }
    static func close(_ code: UInt16, _ text: String = "") -> ServerFrame {
        ServerFrame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 255)] + Array(text.utf8))
    }

    func bytes(mask: [UInt8]? = nil) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        let flag: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case 0..<126: bytes.append(flag | UInt8(payload.count))
        case 126..<65_536:
            bytes.append(flag | 126)
            bytes.append(bigEndian: UInt16(payload.count))
        default:
            bytes.append(flag | 127)
            bytes.append(bigEndian: UInt64(payload.count))
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    /// Every whole frame a client wrote, each with its mask; nil when one is not masked or not minimal.
    static func parse(_ bytes: [UInt8]) -> [(frame: ServerFrame, mask: [UInt8])]? {
        var frames: [(ServerFrame, [UInt8])] = []
        return bytes.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            while !reader.isAtEnd {
                guard let first = reader.readUInt8(), let second = reader.readUInt8(), second & 0x80 != 0 else {
                    return nil
                }
                var length = Int(second & 0x7f)
                if length == 126 { length = Int(reader.readUInt16() ?? 0) }
                if length == 127 { length = Int(reader.readUInt64() ?? 0) }
                guard let mask = reader.readBytes(4), let masked = reader.readBytes(length) else { return nil }
                let payload = masked.enumerated().map { $1 ^ mask[$0 % 4] }
                frames.append((ServerFrame(opcode: first & 0x0f, payload: payload, isFinal: first & 0x80 != 0), mask))
            }
            return frames
        }
    }
}

/// A client in virtual time, and the test as its server.
final class Conversation {
    let loop = EmbeddedLoop()
    let dialer = ScriptedDialer()
    let log = SocketLog()
    private(set) var client: WebSocketClient?
    var stream: ScriptedStream { dialer.stream }

    init(url: String = "ws://relay.example:7000/chat?x=1", seed: UInt64 = 1, keepAlive: WebSocketKeepAlive? = nil)
        throws
    {
        client = WebSocketClient(
            loop: loop, address: try WebSocketAddress(parsing: url), dialer: dialer, isolation: .test,
            random: SeededRandom(seed: seed), keepAlive: keepAlive)
        client?.delegate = log
        client?.open()
        loop.settle()
    }

    func forget() { client = nil }

    func connect() {
        stream.delegate?.streamOpened()
        pump()
    }

    func pump() { stream.pump(loop) }

    func advance(by span: Interval) {
        let end = loop.now.monotonic + span
        while loop.now.monotonic < end {
            loop.advance(by: min(.milliseconds(100), end - loop.now.monotonic))
            pump()
        }
    }

    /// The request, taken off what was written.
    func takeRequest() -> [String] {
        let text = String(decoding: stream.written, as: UTF8.self)
        stream.written = []
        return text.components(separatedBy: "\r\n")
    }

    var acceptValue: String {
        let key = String(decoding: stream.written, as: UTF8.self).components(separatedBy: "\r\n")
            .first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19)
        return UpgradeHandshake.accept(forKey: String(key ?? ""))
    }

    func serve(_ text: String) {
        stream.incoming += Array(text.utf8)
        pump()
    }

    func serve(_ bytes: [UInt8]) {
        stream.incoming += bytes
        pump()
    }

    func serve(_ frame: ServerFrame) { serve(frame.bytes()) }

    var goodAnswer: String {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(acceptValue)\r\n\r\n"
    }

    /// Connects and upgrades.
    static func open(seed: UInt64 = 1, keepAlive: WebSocketKeepAlive? = nil) throws -> Conversation {
        let conversation = try Conversation(seed: seed, keepAlive: keepAlive)
        conversation.connect()
        conversation.serve(conversation.goodAnswer)
        XCTAssertEqual(conversation.log.events, [.opened])
        conversation.stream.written = []
        return conversation
    }

    /// Frames the client wrote since the last call.
    func takeFrames() throws -> [ServerFrame] {
        let frames = try XCTUnwrap(ServerFrame.parse(stream.written), "the client wrote a bad frame")
        stream.written = []
        return frames.map(\.frame)
    }
}

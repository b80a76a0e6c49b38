import Basics
import EventLoop
import Nostr
import XCTest

@testable import Uplink

/// Relays in virtual time, down to the bytes: each has a clock of its own, takes every event and subscription, and
/// notes when it came.
final class ScriptedRelays: StreamDialer {
    final class Relay {
        /// How far its clock is off; `nil` for one that tells no date.
        var clockError: Interval? = .zero
        var isReachable = true
        fileprivate(set) var dials = 0
        /// `["EVENT",…]`, with the true time of their arrival.
        fileprivate(set) var events: [(text: String, at: WallTime)] = []
        fileprivate(set) var requests: [String] = []
        fileprivate var streams: [() -> ScriptedStream?] = []

        /// Sends a message to everybody connected.
        func tell(_ text: String) {
            for stream in streams { stream()?.send(text: Array(text.utf8)) }
        }
    }

    let loop: any EventLoop
    let truth: () -> WallTime
    private(set) var relays: [String: Relay] = [:]

    init(loop: any EventLoop, truth: @escaping () -> WallTime) {
        self.loop = loop
        self.truth = truth
    }

    /// Relays at `ws://127.0.0.1:1` and so on.
    func add(_ count: Int) -> [NostrRelayURL] {
        (1...count).compactMap { number in
            relays["127.0.0.1:\(number)"] = Relay()
            return NostrRelayURL("ws://127.0.0.1:\(number)")
        }
    }

    subscript(number: Int) -> Relay {
        guard let relay = relays["127.0.0.1:\(number)"] else { preconditionFailure("no such relay") }
        return relay
    }

    var published: [(text: String, at: WallTime)] { relays.values.flatMap(\.events) }
    var dials: Int { relays.values.reduce(0) { $0 + $1.dials } }

    func makeStream(to address: WebSocketAddress, isolation: StreamIsolation) throws(StreamFailure) -> any ByteStream {
        guard let relay = relays["\(address.host):\(address.port)"] else { throw .nameUnusable("unknown") }
        relay.dials += 1
        let stream = ScriptedStream(relay, self)
        relay.streams.append { [weak stream] in stream }
        return stream
    }
}

private final class ScriptedStream: ByteStream {
    weak var delegate: (any ByteStreamDelegate)?
    var interest: IOInterest = [] { didSet { announce() } }

    private let relay: ScriptedRelays.Relay
    private unowned let air: ScriptedRelays
    private var output: [UInt8] = []
    private var input: [UInt8] = []
    private var isUpgraded = false
    private var hasEnded = false
    private var isClosed = false
    private var isAnnounced = false

    init(_ relay: ScriptedRelays.Relay, _ air: ScriptedRelays) {
        self.relay = relay
        self.air = air
    }

    func open() {
        air.loop.schedule(after: .milliseconds(20)) { [self] in
            guard !isClosed else { return }
            if relay.isReachable { delegate?.streamOpened() } else { delegate?.streamFailed(.refused("refused")) }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamTransfer {
        guard !output.isEmpty else { return hasEnded ? .end : .wouldBlock }
        let count = min(buffer.count, output.count)
        buffer.copyBytes(from: output.prefix(count))
        output.removeFirst(count)
        return .bytes(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamTransfer {
        input += bytes
        air.loop.schedule(after: .milliseconds(20)) { [self] in serve() }
        return .bytes(bytes.count)
    }

    func finishWriting() {
        hasEnded = true
        announce()
    }

    func close() { isClosed = true }

    private func announce() {
        guard !isAnnounced, !isClosed else { return }
        let wantsRead = interest.contains(.read) && (!output.isEmpty || hasEnded)
        guard wantsRead || interest.contains(.write) else { return }
        isAnnounced = true
        air.loop.enqueue { [self] in
            isAnnounced = false
            guard !isClosed else { return }
            var ready: IOInterest = []
            if interest.contains(.read), !output.isEmpty || hasEnded { ready.insert(.read) }
            if interest.contains(.write) { ready.insert(.write) }
            if !ready.isEmpty { delegate?.streamReady(ready) }
            announce()
        }
    }

    // MARK: The server

    private func serve() {
        if !isUpgraded {
            let text = String(decoding: input, as: UTF8.self)
            guard text.contains("\r\n\r\n") else { return }
            input.removeAll()
            isUpgraded = true
            upgrade(text)
        }
        while let (opcode, payload) = takeFrame() {
            switch opcode {
            case 1: serve(String(decoding: payload, as: UTF8.self))
            case 8:
                output += [0x88, UInt8(payload.count)] + payload
                hasEnded = true
            case 9: output += [0x8a, UInt8(payload.count)] + payload
            default: break
            }
        }
        announce()
    }

    private func upgrade(_ request: String) {
        let key = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }?
            .split(separator: " ").last.map(String.init)
        var lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(UpgradeHandshake.accept(forKey: key ?? ""))",
        ]
        if let error = relay.clockError {
            let now = Int64(air.truth().milliseconds) + error.milliseconds
            lines.append("Date: " + ScriptedStream.httpDate(WallTime(milliseconds: UInt64(max(0, now)))))
        }
        output += Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private static func httpDate(_ time: WallTime) -> String {
        let date = CivilDate(time)
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = [date.second / 3_600, date.second / 60 % 60, date.second % 60].map(two).joined(separator: ":")
        let day = days[Int(time.milliseconds / 86_400_000 % 7)]
        return "\(day), \(two(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
    }

    private func takeFrame() -> (opcode: UInt8, payload: [UInt8])? {
        guard input.count >= 6 else { return nil }
        var length = Int(input[1] & 0x7f)
        var position = 2
        if length == 126 {
            guard input.count >= 8 else { return nil }
            length = Int(input[2]) << 8 | Int(input[3])
            position = 4
        }
        guard input.count >= position + 4 + length else { return nil }
        let mask = Array(input[position..<position + 4])
        let payload = input[(position + 4)..<(position + 4 + length)].enumerated().map { $1 ^ mask[$0 % 4] }
        let opcode = input[0] & 0x0f
        input.removeFirst(position + 4 + length)
        return (opcode, payload)
    }

    private func serve(_ message: String) {
        if message.hasPrefix("[\"EVENT\"") {
            relay.events.append((message, air.truth()))
            guard let range = message.range(of: "\"id\":\"") else { return }
            send(text: Array("[\"OK\",\"\(message[range.upperBound...].prefix(64))\",true,\"\"]".utf8))
        } else if message.hasPrefix("[\"REQ\"") {
            relay.requests.append(message)
            let id = message.split(separator: "\"")[3]
            send(text: Array("[\"EOSE\",\"\(id)\"]".utf8))
        }
    }

    func send(text: [UInt8]) {
        guard isUpgraded, !isClosed else { return }
        output +=
            text.count < 126
            ? [0x81, UInt8(text.count)] : [0x81, 126, UInt8(text.count >> 8), UInt8(text.count & 255)]
        output += text
        announce()
    }
}

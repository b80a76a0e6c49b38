import Basics
import EventLoop
import XCTest

@testable import Uplink

/// Servers that mean harm, in a process of their own, in the clear and behind TLS. How long the loop was held up is
/// printed, not judged: the machine may be busy. What one turn may do is counted in other tests.
final class HostileServerTests: XCTestCase {
    private var loop: LibeventLoop!

    override func setUpWithError() throws { loop = try LibeventLoop() }
    override func tearDown() { loop = nil }

    private struct Visit {
        let closed: WebSocketCloseReason?
        let messages: Int
        let longestWait: Interval
    }

    /// Talks to a server for at most `patience`, with a timer beside it that should fire every millisecond.
    private func visit(_ url: String, patience: Interval) throws -> Visit {
        let dialer = NetworkDialer(
            loop: loop, policy: .direct(SystemResolver(loop: loop)), trust: try Certificates.trust(),
            time: { SystemClock.wall })
        dialer.readiness = { .open }
        let log = SocketLog()
        let client = WebSocketClient(
            loop: loop, address: try WebSocketAddress(parsing: url), dialer: dialer, isolation: .test)
        client.delegate = log
        var messages = 0
        log.onEvent = { [loop] event in
            if case .message = event { messages += 1 }
            if case .closed = event { loop?.stop() }
        }
        log.keepsMessages = false
        var longestWait = Interval.zero
        func beat() {
            let armed = loop.now.monotonic
            loop.schedule(after: .milliseconds(1)) { [loop] in
                guard let loop else { return }
                longestWait = max(longestWait, loop.now.monotonic - armed - .milliseconds(1))
                beat()
            }
        }
        beat()
        loop.schedule(after: patience) { [loop] in loop?.stop() }
        client.open()
        loop.run()
        return Visit(closed: log.closed, messages: messages, longestWait: longestWait)
    }

    func testEachIsEndedForItsReasonOrHeldUpAndTheLoopGoesOn() throws {
        let expected: [(String, Set<String>)] = [
            ("headers", [WebSocketCloseReason.invalidResponse("the header exceeds 16384 bytes").description]),
            ("redirect", [WebSocketCloseReason.upgradeRefused(status: 302).description]),
            ("deflate", [WebSocketCloseReason.upgradeInvalid("Sec-WebSocket-Extensions").description]),
            ("gigabyte", [WebSocketCloseReason.messageTooLarge.description]),
            ("fragments", [WebSocketCloseReason.messageTooLarge.description]),
            ("garbage", Set([.protocolError, .messageTooLarge, .invalidText].map(\WebSocketCloseReason.description))),
            // These go on until whoever counts messages, or silence, has enough.
            ("empty", []), ("pings", []), ("stall", []), ("drip", []), ("halves", []),
        ]
        let servers = try Helper(netlab: "hostile.py", expected.map(\.0), ready: expected.count)
        var fronts: [String: Helper] = [:]
        for (mode, _) in expected {
            let port = try XCTUnwrap(servers.ports[mode])
            fronts[mode] = try Helper(netlab: "tlsfront.py", [Certificates.folder(), "\(port)", "0:good"])
        }
        for (mode, reasons) in expected {
            for isSecure in [false, true] {
                let port = isSecure ? fronts[mode]?.ports["good"] : servers.ports[mode]
                let url = "\(isSecure ? "wss" : "ws")://localhost:\(port ?? 0)"
                loop = try LibeventLoop()
                let visit = try visit(url, patience: reasons.isEmpty ? .milliseconds(400) : .seconds(20))
                if let closed = visit.closed {
                    XCTAssertTrue(reasons.contains(closed.description), "\(mode) \(url): \(closed)")
                } else {
                    XCTAssertTrue(reasons.isEmpty, "\(mode) \(url) goes on")
                }
                print(
                    "hostile \(isSecure ? "wss" : "ws") \(mode): \(visit.messages) messages, loop held up for",
                    "\(Double(visit.longestWait.nanoseconds / 10_000) / 100) ms at most")
            }
        }
    }

    func testOneTurnDeliversABoundedNumberOfMessages() throws {
        let conversation = try Conversation.open()
        let count = 20_000
        conversation.stream.incoming = [UInt8](repeating: 0, count: count).flatMap { [0x81, $0] }
        conversation.stream.delegate?.streamReady(.read)
        XCTAssertEqual(conversation.log.messages.count, UplinkLimits.eventsPerTurn)
        conversation.pump()
        XCTAssertEqual(conversation.log.messages.count, count)
        conversation.serve(.text("still here"))
        XCTAssertEqual(conversation.log.messages.last, .text(Array("still here".utf8)))
    }

    func testFragmentsOfAMessageAreCounted() throws {
        for count in [1_024, 1_025] {
            let conversation = try Conversation.open()
            var frames = [ServerFrame.text("a", isFinal: false)]
            for _ in 0..<count - 2 {
                frames.append(ServerFrame(opcode: 0, payload: [0x61], isFinal: false))
                frames.append(ServerFrame(opcode: 9, payload: []))
            }
            frames.append(ServerFrame(opcode: 0, payload: [0x61]))
            conversation.serve(frames.flatMap { $0.bytes() })
            if count == 1_024 {
                XCTAssertEqual(conversation.log.messages, [.text([UInt8](repeating: 0x61, count: count))])
            } else {
                conversation.stream.hangsUp = true
                conversation.pump()
                XCTAssertEqual(conversation.log.events, [.opened, .closed(.messageTooLarge)])
            }
        }
    }

    func testReaderThatRestsAmongManyMessagesLosesNone() throws {
        let conversation = try Conversation.open()
        let count = 5_000
        var seen = 0
        conversation.log.onEvent = { [unowned conversation] event in
            guard case .message = event else { return }
            seen += 1
            if seen % 700 == 0 {
                conversation.client?.pauseReading()
                conversation.loop.schedule(after: .seconds(1)) { conversation.client?.resumeReading() }
            }
        }
        conversation.stream.incoming = [UInt8](repeating: 0, count: count).flatMap { [0x81, $0] }
        conversation.pump()
        XCTAssertEqual(seen, 700)
        conversation.advance(by: .seconds(20))
        XCTAssertEqual(seen, count)
    }
}

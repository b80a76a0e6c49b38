import Basics
import EventLoop
import Glibc
import XCTest

@testable import Uplink

/// Real TCP on the real loop, against a server in the test.
final class LoopbackTests: XCTestCase {
    private var loop: LibeventLoop!
    private var server: RawServer!
    private let log = SocketLog()

    override func setUpWithError() throws {
        loop = try LibeventLoop()
        server = try RawServer(loop)
        loop.schedule(after: .seconds(20)) { [weak loop] in
            XCTFail("the conversation hung")
            loop?.stop()
        }
    }

    override func tearDown() {
        server.hangUp()
        server.stopListening()
        (server, loop) = (nil, nil)
    }

    private func dial(keepAlive: WebSocketKeepAlive? = nil) throws -> WebSocketClient {
        let dialer = NetworkDialer(
            loop: loop, policy: .direct(SystemResolver(loop: loop)), trust: try TLSTrust(),
            time: { WallTime(milliseconds: 0) })
        dialer.readiness = { .open }
        let client = WebSocketClient(
            loop: loop, address: try WebSocketAddress(parsing: "ws://localhost:\(server.port)"),
            dialer: dialer, isolation: .test, keepAlive: keepAlive)
        client.delegate = log
        client.open()
        return client
    }

    func testMessagesCrossBothWaysAndTheHandshakeEndsCleanly() throws {
        let client = try dial()
        let large = [UInt8](repeating: 0x61, count: 524_288)
        log.onEvent = { [loop] event in
            switch event {
            case .opened: client.send(text: large)
            case .message: client.close()
            case .closed: loop?.stop()
            default: break
            }
        }
        var echoed = false
        server.onReceived = { server in
            guard let frames = ServerFrame.parse(server.received), let first = frames.first else { return }
            if !echoed {
                echoed = true
                server.send(ServerFrame(opcode: 1, payload: first.frame.payload).bytes())
            }
            if frames.last?.frame.opcode == 8 { server.send(ServerFrame.close(1_000).bytes()) }
        }
        loop.run()
        XCTAssertEqual(log.events, [.opened, .message(.text(large)), .closed(.closedByUs)])
    }

    func testTooLargeAMessageDoesNotLoseTheCloseFrameToAReset() throws {
        let client = try dial()
        server.onUpgraded = { server in
            server.send(ServerFrame(opcode: 1, payload: [UInt8](repeating: 0x61, count: 525_312)).bytes())
        }
        server.onEnd = { [server] in server?.hangUp() }
        log.onEvent = { [loop] in if case .closed = $0 { loop?.stop() } }
        loop.run()
        XCTAssertEqual(log.events, [.opened, .closed(.messageTooLarge)])
        XCTAssertEqual(ServerFrame.parse(server.received)?.map(\.frame), [.close(1_009)])
        withExtendedLifetime(client) {}
    }

    func testRefusedConnectionIsTransientAndNamesTheAddress() throws {
        server.stopListening()
        let client = try dial()
        XCTAssertEqual(log.events, [])
        log.onEvent = { [loop] in if case .closed = $0 { loop?.stop() } }
        loop.run()
        XCTAssertEqual(
            log.events, [.closed(.connectFailed("127.0.0.1:\(server.port): connect: Connection refused"))])
        XCTAssertEqual(log.closed?.isPermanent, false)
        withExtendedLifetime(client) {}
    }

    func testServerThatHangsUpWithoutAWordIsLost() throws {
        let client = try dial()
        server.onUpgraded = { server in
            server.send(ServerFrame.text("bye").bytes())
            server.hangUp()
        }
        log.onEvent = { [loop] in if case .closed = $0 { loop?.stop() } }
        loop.run()
        XCTAssertEqual(log.messages, [.text(Array("bye".utf8))])
        guard case .connectionLost? = log.closed else { return XCTFail("\(log.events)") }
        withExtendedLifetime(client) {}
    }

    func testHalfOpenServerIsNoticedByTheKeepAlive() throws {
        let client = try dial(keepAlive: WebSocketKeepAlive(idle: .milliseconds(5), grace: .milliseconds(5)))
        log.onEvent = { [loop] in if case .closed = $0 { loop?.stop() } }
        loop.run()
        XCTAssertEqual(log.events, [.opened, .closed(.unresponsive)])
        withExtendedLifetime(client) {}
    }

    func testIdleConnectionCausesNoWakeUps() throws {
        let client = try dial(keepAlive: WebSocketKeepAlive())
        var turnsWhenOpen: UInt64?
        log.onEvent = { [loop] event in
            guard event == .opened, let loop else { return }
            loop.schedule(after: .milliseconds(5)) {
                turnsWhenOpen = loop.turns
                loop.schedule(after: .milliseconds(30)) { loop.stop() }
            }
        }
        loop.run()
        XCTAssertLessThanOrEqual(loop.turns - (turnsWhenOpen ?? 0), 2)
        XCTAssertEqual(log.events, [.opened])
        withExtendedLifetime(client) {}
    }

    func testSlowReaderIsServedInFullUnderBackPressure() throws {
        let client = try dial()
        let message = [UInt8](repeating: 0x62, count: 100_000)
        var sent = 0
        func push() {
            while sent < 60, client.send(text: message) { sent += 1 }
            if sent == 60 { client.close() }
        }
        log.onEvent = { [loop] event in
            switch event {
            case .opened, .maySendAgain: push()
            case .closed: loop?.stop()
            default: break
            }
        }
        let total = 60 * (100_000 + 14)
        server.onReceived = { server in
            guard server.received.count > total else { return }
            server.send(ServerFrame.close(1_000).bytes())
        }
        loop.run()
        let frames = try XCTUnwrap(ServerFrame.parse(server.received))
        XCTAssertEqual(frames.count, 61)
        XCTAssertTrue(frames.prefix(60).allSatisfy { $0.frame.payload == message })
        XCTAssertEqual(frames.last?.frame, .close(1_000))
        XCTAssertTrue(log.events.contains(.maySendAgain))
        XCTAssertEqual(log.closed, .closedByUs)
    }
}

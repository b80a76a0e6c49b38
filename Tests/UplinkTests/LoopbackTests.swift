import Basics
import EventLoop
import Glibc
import XCTest

@testable import Uplink

/// Real TCP on the real loop, against a server in the test.
final class LoopbackTests: XCTestCase {
    /// A server that answers the upgrade and then does as it is told.
    private final class RawServer {
        let port: UInt16
        private let loop: LibeventLoop
        private var listener: SocketListener?
        private var connection: FileDescriptor?
        private var watch: (any Cancellable)?
        private var header: [UInt8] = []
        private var isUpgraded = false
        private(set) var received: [UInt8] = []
        private(set) var hasSeenEnd = false
        var onUpgraded: (RawServer) -> Void = { _ in }
        var onReceived: (RawServer) -> Void = { _ in }
        var onEnd: () -> Void = {}

        init(_ loop: LibeventLoop) throws {
            self.loop = loop
            let socket = FileDescriptor(
                owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket.raw, $0, size) | listen(socket.raw, 4) | getsockname(socket.raw, $0, &size)
                }
            }
            guard status == 0 else { throw SystemError.last("bind") }
            port = UInt16(bigEndian: address.sin_port)
            listener = SocketListener(loop: loop, socket: socket) { [weak self] in self?.serve($0) }
        }

        private func serve(_ connection: FileDescriptor) {
            self.connection = connection
            watch = loop.watch(connection.raw, .read) { [weak self] _ in self?.read() }
        }

        private func read() {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            switch buffer.withUnsafeMutableBytes({ connection?.read(into: $0) ?? .end }) {
            case .bytes(let count): take(buffer.prefix(count))
            case .wouldBlock: break
            case .end, .failed:
                hasSeenEnd = true
                hangUp()
                onEnd()
            }
        }

        private func take(_ bytes: ArraySlice<UInt8>) {
            guard !isUpgraded else {
                received += bytes
                return onReceived(self)
            }
            header += bytes
            let text = String(decoding: header, as: UTF8.self)
            guard text.hasSuffix("\r\n\r\n"),
                let key = text.components(separatedBy: "\r\n").first(where: { $0.hasPrefix("Sec-WebSocket-Key: ") })
            else { return }
            isUpgraded = true
            send(
                Array(
                    ("HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                        + UpgradeHandshake.accept(forKey: String(key.dropFirst(19))) + "\r\n\r\n").utf8))
            onUpgraded(self)
        }

        /// Small enough here for the socket's buffer, or sent in pieces by the loop.
        func send(_ bytes: [UInt8]) {
            guard let connection else { return }
            switch bytes.withUnsafeBytes({ connection.send($0) }) {
            case .bytes(let count) where count == bytes.count: return
            case .bytes(let count): loop.enqueue { [weak self] in self?.send(Array(bytes.dropFirst(count))) }
            case .wouldBlock: loop.enqueue { [weak self] in self?.send(bytes) }
            case .end, .failed: return
            }
        }

        func hangUp() {
            watch?.cancel()
            watch = nil
            connection?.close()
        }

        func stopListening() { listener?.close() }
    }

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
        let client = WebSocketClient(
            loop: loop, address: try WebSocketAddress(parsing: "ws://localhost:\(server.port)"),
            dialer: LoopbackDialer(loop: loop), isolation: .test, keepAlive: keepAlive)
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
            while sent < 60, client.send(binary: message) { sent += 1 }
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

import Basics
import EventLoop
import Glibc
import XCTest

@testable import Uplink

/// A server that answers the upgrade and then does as it is told.
final class RawServer {
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
        hangUp()
        (header, isUpgraded, received) = ([], false, [])
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

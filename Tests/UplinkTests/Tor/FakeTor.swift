import Basics
import EventLoop
import Foundation
import TestSupport
import XCTest

@testable import Uplink

/// A tor whose control socket and SOCKS port are the test's. Answers in virtual time, over real sockets.
final class FakeTor {
    let folder: String
    let loop: EmbeddedLoop
    var controlPath: String { folder + "/control" }
    private var socksPath: String { folder + "/socks" }
    var cookiePath: String { folder + "/cookie" }
    let cookie = [UInt8]((0..<32).map { UInt8($0) * 3 })

    /// What GETINFO answers.
    var phase = #"NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done""#
    /// Neither port answers anything while set.
    var isFrozen = false
    /// What CONNECT is answered with; `nil` for never.
    var reply: UInt8? = 0
    private(set) var asked: [String] = []
    private(set) var connects: [(host: String, port: UInt16, user: String, password: String)] = []

    private var listener: FileDescriptor?
    private var clients: [Client] = []
    private var proxy: FileDescriptor?
    private var proxyPort: UInt16 = 0
    /// Where it takes connections: a port, or a socket.
    private let usesSocket: Bool

    init(_ loop: EmbeddedLoop, usesSocket: Bool = false) throws {
        self.usesSocket = usesSocket
        self.loop = loop
        folder = try makeFolder(for: "faketor")
        try Data(cookie).write(to: URL(fileURLWithPath: cookiePath))
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var configuration: TorRoute.Configuration {
        let socks = usesSocket ? "unix:" + socksPath : "127.0.0.1:\(proxyPort)"
        return TorRoute.Configuration(
            socks: LocalEndpoint(socks) ?? .torSOCKS, control: LocalEndpoint(controlPath), cookie: nil)
    }

    func start() throws {
        unlink(controlPath)
        listener = try UnixSocket.listen(.stream, at: controlPath)
        unlink(socksPath)
        proxy = usesSocket ? try UnixSocket.listen(.stream, at: socksPath) : try listenOnLoopback(port: proxyPort)
    }

    /// As killed: both ports are gone, and every connection with them.
    func stop() {
        listener?.close()
        proxy?.close()
        for client in clients { client.close() }
        clients = []
        unlink(controlPath)
        unlink(socksPath)
    }

    /// Lets everything happen that can happen without time passing, and then this much time in steps.
    func run(for span: Interval = .zero) {
        let end = loop.elapsed + span
        repeat {
            settle()
            guard loop.elapsed < end else { return }
            let step = min(end - loop.elapsed, .milliseconds(500))
            loop.advance(by: step)
        } while true
    }

    func tell(_ event: String) {
        for client in clients where !client.isProxy { client.send(Array((event + "\r\n").utf8)) }
        run()
    }

    private func settle() {
        for _ in 0..<20 {
            loop.pollDescriptors()
            accept()
            var moved = false
            for client in clients where !isFrozen { moved = client.serve(self) || moved }
            clients.removeAll { !$0.socket.isOpen }
            if !moved { loop.pollDescriptors() }
        }
    }

    private func accept() {
        while let socket = (listener?.isOpen ?? false) ? try? listener?.accept() : nil {
            clients.append(Client(socket, isProxy: false))
        }
        while let socket = (proxy?.isOpen ?? false) ? try? proxy?.accept() : nil {
            clients.append(Client(socket, isProxy: true))
        }
    }

    private func listenOnLoopback(port: UInt16) throws -> FileDescriptor {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        let descriptor = FileDescriptor(owning: raw)
        var on: Int32 = 1
        setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(raw, $0, length) == 0 && listen(raw, 8) == 0 ? getsockname(raw, $0, &length) : -1
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRINUSE) }
        proxyPort = UInt16(bigEndian: address.sin_port)
        return descriptor
    }

    fileprivate func answer(_ command: String, nonce: inout [UInt8]) -> String {
        asked.append(String(command.prefix { $0 != " " }))
        switch asked.last {
        case "PROTOCOLINFO":
            return "250-PROTOCOLINFO 1\r\n250-AUTH METHODS=COOKIE,SAFECOOKIE COOKIEFILE=\"\(cookiePath)\"\r\n"
                + "250-VERSION Tor=\"0.4.9.11\"\r\n250 OK\r\n"
        case "AUTHCHALLENGE":
            nonce = Hex.decode(command.split(separator: " ").last ?? "") ?? []
            let proof = TorSafeCookie(cookie: cookie, clientNonce: nonce, serverNonce: nonce.map { ~$0 })
            return "250 AUTHCHALLENGE SERVERHASH=\(Hex.encode(proof.serverProof)) "
                + "SERVERNONCE=\(Hex.encode(proof.serverNonce))\r\n"
        case "AUTHENTICATE":
            let proof = TorSafeCookie(cookie: cookie, clientNonce: nonce, serverNonce: nonce.map { ~$0 }).clientProof
            return command == "AUTHENTICATE \(Hex.encode(proof))" ? "250 OK\r\n" : "515 Bad authentication\r\n"
        case "GETINFO":
            return "250-status/bootstrap-phase=\(phase)\r\n250-status/circuit-established=1\r\n"
                + "250-network-liveness=up\r\n250 OK\r\n"
        default: return "250 OK\r\n"
        }
    }

    fileprivate func connected(_ client: Client) {
        connects.append((client.host, client.port, client.user, client.password))
    }

    /// One connection to either port.
    fileprivate final class Client {
        let socket: FileDescriptor
        let isProxy: Bool
        private var received: [UInt8] = []
        private var nonce: [UInt8] = []
        private var stage = 0
        var (user, password, host, port) = ("", "", "", UInt16(0))

        init(_ socket: FileDescriptor, isProxy: Bool) {
            self.socket = socket
            self.isProxy = isProxy
        }

        func close() { socket.close() }

        func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { socket.send($0) } }

        /// Whether anything was received.
        func serve(_ tor: FakeTor) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
            case .bytes(let count): received += buffer.prefix(count)
            case .end, .failed:
                close()
                return true
            case .wouldBlock: return false
            }
            if isProxy { serveProxy(tor) } else { serveControl(tor) }
            return true
        }

        private func serveControl(_ tor: FakeTor) {
            while let end = received.firstIndex(of: 0x0a) {
                let line = String(decoding: received[..<end].dropLast(), as: UTF8.self)
                received.removeFirst(end + 1)
                send(Array(tor.answer(line, nonce: &nonce).utf8))
            }
        }

        private func serveProxy(_ tor: FakeTor) {
            if stage == 0, received.count >= 3 {
                received.removeFirst(3)
                send([5, 2])
                stage = 1
            }
            if stage == 1, received.count >= 2 {
                let length = Int(received[1])
                guard received.count > 2 + length, received.count >= 3 + length + Int(received[2 + length]) else {
                    return
                }
                user = String(decoding: received[2..<2 + length], as: UTF8.self)
                let end = 3 + length + Int(received[2 + length])
                password = String(decoding: received[3 + length..<end], as: UTF8.self)
                received.removeFirst(end)
                send([1, 0])
                stage = 2
            }
            if stage == 2, received.count >= 5, received.count >= 7 + Int(received[4]) {
                let length = Int(received[4])
                host = String(decoding: received[5..<5 + length], as: UTF8.self)
                port = UInt16(received[5 + length]) << 8 | UInt16(received[6 + length])
                received.removeFirst(7 + length)
                stage = 3
                tor.connected(self)
                if let reply = tor.reply { send([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]) }
            }
        }
    }
}

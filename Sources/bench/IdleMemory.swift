import Basics
import EventLoop
import Glibc
import Nostr
import Uplink

/// What a process holds that keeps 64 relays with 20 subscriptions each and has nothing to do: the relay client, and a
/// WebSocket over TLS to every relay.
final class IdleMemory {
    private static let relays = 64
    private static let subscriptions = 20
    private static let patience = Interval.seconds(60)
    private static let look = Interval.milliseconds(50)

    private let loop: LibeventLoop
    private let client: NostrClient
    private let dialer: NetworkDialer
    private let isolations = IsolationKeys()
    private var sockets: [NostrSocketID: WebSocketClient] = [:]
    private var names: [ObjectIdentifier: NostrSocketID] = [:]
    private var isWhole = false

    private init(_ loop: LibeventLoop, port: UInt16, authority: String) throws {
        self.loop = loop
        dialer = NetworkDialer(
            loop: loop, policy: .direct(SystemResolver(loop: loop)), trust: try TLSTrust(.file(authority)),
            time: { loop.now.wall })
        dialer.readiness = { .open }
        client = NostrClient(
            defaultRelays: (0..<IdleMemory.relays).compactMap { NostrRelayURL("wss://127.0.0.1:\(port)/\($0)") },
            configuration: NostrClient.Configuration(policy: RelayURLPolicy(allowsLoopback: true)),
            random: SystemRandomNumberGenerator())
    }

    /// - Returns: KiB resident when every relay has answered every request; nil when that takes too long.
    static func measure() -> Int? {
        var folder = Array("/tmp/bitgate-bench-XXXXXX".utf8CString)
        guard mkdtemp(&folder) != nil else { return nil }
        let path = String(decoding: folder.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let authority = path + "/authority.pem"
        defer {
            unlink(authority)
            rmdir(path)
        }
        guard let standIn = Companion(["--relay-stand-in", authority]), let port = standIn.readPort(),
            let loop = try? LibeventLoop(), let idle = try? IdleMemory(loop, port: port, authority: authority)
        else { return nil }
        return idle.run()
    }

    private func run() -> Int? {
        client.setGate(.open, at: loop.now)
        for index in 0..<IdleMemory.subscriptions {
            let cell = Geohash.encode(latitude: Double(index), longitude: Double(index), length: 6)
            let filter = NostrFilter(
                kinds: [20_000, 20_001], tags: ["g": [cell]], since: loop.now.wall.unixSeconds - 3_600, limit: 200)
            client.subscribe("geo-\(cell)", filter, to: .defaultSet, at: loop.now)
        }
        loop.schedule(after: IdleMemory.patience) { [loop] in loop.stop() }
        drain()
        look()
        loop.run()
        return isWhole ? residentKibibytes() : nil
    }

    private func look() {
        let relays = client.relays(at: loop.now)
        isWhole =
            relays.count == IdleMemory.relays
            && relays.allSatisfy { relay in
                relay.subscriptions.count { $0.isActive && !$0.isLoading } == IdleMemory.subscriptions
            }
        if isWhole { loop.stop() } else { loop.schedule(after: IdleMemory.look) { [weak self] in self?.look() } }
    }

    private func drain() {
        while let effect = client.nextEffect() {
            switch effect {
            case .dial(let id): dial(id)
            case .send(let message, let id): sockets[id]?.send(text: message)
            case .close(let id, let code): sockets[id]?.close(code: code)
            default: break
            }
        }
    }

    private func dial(_ id: NostrSocketID) {
        guard let address = try? WebSocketAddress(parsing: id.relay.text) else { return }
        let socket = WebSocketClient(
            loop: loop, address: address, dialer: dialer, isolation: isolations.isolation(.relay, id.relay.text),
            keepAlive: nil)
        socket.delegate = self
        sockets[id] = socket
        names[ObjectIdentifier(socket)] = id
        socket.open()
    }

    private func report(_ socket: WebSocketClient, _ input: (NostrSocketID) -> Void) {
        guard let id = names[ObjectIdentifier(socket)] else { return }
        input(id)
        drain()
    }
}

extension IdleMemory: WebSocketDelegate {
    func webSocketOpened(_ socket: WebSocketClient) {
        report(socket) { client.relayOpened($0, at: loop.now) }
    }

    func webSocket(_ socket: WebSocketClient, received message: WebSocketMessage) {
        guard case .text(let bytes) = message else { return }
        report(socket) { client.received(bytes, on: $0, at: loop.now) }
    }

    func webSocket(_ socket: WebSocketClient, closed reason: WebSocketCloseReason) {
        report(socket) { client.relayClosed($0, .unreachable, at: loop.now) }
    }

    func webSocket(_ socket: WebSocketClient, receivedPong payload: [UInt8]) {}
    func webSocketMaySendAgain(_ socket: WebSocketClient) {}
}

/// This program once more, with other arguments. It ends with its standard input, and so with this process.
final class Companion {
    private let process: pid_t
    private let input: Int32
    private let output: Int32

    init?(_ arguments: [String]) {
        var down: [Int32] = [0, 0]
        var up: [Int32] = [0, 0]
        guard pipe(&down) == 0, pipe(&up) == 0 else { return nil }
        for end in down + up { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO)
        var words: [UnsafeMutablePointer<CChar>?] = (["bench"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var process: pid_t = 0
        let status = posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, &environment)
        for end in [down[0], up[1]] { close(end) }
        (self.process, input, output) = (process, down[1], up[0])
        guard status == 0 else { return nil }
    }

    deinit {
        close(input)
        close(output)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// The number on its first line.
    func readPort() -> UInt16? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return UInt16(String(decoding: line, as: UTF8.self))
    }
}

func residentKibibytes() -> Int? {
    guard let file = fopen("/proc/self/statm", "r") else { return nil }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 128)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1_024
}

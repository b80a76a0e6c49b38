import Basics
import EventLoop
import Glibc
import TestSupport
import Wire
import XCTest

@testable import Radio

/// A room with real sockets in virtual time: nothing waits, nothing depends on the machine's speed.
final class AirWorld {
    let loop = EmbeddedLoop()
    let room: String
    private(set) var airs: [VirtualAir] = []

    init() throws {
        room = try makeFolder(for: "air")
    }

    deinit {
        for air in airs { air.stop() }
        for file in files { unlink(room + "/" + file) }
        rmdir(room)
    }

    /// Everything in the room's directory, hidden files included.
    var files: [String] {
        guard let directory = opendir(room) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func makeAir(
        _ name: String, mtu: Int = 517, impairment: Impairment = .none, budget: LinkBudget = LinkBudget(),
        seed: UInt64 = 1
    ) throws -> (air: VirtualAir, log: LinkLog) {
        let configuration = VirtualAirConfiguration(
            room: room, name: try XCTUnwrap(AirName(name)), mtu: mtu, impairment: impairment, budget: budget)
        let air = VirtualAir(loop: loop, configuration: configuration, random: SeededRandom(seed: seed))
        airs.append(air)
        let log = LinkLog()
        air.delegate = log
        return (air, log)
    }

    /// A started node.
    func join(
        _ name: String, mtu: Int = 517, impairment: Impairment = .none, budget: LinkBudget = LinkBudget(),
        seed: UInt64 = 1
    ) throws -> (air: VirtualAir, log: LinkLog) {
        let made = try makeAir(name, mtu: mtu, impairment: impairment, budget: budget, seed: seed)
        try made.air.start()
        pump()
        return made
    }

    /// Lets the sockets do what they can at the present instant.
    func pump() { loop.pollDescriptors() }

    func advance(by span: Interval, step: Interval = .milliseconds(50)) {
        let end = loop.now.monotonic + span
        while loop.now.monotonic < end {
            loop.advance(by: min(step, end - loop.now.monotonic))
            pump()
        }
    }

    func write(range text: String) throws {
        let file = FileDescriptor(owning: open(room + "/range", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
        guard file.isOpen else { throw SystemError.last("open") }
        let bytes = Array(text.utf8)
        if !bytes.isEmpty { XCTAssertEqual(bytes.withUnsafeBytes { file.write($0) }, .bytes(bytes.count)) }
    }

    // MARK: Another implementation's node

    func dial(_ name: String) throws -> RawPeer {
        RawPeer(try UnixSocket.connect(.messages, to: "\(room)/\(name).air"))
    }

    func listen(as name: String) throws -> FileDescriptor {
        try UnixSocket.listen(.messages, at: "\(room)/\(name).air")
    }
}

/// A bare SEQPACKET socket that speaks for itself.
final class RawPeer {
    let socket: FileDescriptor

    init(_ socket: FileDescriptor) { self.socket = socket }

    func send(_ bytes: [UInt8]) {
        let sent: Int
        if bytes.isEmpty {
            sent = Glibc.send(socket.raw, bytes, 0, 0)
        } else {
            sent = bytes.withUnsafeBytes { Glibc.send(socket.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        XCTAssertEqual(sent, bytes.count)
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    enum Incoming: Equatable {
        case message([UInt8])
        case nothing
        case end
    }

    func receive() -> Incoming {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        switch buffer.withUnsafeMutableBytes({ socket.receiveMessage(into: $0) }) {
        case .length(let length): return .message(Array(buffer.prefix(length)))
        case .empty: return .message([])
        case .wouldBlock: return .nothing
        case .failed(let error) where error.code == ECONNRESET: return receive()
        case .end, .failed: return .end
        }
    }

    func receiveText() -> String? {
        guard case .message(let bytes) = receive() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Messages waiting, until there are none.
    func drain() -> [[UInt8]] {
        var messages: [[UInt8]] = []
        while case .message(let bytes) = receive() { messages.append(bytes) }
        return messages
    }
}

/// Everything a radio reported, in order.
final class LinkLog: LinkPortDelegate {
    enum Event: Equatable {
        case up(LinkID, LinkRole, Int)
        case frame([UInt8], LinkID)
        case down(LinkID)
    }

    private(set) var events: [Event] = []
    var onEvent: ((Event) -> Void)?

    func linkUp(_ link: LinkID, role: LinkRole, frameLimit: Int, neighbour: UInt64?) {
        record(.up(link, role, frameLimit))
    }
    func linkChanged(_ link: LinkID, frameLimit: Int) {}
    func linkReceived(_ frame: UnsafeRawBufferPointer, on link: LinkID) { record(.frame([UInt8](frame), link)) }
    func linkDown(_ link: LinkID) { record(.down(link)) }
    func peer(on link: LinkID) -> PeerID? { nil }
    func provenPeer(on link: LinkID) -> PeerID? { nil }

    private func record(_ event: Event) {
        events.append(event)
        onEvent?(event)
    }

    var ups: [(link: LinkID, role: LinkRole, limit: Int)] {
        events.compactMap { if case .up(let link, let role, let limit) = $0 { (link, role, limit) } else { nil } }
    }
    var frames: [[UInt8]] { events.compactMap { if case .frame(let bytes, _) = $0 { bytes } else { nil } } }
    var downs: [LinkID] { events.compactMap { if case .down(let link) = $0 { link } else { nil } } }

    func link(_ role: LinkRole) -> LinkID? { ups.last { $0.role == role && !downs.contains($0.link) }?.link }
}

/// A plausible frame of `size` bytes: version 1, no flags, its payload length filled in.
func makeFrame(_ fill: UInt8, size: Int = 22) -> [UInt8] {
    var frame: [UInt8] = [1, 2, 7]
    frame.append(bigEndian: UInt64(1_750_000_000_000))
    frame.append(0)
    frame.append(bigEndian: UInt16(size - 22))
    frame.append(contentsOf: [UInt8](repeating: fill, count: 8 + size - 22))
    return frame
}

import Basics
import EventLoop
import Wire
import XCTest

@testable import Radio

/// Boxes on scripted controllers in virtual time.
final class BluetoothWorld {
    let loop = EmbeddedLoop()
    let ether: Ether
    private var nodes: [Node] = []
    private var nextAdapter: UInt16 = 0
    private var nextPhone: UInt64 = 0xC000_0000_0000

    init() { ether = Ether(loop: loop) }

    final class Node {
        let radio: BluetoothRadio
        let log: BoundLog
        let adapters: [ScriptedAdapter]
        let sockets: ScriptedSocketPort
        var adapter: ScriptedAdapter { adapters[0] }
        var address: BluetoothAddress { adapter.address }

        init(_ radio: BluetoothRadio, _ log: BoundLog, _ adapters: [ScriptedAdapter], _ sockets: ScriptedSocketPort) {
            (self.radio, self.log, self.adapters, self.sockets) = (radio, log, adapters, sockets)
        }
    }

    /// A started box whose adapters are up.
    func box(adapters count: Int = 1, budget: LinkBudget = LinkBudget(), seed: UInt64 = 1) -> Node {
        let sockets = ether.port()
        let radio = BluetoothRadio(
            loop: loop, configuration: BluetoothConfiguration(budget: budget), sockets: sockets,
            random: SeededRandom(seed: seed))
        let log = BoundLog()
        radio.delegate = log
        let adapters = (0..<count).map { _ in
            nextAdapter += 1
            return ScriptedAdapter(nextAdapter - 1, ether: ether)
        }
        for adapter in adapters { radio.add(adapter) }
        radio.start()
        for adapter in adapters { adapter.comeUp() }
        loop.settle()
        let node = Node(radio, log, adapters, sockets)
        nodes.append(node)
        return node
    }

    func phoneAddress() -> BluetoothAddress {
        nextPhone += 1
        return BluetoothAddress(value: nextPhone, kind: .random)
    }

    /// A phone that calls, has subscribed, and has read what it was answered.
    func dial(_ node: Node) throws -> ScriptedSocket {
        let socket = try ether.dial(from: phoneAddress(), to: node.address)
        advance(.milliseconds(100))
        socket.send(Phone.exchangeMTU)
        advance(.milliseconds(100))
        XCTAssertEqual(socket.drain(), [[0x03, 0x05, 0x02]])
        socket.send(Phone.subscribe)
        advance(.milliseconds(100))
        XCTAssertEqual(socket.drain(), [[0x13]])
        return socket
    }

    /// `a` hears `b` and calls it; both links are up when it returns.
    func connect(_ a: Node, to b: Node) {
        a.adapter.hear(b.address)
        advance(.seconds(2))
    }

    func advance(_ span: Interval) { loop.advance(by: span) }
}

/// Everything a radio reported, and whom it is told to believe at the far ends.
final class BoundLog: LinkPortDelegate {
    private(set) var events: [LinkLog.Event] = []
    private(set) var neighbours: [LinkID: UInt64] = [:]
    private(set) var limits: [LinkID: [Int]] = [:]
    var peers: [LinkID: PeerID] = [:]
    /// Links whose peers made a handshake over them.
    var proven: Set<LinkID> = []
    /// Who is found at every new link, as when announces come through at once.
    var bindsAt: ((LinkID) -> PeerID?)?
    var onFrame: ((LinkID) -> Void)?

    func linkUp(_ link: LinkID, role: LinkRole, frameLimit: Int, neighbour: UInt64?) {
        events.append(.up(link, role, frameLimit))
        neighbours[link] = neighbour
        limits[link] = [frameLimit]
        peers[link] = bindsAt?(link)
    }
    func linkChanged(_ link: LinkID, frameLimit: Int) { limits[link, default: []].append(frameLimit) }
    func linkReceived(_ frame: UnsafeRawBufferPointer, on link: LinkID) {
        events.append(.frame([UInt8](frame), link))
        onFrame?(link)
    }
    func linkDown(_ link: LinkID) {
        events.append(.down(link))
        peers[link] = nil
    }
    func peer(on link: LinkID) -> PeerID? { peers[link] }
    func provenPeer(on link: LinkID) -> PeerID? { proven.contains(link) ? peers[link] : nil }

    var ups: [(link: LinkID, role: LinkRole, limit: Int)] {
        events.compactMap { if case .up(let link, let role, let limit) = $0 { (link, role, limit) } else { nil } }
    }
    var frames: [[UInt8]] { events.compactMap { if case .frame(let bytes, _) = $0 { bytes } else { nil } } }
    var downs: [LinkID] { events.compactMap { if case .down(let link) = $0 { link } else { nil } } }
    var live: [(link: LinkID, role: LinkRole)] {
        let gone = Set(downs)
        return ups.filter { !gone.contains($0.link) }.map { ($0.link, $0.role) }
    }
    func link(_ role: LinkRole) -> LinkID? { live.last { $0.role == role }?.link }
}

extension BoundLog {
    /// Somebody else at every link.
    func bindEverybody() {
        var last: UInt64 = 0
        bindsAt = { _ in
            last += 1
            return PeerID(value: last)
        }
    }
}

/// The client's part of chapter 03 D6, by hand.
enum Phone {
    static let exchangeMTU: [UInt8] = [0x02, 0x05, 0x02]
    static let subscribe: [UInt8] = [0x12, 0x13, 0x00, 0x01, 0x00]
    static func write(_ frame: [UInt8]) -> [UInt8] { [0x52, 0x12, 0x00] + frame }
}

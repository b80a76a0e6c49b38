import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// One node under test; the test plays its neighbours, frame by frame.
final class NodeHarness {
    struct Sent {
        let at: Instant
        let link: LinkID
        let frame: Frame
        let priority: WritePriority
    }

    let identity: NodeIdentity
    let node: MeshNode
    private(set) var now = SimulatedMesh.start
    private(set) var sent: [Sent] = []
    private(set) var events: [MeshEvent] = []
    private(set) var batches: [(at: Instant, batch: HistoryBatch)] = []
    private(set) var boardBatches: [(at: Instant, batch: BoardBatch)] = []
    private var nextLink: UInt64 = 1

    init(
        seed: UInt64 = 1, identity: NodeIdentity? = nil, isClockTrusted: Bool = true, history: [HistoryRecord] = [],
        board: [BoardRecord] = [], policy: GossipPolicy = .gateway
    ) {
        var random = SeededRandom(seed: seed)
        let generated = NodeIdentity.generate(using: &random)
        self.identity = identity ?? generated
        var configuration = MeshConfiguration(nickname: "gate", isClockTrusted: isClockTrusted)
        configuration.gossip = policy
        node = MeshNode(
            configuration: configuration, identity: self.identity, random: SeededRandom(seed: random.next()))
        if !history.isEmpty { call { $0.restoreHistory(history, at: $1) } }
        if !board.isEmpty { call { $0.restoreBoard(board, at: $1) } }
        call { $0.start(at: $1) }
    }

    var me: PeerID { identity.peerID }

    func call(_ action: (MeshNode, Now) -> Void) {
        action(node, now)
        while let effect = node.nextEffect() {
            switch effect {
            case .transmit(let bytes, let link, let priority):
                guard let frame = try? Frame(bytes) else { return XCTFail("sent no frame") }
                sent.append(Sent(at: now.monotonic, link: link, frame: frame, priority: priority))
            case .disconnect: break
            case .event(let event): events.append(event)
            case .archive(let batch): batches.append((now.monotonic, batch))
            case .boardArchive(let batch): boardBatches.append((now.monotonic, batch))
            }
        }
    }

    func advance(by span: Interval) {
        let end = now.monotonic + span
        while let due = node.nextDeadline, due <= end {
            now = now.advanced(by: due > now.monotonic ? due - now.monotonic : .zero)
            call { $0.timeout(at: $1) }
        }
        now = now.advanced(by: end - now.monotonic)
    }

    /// Lets time pass without calling the node, as when its loop is held up.
    func stall(_ span: Interval) { now = now.advanced(by: span) }

    /// Moves the wall clock alone.
    func setWall(_ wall: WallTime) { now.wall = wall }

    func addLink(frameLimit: Int = 512) -> LinkID {
        let link = LinkID(value: nextLink)
        nextLink += 1
        call { $0.linkUp(link, role: .incoming, frameLimit: frameLimit, at: $1) }
        return link
    }

    func receive(_ bytes: [UInt8], on link: LinkID) {
        call { node, now in bytes.withUnsafeBytes { node.receive($0, on: link, at: now) } }
    }

    func receive(_ frame: Frame, on link: LinkID) { receive(frame.bytes, on: link) }

    /// A neighbour on a link of its own, introduced by its announce.
    func meet(_ peer: ScriptedPeer, frameLimit: Int = 512) throws -> LinkID {
        let link = addLink(frameLimit: frameLimit)
        receive(try peer.announce(at: now), on: link)
        return link
    }

    func clearSent() { sent.removeAll() }
    func frames(_ type: MessageType) -> [Sent] { sent.filter { $0.frame.type == type } }
    var answers: [Sent] { sent.filter { $0.frame.isSyncResponse } }
    var heard: [PublicMessage] {
        events.compactMap { if case .publicMessage(let message) = $0 { message } else { nil } }
    }
    func drops(_ reason: MeshDrop) -> UInt64 { node.drops[reason] }

    /// Requests sent to a peer, whole ones only.
    func requests(to peer: PeerID? = nil) throws -> [(at: Instant, packet: Packet, request: RequestSync)] {
        try frames(.requestSync).filter { peer == nil || $0.frame.recipientID == peer }.map {
            let packet = try XCTUnwrap($0.frame.packet())
            return ($0.at, packet, try XCTUnwrap(RequestSync(payload: packet.payload)))
        }
    }
}

/// Somebody the test speaks for.
struct ScriptedPeer {
    let identity: NodeIdentity
    var capabilities: Capabilities?

    init(seed: UInt64, capabilities: Capabilities? = nil) {
        var random = SeededRandom(seed: seed)
        identity = NodeIdentity.generate(using: &random)
        self.capabilities = capabilities
    }

    static let iPhone: Capabilities = [.prekeys, .groups]

    var id: PeerID { identity.peerID }

    /// - Parameter age: milliseconds before `now`.
    func frame(
        _ type: MessageType, _ payload: [UInt8], at now: Now, age: Int64 = 0, ttl: UInt8 = 7,
        recipient: PeerID? = nil, isAnswer: Bool = false, isSigned: Bool = true
    ) throws -> Frame {
        var packet = Packet(
            type: type, ttl: ttl, timestamp: WallTime(milliseconds: UInt64(Int64(now.wall.milliseconds) - age)),
            senderID: id, recipientID: recipient, payload: payload)
        if isSigned { try identity.sign(&packet) }
        packet.isSyncResponse = isAnswer
        return try Frame(packet.encoded())
    }

    func announce(at now: Now, age: Int64 = 0, ttl: UInt8 = 7, isAnswer: Bool = false) throws -> Frame {
        let payload = Announce(
            nickname: "peer", noisePublicKey: identity.noise.publicKey.bytes,
            signingPublicKey: identity.signing.publicKey.bytes, capabilities: capabilities)
        return try frame(
            .announce, XCTUnwrap(payload.encoded()), at: now, age: age, ttl: ttl, isAnswer: isAnswer)
    }

    func message(_ text: String, at now: Now, age: Int64 = 0, ttl: UInt8 = 7, isAnswer: Bool = false) throws -> Frame {
        try frame(.message, Array(text.utf8), at: now, age: age, ttl: ttl, isAnswer: isAnswer)
    }

    /// A request for what the types say, as from an empty store.
    func request(
        _ types: SyncTypes? = [.announce, .message], to peer: PeerID?, at now: Now, age: Int64 = 0, ttl: UInt8 = 0,
        holding held: [Frame] = [], isSigned: Bool = true
    ) throws -> Frame {
        let (filter, _) = GCSFilter.build(
            newestFirst: held.compactMap(\.id).map { GCSHash($0) }, budget: 400, parameter: 7)
        let payload = try XCTUnwrap(RequestSync(filter: filter, types: types).encoded())
        return try frame(.requestSync, payload, at: now, age: age, ttl: ttl, recipient: peer, isSigned: isSigned)
    }
}

import Basics
import Crypto
import Wire

/// A phone that does nothing but announce itself, send directed packets to another such phone, and note what comes in.
final class PostPhone: Outsider {
    let identity: NodeIdentity
    private let nickname: String
    private var random: SeededRandom
    private var link: LinkID?
    /// When each parcel for this phone came, by the number at the head of its payload.
    private(set) var arrivals: [UInt64: Instant] = [:]

    private static let announceInterval = Interval.seconds(15)

    init(_ nickname: String, seed: UInt64) {
        random = SeededRandom(seed: seed)
        var random = random
        identity = NodeIdentity.generate(using: &random)
        self.random = random
        self.nickname = nickname
    }

    var id: PeerID { identity.peerID }

    func linkUp(_ link: LinkID, to node: Int, in mesh: SimulatedMesh) {
        self.link = link
        announce(mesh)
    }

    func linkDown(_ link: LinkID, in mesh: SimulatedMesh) { self.link = nil }

    func received(_ frame: [UInt8], on link: LinkID, in mesh: SimulatedMesh) {
        guard let frame = try? Frame(frame), frame.recipientID == id, let payload = frame.payload(), payload.count > 8
        else { return }
        let number = payload.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if arrivals[number] == nil { arrivals[number] = mesh.now.monotonic }
    }

    /// Sends one packet with a number at the head of its payload.
    func send(_ type: MessageType, to other: PeerID, number: UInt64, bytes: Int, in mesh: SimulatedMesh) {
        guard let link else { return }
        var payload: [UInt8] = []
        payload.append(bigEndian: number)
        payload += random.bytes(bytes)
        let packet = Packet(type: type, timestamp: mesh.now.wall, senderID: id, recipientID: other, payload: payload)
        mesh.transmit(PacketForge.bytes(packet), on: link)
    }

    private func announce(_ mesh: SimulatedMesh) {
        if let link {
            mesh.transmit(PacketForge.announce(of: identity, nickname: nickname, at: mesh.now.wall), on: link)
        }
        mesh.schedule(after: PostPhone.announceInterval) { [weak self] in self?.announce($0) }
    }
}

import Basics
import Crypto
import Wire

/// A phone that announces itself like any other and leaves what it likes with a box: letters in numbers, letters in
/// somebody else's name, and frames that others sent.
final class CrookedDepositor: Outsider {
    let identity: NodeIdentity
    private var link: LinkID?

    private static let announceInterval = Interval.seconds(15)

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        identity = NodeIdentity.generate(using: &random)
    }

    func linkUp(_ link: LinkID, to node: Int, in mesh: SimulatedMesh) {
        self.link = link
        announce(mesh)
    }

    func linkDown(_ link: LinkID, in mesh: SimulatedMesh) { self.link = nil }

    private func announce(_ mesh: SimulatedMesh) {
        guard let link else { return }
        mesh.transmit(PacketForge.announce(of: identity, nickname: "somebody", at: mesh.now.wall), on: link)
        mesh.schedule(after: CrookedDepositor.announceInterval) { [weak self] in self?.announce($0) }
    }

    /// - Parameters:
    ///   - sender: in whose name.
    ///   - signer: whose signature it bears; nil: none.
    func leave(
        _ envelope: CourierEnvelope, with box: PeerID, as sender: PeerID, signedBy signer: NodeIdentity?,
        in mesh: SimulatedMesh
    ) {
        guard let link, let payload = envelope.encoded() else { return }
        let packet = Packet(
            type: .courierEnvelope, timestamp: mesh.now.wall, senderID: sender, recipientID: box, payload: payload)
        mesh.transmit(PacketForge.bytes(packet, signedBy: signer), on: link)
    }

    func replay(_ frame: [UInt8], in mesh: SimulatedMesh) {
        if let link { mesh.transmit(frame, on: link) }
    }

    func hangUp(in mesh: SimulatedMesh) {
        if let link { mesh.disconnect(link) }
    }
}

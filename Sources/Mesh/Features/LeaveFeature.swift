import Basics
import Crypto
import Wire

/// Goodbyes (chapter 03 B11.2). The payload means nothing; the signature everything.
final class LeaveFeature: MeshFeature {
    let types: [MessageType] = [.leave]
    let interests: MeshOccurrence.Kinds = .life
    let isTimed = false

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        switch mesh.authenticate(arrival) {
        case .unknownAuthor:
            mesh.drops.count(.unknownAuthor)
            return .unknownAuthor(relay: false)
        case .forged:
            mesh.drops.count(.badSignature)
            return .forged
        case .verified:
            // Replayed, or overtaken on the way: the peer is back.
            if let live = mesh.registry[arrival.sender], arrival.timestamp < live.announcedAt {
                mesh.drops.count(.leaveOutdated)
                return .accepted(relay: false)
            }
            mesh.departures.note(arrival.sender, saidAt: arrival.timestamp, at: mesh.now.monotonic)
            mesh.linkTable.retireProofs(of: arrival.sender)
            mesh.noise.forget(arrival.sender, in: mesh)
            if mesh.registry.remove(arrival.sender) != nil {
                mesh.refreshOwnClaim()
                mesh.emit(.peerLeft(arrival.sender))
                mesh.tellFeatures(.removed(arrival.sender))
            }
            return .accepted(relay: true)
        }
    }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        guard case .stopping = occurrence else { return }
        mesh.originate(
            Packet(type: .leave, timestamp: mesh.now.wall, senderID: mesh.me), signed: true, goesEverywhere: true)
    }
}

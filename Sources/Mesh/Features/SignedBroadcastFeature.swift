import Basics
import Crypto
import Wire

/// Files and live voice: carried on only when the author's signature verifies, never stored or delivered here (chapter
/// 03 B5, B15).
final class SignedBroadcastFeature: MeshFeature {
    let types: [MessageType] = [.fileTransfer, .voiceFrame]
    let interests: MeshOccurrence.Kinds = []
    let isTimed = false

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        if arrival.type == .voiceFrame {
            guard arrival.isBroadcast else { return refuse(.notAddressed, in: mesh) }
            let limit = MeshLimits.voiceFrameMaxAgeMilliseconds
            guard
                !mesh.isClockTrusted || !arrival.timestamp.isOlder(thanMilliseconds: limit, at: mesh.now.wall)
            else {
                return refuse(.stale, in: mesh)
            }
        }
        switch mesh.authenticate(arrival) {
        case .unknownAuthor:
            mesh.drops.count(.unknownAuthor)
            return .unknownAuthor(relay: false)
        case .forged:
            mesh.drops.count(.badSignature)
            return .forged
        case .verified:
            if arrival.type == .fileTransfer, arrival.isBroadcast {
                mesh.offerToGossip(arrival)
            }
            return .accepted(relay: true)
        }
    }

    private func refuse(_ reason: MeshDrop, in mesh: MeshNode) -> Verdict {
        mesh.drops.count(reason)
        return .accepted(relay: false)
    }
}

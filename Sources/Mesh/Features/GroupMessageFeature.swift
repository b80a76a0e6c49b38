import Wire

/// Group messages, carried unopened (chapter 04 §13.1). Nothing about them can be checked but their form, and without
/// it they are still relayed, only not kept.
final class GroupMessageFeature: MeshFeature {
    let types: [MessageType] = [.groupMessage]
    let interests: MeshOccurrence.Kinds = []
    let isTimed = false

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        if arrival.isBroadcast {
            if arrival.frame.payload().flatMap({ GroupEnvelope(payload: $0) }) != nil {
                mesh.offerToGossip(arrival)
            } else {
                mesh.drops.count(.malformedPayload)
            }
        }
        return .accepted(relay: true)
    }
}

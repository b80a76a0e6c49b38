import Wire

/// Types nobody registered for: relayed by the generic rules, never looked into (chapter 03 B5, chapter 01 §2.5).
final class OpaqueFeature: MeshFeature {
    let types: [MessageType] = []

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict { .accepted(relay: arrival.type != .requestSync) }
}

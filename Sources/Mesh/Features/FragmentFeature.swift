import Basics
import Wire

/// Puts fragments together (chapter 03 B12). Every well-formed fragment is relayed on its own, whether or not it is of
/// interest here; only broadcast trains and those addressed to us are assembled.
final class FragmentFeature: MeshFeature {
    let types: [MessageType] = [.fragment]
    let interests: MeshOccurrence.Kinds = .tick
    let isTimed = false

    private(set) var assembler = FragmentAssembler()

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        // Our own, offered back by sync: gossip may keep it, there is nothing to learn from it.
        if arrival.sender == mesh.me {
            if arrival.isBroadcast { mesh.offerToGossip(arrival) }
            return .accepted(relay: false)
        }
        let isForUs = arrival.isBroadcast || arrival.recipient == mesh.me
        let outcome = arrival.frame.withView { view in
            view.withPayload { payload -> FragmentAssembler.Outcome? in
                guard let header = FragmentHeader(payload: payload) else { return nil }
                guard isForUs else { return .stored(opened: false) }
                return assembler.add(
                    header, slice: FragmentHeader.slice(of: payload), sender: arrival.sender, link: arrival.link,
                    isBroadcast: arrival.isBroadcast, at: mesh.now.monotonic)
            } ?? nil
        }
        guard let outcome else {
            mesh.drops.count(.malformedPayload)
            return .accepted(relay: false)
        }
        if arrival.isBroadcast { mesh.offerToGossip(arrival) }
        switch outcome {
        case .stored: break
        case .complete(let joined): mesh.receiveReassembled(joined, of: arrival)
        case .oversized, .refused: mesh.drops.count(.assemblyLimit)
        }
        return .accepted(relay: true)
    }

    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        let limits = assembler.limits
        note("assemblies", assembler.count, limits.sets)
        note("assembly-bytes", assembler.bytes, limits.bytes)
    }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        guard case .tick = occurrence, mesh.maintenance.isCleanup else { return }
        let stalled = assembler.takeStalled(
            idle: MeshLimits.fragmentResyncIdle, retry: MeshLimits.fragmentResyncRetry,
            most: MeshLimits.fragmentResyncStreams, at: mesh.now.monotonic)
        if !stalled.isEmpty { mesh.tellFeatures(.stalled(stalled)) }
        mesh.drops.count(.assemblyExpired, UInt64(assembler.expire(at: mesh.now.monotonic)))
    }
}

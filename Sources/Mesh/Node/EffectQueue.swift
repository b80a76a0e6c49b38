/// Effects in the order they arose. Drained after every call to the node, so its length is bound by what one call can
/// cause: a frame a link, for each relay and fragment due.
struct EffectQueue {
    private var effects: [MeshEffect?] = []
    private var next = 0

    mutating func add(_ effect: MeshEffect) { effects.append(effect) }

    mutating func take() -> MeshEffect? {
        guard next < effects.count else {
            if next > 0 {
                effects.removeAll(keepingCapacity: true)
                next = 0
            }
            return nil
        }
        // Moved out, not copied.
        var effect: MeshEffect?
        swap(&effect, &effects[next])
        next += 1
        return effect
    }
}

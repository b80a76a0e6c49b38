/// Effects in the order they were decided, taken one by one by the owner of the engine.
struct EffectQueue<Effect> {
    private var effects: [Effect] = []
    private var taken = 0

    mutating func add(_ effect: Effect) { effects.append(effect) }

    mutating func next() -> Effect? {
        guard taken < effects.count else { return nil }
        defer {
            taken += 1
            if taken == effects.count {
                effects.removeAll(keepingCapacity: true)
                taken = 0
            }
        }
        return effects[taken]
    }
}

/// First-in first-out chains through the slots of a table, each slot in at most one of them: appending, and taking out
/// from anywhere, touch the neighbours only.
struct SlotChains {
    struct Chain {
        fileprivate(set) var oldest: Int?
        fileprivate(set) var newest: Int?
        fileprivate(set) var count = 0
    }

    private static let none: Int32 = -1
    private var older: [Int32] = []
    private var newer: [Int32] = []

    mutating func append(_ slot: Int, to chain: inout Chain) {
        while older.count <= slot {
            older.append(Self.none)
            newer.append(Self.none)
        }
        older[slot] = chain.newest.map(Int32.init) ?? Self.none
        newer[slot] = Self.none
        if let newest = chain.newest { newer[newest] = Int32(slot) } else { chain.oldest = slot }
        chain.newest = slot
        chain.count += 1
    }

    /// The slot must be in the chain.
    mutating func remove(_ slot: Int, from chain: inout Chain) {
        let before = link(older[slot])
        let after = link(newer[slot])
        if let before { newer[before] = newer[slot] } else { chain.oldest = after }
        if let after { older[after] = older[slot] } else { chain.newest = before }
        chain.count -= 1
    }

    func next(after slot: Int) -> Int? { link(newer[slot]) }

    private func link(_ value: Int32) -> Int? { value < 0 ? nil : Int(value) }
}

/// A set of small numbers.
struct BitSet: Equatable {
    private var words: [UInt64] = []

    func contains(_ member: Int) -> Bool {
        member >> 6 < words.count && words[member >> 6] & (1 << UInt64(member & 63)) != 0
    }

    /// - Returns: true when the member is new.
    @discardableResult
    mutating func insert(_ member: Int) -> Bool {
        while words.count <= member >> 6 { words.append(0) }
        let bit: UInt64 = 1 << UInt64(member & 63)
        defer { words[member >> 6] |= bit }
        return words[member >> 6] & bit == 0
    }

    mutating func remove(_ member: Int) {
        if member >> 6 < words.count { words[member >> 6] &= ~(1 << UInt64(member & 63)) }
    }

    mutating func formUnion(_ other: BitSet) {
        while words.count < other.words.count { words.append(0) }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    var members: [Int] {
        words.indices.flatMap { word in
            (0..<64).filter { words[word] & (1 << UInt64($0)) != 0 }.map { word * 64 + $0 }
        }
    }

    /// The least member that `other` lacks.
    func firstMissing(in other: BitSet) -> Int? {
        for index in words.indices {
            let missing = words[index] & ~(index < other.words.count ? other.words[index] : 0)
            if missing != 0 { return index * 64 + missing.trailingZeroBitCount }
        }
        return nil
    }
}

/// Who hears whom: the pairs listed in a room's `range` file, in both directions.
struct RangeTable: Equatable {
    private struct Pair: Hashable {
        let low: AirName
        let high: AirName

        init(_ a: AirName, _ b: AirName) { (low, high) = a < b ? (a, b) : (b, a) }
    }

    private var pairs: Set<Pair> = []
    /// The first line that is not a pair, comment or blank, as `line 3: …`; such lines are skipped.
    private(set) var problem: String?

    /// Lines `a b`; `#` starts a comment.
    init(parsing text: [UInt8]) {
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split {
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r")
            }
            if words.isEmpty { continue }
            let names = words.map { AirName(String(decoding: $0, as: UTF8.self)) }
            if words.count == 2, let a = names[0], let b = names[1], a != b {
                pairs.insert(Pair(a, b))
            } else if problem == nil {
                problem = "line \(index + 1): expected two different names of a-z, 0-9 and -"
            }
        }
    }

    func hears(_ a: AirName, _ b: AirName) -> Bool { pairs.contains(Pair(a, b)) }
}

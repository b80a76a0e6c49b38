/// Finds the key, option or command an operator probably meant.
public enum NearestKey {
    /// Longest key looked at: the search is quadratic.
    static let lengthLimit = 64

    /// The key within a third of its length in edits, or the only one with the same last part; `nil` when none is near.
    public static func find(_ wrong: String, in known: [String]) -> String? {
        guard wrong.utf8.count <= lengthLimit else { return nil }
        let lastPart = wrong.split(separator: ".").last.map { "." + $0 } ?? wrong
        let sameName = known.filter { $0.hasSuffix(lastPart) }
        if sameName.count == 1 { return sameName[0] }
        let ranked = known.filter { !$0.isEmpty }.map { (key: $0, distance: distance(wrong, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance * 3 <= max(wrong.utf8.count, 3) ? best.key : nil
    }

    /// Edit distance where inserting, deleting, replacing one byte or swapping two neighbours counts one.
    static func distance(_ first: String, _ second: String) -> Int {
        let a = Array(first.utf8)
        let b = Array(second.utf8)
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
                row.append(best)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}

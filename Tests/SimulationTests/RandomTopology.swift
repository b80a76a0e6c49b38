import Basics

/// A random connected graph of few neighbours a node: what a crowd of phones in a park looks like from above.
struct RandomTopology {
    let count: Int
    /// Who opens a link to whom.
    let edges: [(Int, Int)]

    /// - Parameter degree: most neighbours of one node, at least 2.
    init(count: Int, degree: Int, using random: inout SeededRandom) {
        var edges: [(Int, Int)] = []
        var neighbours = [Set<Int>](repeating: [], count: count)
        func join(_ a: Int, _ b: Int) {
            guard a != b, !neighbours[a].contains(b) else { return }
            neighbours[a].insert(b)
            neighbours[b].insert(a)
            edges.append(Bool.random(using: &random) ? (a, b) : (b, a))
        }
        for node in 1..<count {
            let open = (0..<node).filter { neighbours[$0].count < degree }
            if let other = open.randomElement(using: &random) { join(other, node) }
        }
        for _ in 0..<count {
            let open = (0..<count).filter { neighbours[$0].count < degree }
            if let a = open.randomElement(using: &random), let b = open.randomElement(using: &random) { join(a, b) }
        }
        self.count = count
        self.edges = edges
    }

    /// Hops from a node to each other one.
    func distances(from start: Int) -> [Int] {
        var distances = [Int](repeating: .max, count: count)
        distances[start] = 0
        var frontier = [start]
        while !frontier.isEmpty {
            var next: [Int] = []
            for node in frontier {
                for (a, b) in edges where a == node || b == node {
                    let other = a == node ? b : a
                    guard distances[other] == .max else { continue }
                    distances[other] = distances[node] + 1
                    next.append(other)
                }
            }
            frontier = next
        }
        return distances
    }

    /// The longest of all shortest ways.
    var diameter: Int { (0..<count).compactMap { distances(from: $0).max() }.max() ?? 0 }
}

import Wire

/// A mesh as one would explain it: whoever is linked tells each other what they know. No packets, no timers, no
/// filters, no cleverness; what the real nodes do is compared with this.
struct ReferenceMesh {
    private(set) var links: [LinkID: (a: Int, b: Int)] = [:]
    /// Messages each node has, its own included.
    private(set) var has: [Int: BitSet] = [:]
    /// Authors whose key each node knows: nobody takes in a message it cannot verify.
    private(set) var knows: [Int: BitSet] = [:]
    private var author: [Int] = []

    mutating func join(_ node: Int) { knows[node, default: BitSet()].insert(node) }
    mutating func link(_ link: LinkID, _ a: Int, _ b: Int) { links[link] = (a, b) }
    mutating func unlink(_ link: LinkID) { links[link] = nil }

    /// Messages are numbered in the order they are said.
    mutating func say(by node: Int) {
        hear(author.count, at: node)
        author.append(node)
    }

    /// Numbers a message that nobody passes on before its author `hear`s it.
    mutating func announce(by node: Int) { author.append(node) }

    /// Nodes in reach of `start`, nearest first, with their distances.
    func reach(of start: Int, hops: Int = .max, over links: [(a: Int, b: Int)]? = nil) -> [(node: Int, hops: Int)] {
        let links = links ?? Array(self.links.values)
        var found = [(node: start, hops: 0)]
        var seen: Set = [start]
        var next = 0
        while next < found.count {
            let (node, distance) = found[next]
            next += 1
            guard distance < hops else { continue }
            for (a, b) in links where a == node || b == node {
                let other = a == node ? b : a
                if seen.insert(other).inserted { found.append((other, distance + 1)) }
            }
        }
        return found
    }

    /// Everybody in reach of `node` learns all that anybody of them knows.
    mutating func share(around node: Int) {
        let circle = reach(of: node).map(\.node)
        var everything = BitSet()
        var everybody = BitSet()
        for member in circle {
            everything.formUnion(has[member] ?? BitSet())
            everybody.formUnion(knows[member] ?? BitSet())
        }
        for member in circle {
            has[member] = everything
            knows[member] = everybody
        }
    }

    /// Everybody learns who is within so many hops, and over each link each end learns what the other had before.
    mutating func exchange(over links: [(a: Int, b: Int)], hops: Int) {
        let before = (has: has, knows: knows)
        for (a, b) in links {
            for (from, to) in [(a, b), (b, a)] {
                for message in (before.has[from] ?? BitSet()).members
                where before.knows[to]?.contains(author[message]) ?? false {
                    has[to, default: BitSet()].insert(message)
                }
            }
        }
        for node in Set(links.flatMap { [$0.a, $0.b] }) {
            for other in reach(of: node, hops: hops, over: links) { knows[other.node, default: BitSet()].insert(node) }
        }
    }

    mutating func hear(_ message: Int, at node: Int) { has[node, default: BitSet()].insert(message) }
    mutating func forget(_ node: Int) { has[node] = nil }
}

import Basics

/// People who say something now and then.
struct Chatter {
    /// Schedules `count` messages of one node at random moments of a span that begins `after` from now.
    static func schedule(
        _ count: Int, by node: Int, after: Interval, within span: Interval, in mesh: SimulatedMesh,
        using random: inout SeededRandom
    ) {
        for number in 0..<count {
            let delay = after + random.interval(.zero, span)
            let length = Int.random(in: 0...40, using: &random)
            let text = "node \(node) says \(number)" + String(repeating: " and so on", count: length / 8)
            mesh.schedule(after: delay) { if !$0.nodes[node].isRetired { $0.say(text, from: node) } }
        }
    }
}

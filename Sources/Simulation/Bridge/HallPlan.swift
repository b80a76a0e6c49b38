import Basics

/// People who stand in a hall, each linked to a few who stand near. Nobody has more than three links, so what is sent
/// to all is sent to everybody (chapter 03 B7 step 8).
struct HallPlan {
    let places: [Place]
    /// Indexes into `places`. The last place is an end: without it the rest still hangs together.
    let edges: [(Int, Int)]

    static let mostLinks = 3

    /// - Parameters:
    ///   - count: places, the first of them in the middle.
    ///   - corner: where the hall begins.
    init(count: Int, corner: Place, width: Double, depth: Double, using random: inout SeededRandom) {
        var places = [Place(x: corner.x + width / 2, y: corner.y + depth / 2)]
        while places.count < count {
            // The one of some random spots that is farthest from everybody.
            let spots = (0..<20).map { _ in
                Place(
                    x: corner.x + Double.random(in: 0...width, using: &random),
                    y: corner.y + Double.random(in: 0...depth, using: &random))
            }
            let room = { (spot: Place) in places.map { $0.distance(to: spot) }.min() ?? 0 }
            places.append(spots.max { room($0) < room($1) } ?? places[0])
        }
        var edges: [(Int, Int)] = []
        var links = [Int](repeating: 0, count: count)
        func join(_ a: Int, _ b: Int) {
            edges.append(Bool.random(using: &random) ? (a, b) : (b, a))
            links[a] += 1
            links[b] += 1
        }
        for place in 1..<max(1, count) {
            let open = (0..<place).filter { links[$0] < HallPlan.mostLinks }
            let nearest = open.min { places[$0].distance(to: places[place]) < places[$1].distance(to: places[place]) }
            if let nearest { join(nearest, place) }
        }
        let pairs = (0..<count).flatMap { a in (0..<a).map { ($0, a) } }
            .sorted { places[$0.0].distance(to: places[$0.1]) < places[$1.0].distance(to: places[$1.1]) }
        for (a, b) in pairs where links[a] < HallPlan.mostLinks && links[b] < HallPlan.mostLinks {
            if edges.contains(where: { ($0 == a && $1 == b) || ($0 == b && $1 == a) }) { continue }
            if Int.random(in: 0..<3, using: &random) > 0 { join(a, b) }
        }
        self.places = places
        self.edges = edges
    }
}

/// A drawing of one moment: nodes on the floor, their links, and how long one message took to each.
struct Picture {
    let scene: Album.Scene
    let author: Int
    /// Milliseconds to each node that heard the message.
    let delays: [Int: Int64]

    private static let width = 900.0
    private static let height = 560.0
    private static let margin = 30.0
    private static let chart = 140.0
    /// Bars of the chart, and the colours of nodes, at these delays and above.
    private static let steps: [(least: Int64, colour: String, label: String)] = [
        (0, "#1a9850", "below 0.1 s"), (100, "#66bd63", "0.1 s"), (250, "#d9ef8b", "0.25 s"),
        (500, "#fee08b", "0.5 s"), (1_000, "#f46d43", "1 s"), (5_000, "#d73027", "5 s and more"),
    ]

    private static func step(_ delay: Int64) -> Int { steps.lastIndex { delay >= $0.least } ?? 0 }

    var svg: String {
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Picture.width)) "
                + "\(Int(Picture.height + Picture.chart))\" font-family=\"sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        ]
        let spots = self.spots
        for (a, b) in scene.links {
            guard let a = spots[a], let b = spots[b] else { continue }
            lines.append(
                "<line x1=\"\(a.x)\" y1=\"\(a.y)\" x2=\"\(b.x)\" y2=\"\(b.y)\" stroke=\"#bbb\" stroke-width=\"1\"/>")
        }
        for (node, spot) in spots.sorted(by: { $0.key < $1.key }) { lines.append(mark(node, spot)) }
        lines += bars
        lines.append("</svg>\n")
        return lines.joined(separator: "\n")
    }

    /// Places scaled to the page.
    private var spots: [Int: (x: Int, y: Int)] {
        let xs = scene.places.values.map(\.x)
        let ys = scene.places.values.map(\.y)
        guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else { return [:] }
        let scale = min(
            (Picture.width - 2 * Picture.margin) / max(right - left, 1),
            (Picture.height - 2 * Picture.margin) / max(bottom - top, 1))
        return scene.places.mapValues {
            (Int(Picture.margin + ($0.x - left) * scale), Int(Picture.margin + ($0.y - top) * scale))
        }
    }

    private func mark(_ node: Int, _ spot: (x: Int, y: Int)) -> String {
        if node == author {
            return "<circle cx=\"\(spot.x)\" cy=\"\(spot.y)\" r=\"10\" fill=\"#2166ac\"><title>node \(node), author"
                + "</title></circle>"
        }
        let delay = delays[node]
        let colour = delay.map { Picture.steps[Picture.step($0)].colour } ?? "white"
        return
            "<circle cx=\"\(spot.x)\" cy=\"\(spot.y)\" r=\"7\" fill=\"\(colour)\" stroke=\"#555\"><title>node \(node), "
            + (delay.map { "\($0) ms" } ?? "not heard") + "</title></circle>"
    }

    /// How many nodes heard it after how long.
    private var bars: [String] {
        var counts = [Int](repeating: 0, count: Picture.steps.count)
        for delay in delays.values { counts[Picture.step(delay)] += 1 }
        let most = max(1, counts.max() ?? 1)
        return counts.indices.flatMap { index -> [String] in
            let x = Int(Picture.margin) + index * 140
            let height = Int(Double(counts[index]) / Double(most) * (Picture.chart - 50))
            let base = Int(Picture.height + Picture.chart) - 30
            let step = Picture.steps[index]
            return [
                "<rect x=\"\(x)\" y=\"\(base - height)\" width=\"110\" height=\"\(height)\" fill=\"\(step.colour)\"/>",
                "<text x=\"\(x)\" y=\"\(base + 18)\">\(step.label): \(counts[index])</text>",
            ]
        }
    }
}

/// A drawing of one moment: nodes on the floor, their links, and how long one message took to each.
struct Picture {
    /// How a message got to a node.
    struct Arrival {
        /// Milliseconds.
        let delay: Int64
        let way: Way

        enum Way {
            case radio, history, bridge
        }
    }

    let title: String
    let subtitle: String
    let scene: Album.Scene
    let decor: Decor
    let author: Int
    let arrivals: [Int: Arrival]

    private static let width = 960.0
    private static let head = 76.0
    private static let floor = 500.0
    private static let margin = 48.0
    private static let chart = 190.0
    private static var height: Double { head + floor + chart }

    /// Colours of nodes, and bars of the chart, from so many milliseconds on: dark to light, told apart without colour.
    private static let steps: [(least: Int64, colour: String, label: String)] = [
        (0, "#0b3c5d", "under 0.1 s"), (100, "#1d6a8a", "0.1 s"), (250, "#2a9d8f", "0.25 s"), (500, "#8ab17d", "0.5 s"),
        (1_000, "#e9c46a", "1 s"), (2_000, "#f4a261", "2 s"), (10_000, "#e76f51", "10 s or more"),
    ]
    private static let ink = "#22303c"
    private static let faint = "#8895a1"
    private static let danger = "#c1121f"

    private static func step(_ delay: Int64) -> Int { steps.lastIndex { delay >= $0.least } ?? 0 }

    var svg: String {
        let frame = Frame(scene, decor)
        var drawing = Drawing(width: Picture.width, height: Picture.height)
        drawing.text(title, x: Picture.margin, y: 34, size: 20, colour: Picture.ink, isBold: true)
        drawing.text(subtitle, x: Picture.margin, y: 58, size: 13, colour: Picture.faint)
        for room in decor.rooms { draw(room, frame, &drawing) }
        for (a, b) in scene.links {
            guard let a = frame.spot(scene.places[a]), let b = frame.spot(scene.places[b]) else { continue }
            drawing.line(a, b, colour: "#b8c4ce", width: 1.4)
        }
        for landmark in decor.landmarks { draw(landmark, frame, &drawing) }
        for (node, place) in scene.places.sorted(by: { $0.key < $1.key }) {
            if let spot = frame.spot(place) { draw(node, spot, &drawing) }
        }
        frame.drawScale(&drawing, colour: Picture.faint)
        drawChart(&drawing)
        return drawing.svg
    }

    // MARK: The floor

    /// Metres to the page.
    private struct Frame {
        private let origin: Place
        private let scale: Double
        private let shift: (x: Double, y: Double)

        init(_ scene: Album.Scene, _ decor: Decor) {
            var corners = Array(scene.places.values) + decor.landmarks.map(\.place)
            for room in decor.rooms {
                corners.append(room.corner)
                corners.append(Place(x: room.corner.x + room.width, y: room.corner.y + room.depth))
            }
            let left = corners.map(\.x).min() ?? 0
            let top = corners.map(\.y).min() ?? 0
            let wide = max((corners.map(\.x).max() ?? 0) - left, 1)
            let deep = max((corners.map(\.y).max() ?? 0) - top, 1)
            let room = (x: Picture.width - 2 * Picture.margin, y: Picture.floor - Picture.margin)
            origin = Place(x: left, y: top)
            scale = min(room.x / wide, room.y / deep)
            shift = (
                Picture.margin + (room.x - wide * scale) / 2, Picture.head + 24 + (room.y - deep * scale) / 2
            )
        }

        func spot(_ place: Place?) -> Place? {
            place.map { Place(x: shift.x + ($0.x - origin.x) * scale, y: shift.y + ($0.y - origin.y) * scale) }
        }

        func length(_ metres: Double) -> Double { metres * scale }

        func drawScale(_ drawing: inout Drawing, colour: String) {
            let metres = [1.0, 2, 5, 10, 20, 50, 100].last { length($0) <= 160 } ?? 1
            let y = Picture.head + Picture.floor + 8
            let end = Picture.width - Picture.margin
            drawing.line(Place(x: end - length(metres), y: y), Place(x: end, y: y), colour: colour, width: 2)
            drawing.text("\(Int(metres)) m", x: end, y: y - 6, size: 11, colour: colour, anchor: "end")
        }
    }

    private func draw(_ room: Decor.Room, _ frame: Frame, _ drawing: inout Drawing) {
        guard let corner = frame.spot(room.corner) else { return }
        let inset = 14.0
        let width = frame.length(room.width) + 2 * inset
        drawing.rectangle(
            x: corner.x - inset, y: corner.y - inset, width: width, height: frame.length(room.depth) + 2 * inset,
            fill: "#f4f7f9", stroke: "#d5dde3", radius: 8)
        drawing.text(
            room.name, x: corner.x - inset + width / 2, y: corner.y - inset - 6, size: 13, colour: Picture.faint,
            anchor: "middle")
    }

    private func draw(_ landmark: Decor.Landmark, _ frame: Frame, _ drawing: inout Drawing) {
        guard let spot = frame.spot(landmark.place) else { return }
        let colour = landmark.isHostile ? Picture.danger : Picture.faint
        for node in landmark.nodes {
            if let other = frame.spot(scene.places[node]) {
                drawing.line(spot, other, colour: colour, width: 1.4, dashes: true)
            }
        }
        let width = 16 + 7.5 * Double(landmark.name.count)
        drawing.rectangle(
            x: spot.x - width / 2, y: spot.y - 14, width: width, height: 28, fill: "white", stroke: colour, radius: 14)
        drawing.text(landmark.name, x: spot.x, y: spot.y + 4.5, size: 13, colour: colour, anchor: "middle")
    }

    private func draw(_ node: Int, _ spot: Place, _ drawing: inout Drawing) {
        let radius = scene.places.count > 150 ? 4.5 : 8.0
        let arrival = arrivals[node]
        var words = "node \(node), "
        var fill = "white"
        if node == author {
            words += "who said it"
            fill = Picture.danger
        } else if let arrival {
            words += "\(arrival.delay) ms"
            fill = Picture.steps[Picture.step(arrival.delay)].colour
        } else {
            words += "did not hear it"
        }
        let stroke = arrival == nil && node != author ? Picture.faint : Picture.ink
        drawing.open("g")
        drawing.title(words)
        if decor.boxes[node] != nil {
            let side = radius * 2.4
            drawing.rectangle(
                x: spot.x - side / 2, y: spot.y - side / 2, width: side, height: side, fill: fill, stroke: stroke,
                radius: 3)
        } else {
            drawing.circle(spot, radius: node == author ? radius * 1.25 : radius, fill: fill, stroke: stroke)
        }
        if arrival?.way == .bridge { drawing.circle(spot, radius: radius + 4.5, fill: "none", stroke: "#2a6fdb") }
        drawing.close("g")
        if let name = decor.boxes[node] {
            drawing.text(name, x: spot.x, y: spot.y - radius - 8, size: 12, colour: Picture.ink, anchor: "middle")
        }
    }

    // MARK: The chart

    /// How many nodes heard it after how long: the legend of the colours at the same time.
    private func drawChart(_ drawing: inout Drawing) {
        var counts = [Int](repeating: 0, count: Picture.steps.count)
        for arrival in arrivals.values { counts[Picture.step(arrival.delay)] += 1 }
        let most = Double(max(1, counts.max() ?? 1))
        let base = Picture.height - 52
        let slot = (Picture.width - 2 * Picture.margin) / Double(counts.count)
        for (index, step) in Picture.steps.enumerated() {
            let x = Picture.margin + Double(index) * slot
            let height = Double(counts[index]) / most * (Picture.chart - 100)
            drawing.rectangle(
                x: x + 6, y: base - height, width: slot - 12, height: max(height, 1.5), fill: step.colour,
                stroke: "none",
                radius: 2)
            drawing.text(
                String(counts[index]), x: x + slot / 2, y: base - height - 6, size: 13, colour: Picture.ink,
                anchor: "middle")
            drawing.text(step.label, x: x + slot / 2, y: base + 17, size: 12, colour: Picture.ink, anchor: "middle")
        }
        drawing.text(
            "nodes by the time the message took to them", x: Picture.margin + 6, y: Picture.height - 12, size: 12,
            colour: Picture.faint)
        drawKeys(&drawing)
    }

    private func drawKeys(_ drawing: inout Drawing) {
        let y = Picture.height - 16
        var x = Picture.width - Picture.margin
        func key(_ words: String, _ mark: (Place, inout Drawing) -> Void) {
            drawing.text(words, x: x, y: y + 4, size: 12, colour: Picture.ink, anchor: "end")
            x -= 6.4 * Double(words.count) + 14
            mark(Place(x: x, y: y), &drawing)
            x -= 22
        }
        if arrivals.values.contains(where: { $0.way == .bridge }) {
            key("over the bridge") {
                $1.circle($0, radius: 5, fill: Picture.steps[3].colour, stroke: Picture.ink)
                $1.circle($0, radius: 8.5, fill: "none", stroke: "#2a6fdb")
            }
        }
        key("did not hear it") { $1.circle($0, radius: 6, fill: "white", stroke: Picture.faint) }
        key("said it") { $1.circle($0, radius: 6, fill: Picture.danger, stroke: Picture.ink) }
    }
}

import Basics
import Mesh
import Wire

/// Keeps where everybody stood and who was linked at the moment each message was said, so that one of the moments can
/// be drawn.
public final class Album: SimulationObserver {
    public let watchesAir = false
    struct Scene {
        let places: [Int: Place]
        let links: [(a: Int, b: Int)]
    }

    private unowned let run: SimulationRun
    private var scenes: [Scene] = []
    private var links: [LinkID: (a: Int, b: Int)] = [:]

    init(_ run: SimulationRun) { self.run = run }

    public func linkUp(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) { links[link] = (a, b) }
    public func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) { links[link] = nil }

    public func said(_ message: PublicMessage, by node: Int, in mesh: SimulatedMesh) {
        var places: [Int: Place] = [:]
        for node in mesh.nodes where !node.isRetired { places[node.index] = run.scenario.place(of: node.index) }
        let current = links.sorted { $0.key < $1.key }.map(\.value)
        scenes.append(Scene(places: places, links: current.filter { places[$0.a] != nil && places[$0.b] != nil }))
    }

    /// The mesh while the message that most nodes heard in time was on its way.
    public var picture: String? {
        let arrivals = self.arrivals
        let prompt = arrivals.map { $0.values.count { $0.way != .history } }
        guard let best = prompt.indices.max(by: { (prompt[$0], -$0) < (prompt[$1], -$1) }) else { return nil }
        let said = run.log.said[best]
        let scene = scenes[best]
        let delays = arrivals[best].values.map(\.delay).sorted()
        let half = delays.isEmpty ? 0 : delays[delays.count / 2]
        let moment = ClockText.text(said.at - SimulatedMesh.start.monotonic)
        return Picture(
            title: "\(type(of: run.scenario).name), seed \(run.setting.seed): how message \(best) of "
                + "\(run.log.said.count) spread",
            subtitle: "said at \(moment) by node \(said.author) of \(scene.places.count), \(scene.links.count) links; "
                + "heard by \(delays.count), half of them within \(half) ms, the last after \(delays.last ?? 0) ms",
            scene: scene, decor: run.scenario.decor, author: said.author, arrivals: arrivals[best]
        ).svg
    }

    /// By message and node.
    private var arrivals: [[Int: Picture.Arrival]] {
        var arrivals = [[Int: Picture.Arrival]](repeating: [:], count: scenes.count)
        func note(_ message: Int, _ node: Int, _ at: Instant, _ way: Picture.Arrival.Way) {
            let delay = (at - run.log.said[message].at).milliseconds
            if let known = arrivals[message][node], known.delay <= delay { return }
            arrivals[message][node] = Picture.Arrival(delay: delay, way: way)
        }
        for delivery in run.log.deliveries {
            note(delivery.message, delivery.node, delivery.at, delivery.isReplay ? .history : .radio)
        }
        for copy in run.bridge?.copies ?? [] { note(copy.message, copy.node, copy.at, .bridge) }
        return arrivals
    }
}

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

    private let log: DeliveryLog
    var place: (Int) -> Place? = { _ in nil }
    private var scenes: [Scene] = []
    private var links: [LinkID: (a: Int, b: Int)] = [:]

    init(log: DeliveryLog) { self.log = log }

    public func linkUp(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) { links[link] = (a, b) }
    public func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) { links[link] = nil }

    public func said(_ message: PublicMessage, by node: Int, in mesh: SimulatedMesh) {
        var places: [Int: Place] = [:]
        for node in mesh.nodes where !node.isRetired { places[node.index] = place(node.index) }
        scenes.append(Scene(places: places, links: links.values.map { $0 }))
    }

    /// The mesh while the message that most nodes heard live was on its way.
    public var picture: String? {
        var live = [Int](repeating: 0, count: scenes.count)
        for delivery in log.deliveries where !delivery.isReplay { live[delivery.message] += 1 }
        guard let best = live.indices.max(by: { (live[$0], -$0) < (live[$1], -$1) }) else { return nil }
        var delays: [Int: Int64] = [:]
        for delivery in log.deliveries where delivery.message == best {
            delays[delivery.node] = (delivery.at - log.said[best].at).milliseconds
        }
        return Picture(scene: scenes[best], author: log.said[best].author, delays: delays).svg
    }
}

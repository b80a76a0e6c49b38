/// What a picture shows besides nodes and links.
public struct Decor: Sendable {
    /// A floor with walls.
    public struct Room: Sendable {
        let name: String
        let corner: Place
        let width: Double
        let depth: Double
    }

    /// Somebody or something that is no node.
    public struct Landmark: Sendable {
        let name: String
        let place: Place
        /// Nodes it is joined to.
        let nodes: [Int]
        /// Drawn in the colour of danger.
        var isHostile = false
    }

    var rooms: [Room] = []
    var landmarks: [Landmark] = []
    /// Nodes that are boxes, with their names.
    var boxes: [Int: String] = [:]

    public init() {}
}

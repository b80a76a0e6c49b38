import Mesh

/// No table of a node outgrows its bound, and no node asks to be woken in the past, which would spin its loop.
public final class BoundsCheck: SimulationObserver {
    public let watchesAir = false
    public let callStride: Int
    /// Bounds are divided by this.
    var tightness = 1

    /// - Parameter stride: looks after every so many calls only, for meshes with millions of them.
    public init(stride: Int = 1) { callStride = stride }

    public func settled(node: Int, in mesh: SimulatedMesh) {
        let engine = mesh.nodes[node].mesh
        engine.measure { table, count, bound in
            let bound = bound / tightness
            if count > bound { mesh.report("bounds", node: node, "\(table) holds \(count), more than \(bound)") }
        }
    }
}

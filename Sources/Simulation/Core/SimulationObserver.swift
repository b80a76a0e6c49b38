import Basics
import Mesh
import Wire

/// Watches a simulated mesh, for checks and for statistics. It must not call the mesh back, except for
/// `SimulatedMesh.report(_:)`.
public protocol SimulationObserver: AnyObject {
    /// Whether it watches every frame on the air: there are millions.
    var watchesAir: Bool { get }
    /// It watches every so many-th call to a node; none when 0.
    var callStride: Int { get }

    func added(node: Int, to mesh: SimulatedMesh)
    func retired(node: Int, in mesh: SimulatedMesh)
    /// `a` opened the link; an outsider's end is negative.
    func linkUp(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh)
    func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh)
    /// A message was said through `SimulatedMesh.say`, before anybody hears it.
    func said(_ message: PublicMessage, by node: Int, in mesh: SimulatedMesh)
    func transmitted(_ transmission: SimulatedMesh.Transmission, in mesh: SimulatedMesh)
    func happened(_ event: MeshEvent, at node: Int, in mesh: SimulatedMesh)
    /// All effects of a call to the node are carried out.
    func settled(node: Int, in mesh: SimulatedMesh)
    /// The run is over.
    func ended(_ mesh: SimulatedMesh)
}

extension SimulationObserver {
    public var watchesAir: Bool { true }
    public var callStride: Int { 0 }
    public func added(node: Int, to mesh: SimulatedMesh) {}
    public func retired(node: Int, in mesh: SimulatedMesh) {}
    public func linkUp(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {}
    public func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {}
    public func said(_ message: PublicMessage, by node: Int, in mesh: SimulatedMesh) {}
    public func transmitted(_ transmission: SimulatedMesh.Transmission, in mesh: SimulatedMesh) {}
    public func happened(_ event: MeshEvent, at node: Int, in mesh: SimulatedMesh) {}
    public func settled(node: Int, in mesh: SimulatedMesh) {}
    public func ended(_ mesh: SimulatedMesh) {}
}

/// A promise that was not kept: the run ends there.
public struct Violation: Error, Equatable, CustomStringConvertible {
    /// Which check found it.
    public let rule: String
    /// Steps up to and including the one it happened in: the same seed breaks it at the same step.
    public let step: UInt64
    /// Since the start of the run.
    public let at: Interval
    public let node: Int?
    public let detail: String

    public var description: String {
        let place = node.map { " at node \($0)" } ?? ""
        return "\(rule): \(detail)\(place), step \(step), \(ClockText.text(at))"
    }
}

/// Somebody at the end of a link who is not a mesh node: hostile, as a rule.
public protocol Outsider: AnyObject {
    func linkUp(_ link: LinkID, to node: Int, in mesh: SimulatedMesh)
    func received(_ frame: [UInt8], on link: LinkID, in mesh: SimulatedMesh)
    func linkDown(_ link: LinkID, in mesh: SimulatedMesh)
}

extension Outsider {
    public func linkUp(_ link: LinkID, to node: Int, in mesh: SimulatedMesh) {}
    public func received(_ frame: [UInt8], on link: LinkID, in mesh: SimulatedMesh) {}
    public func linkDown(_ link: LinkID, in mesh: SimulatedMesh) {}
}

import Basics
import Mesh
import Wire

/// A fault slipped to one check in the middle of a run. A check that lets it pass is broken.
public enum Sabotage: String, CaseIterable, Sendable {
    /// A message is heard a second time.
    case delivery
    /// The signatures of a message are not seen.
    case signature
    /// A frame goes over one link a second time.
    case flood
    /// An announce follows the last one at once.
    case budget
    /// A table's bound shrinks to nothing.
    case bounds
    /// A delivery is lost.
    case reference
    /// A bridged copy is lost.
    case bridge
    /// A bridged copy is shown a second time.
    case copies
    /// A gateway fills the air.
    case airtime
    /// The mail that a flood lets through is lost after all.
    case share

    /// The rule that must be found broken.
    public var rule: String {
        switch self {
        case .delivery, .signature, .flood, .budget, .bounds, .bridge, .airtime: rawValue
        case .reference: "reference mesh"
        case .copies: "bridge"
        case .share: "flood share"
        }
    }

    /// The moment, as a share of the run: early where the promise takes its time, else late.
    var moment: Double { self == .reference ? 0.2 : 0.7 }

    /// A scenario in which there is something to spoil.
    public var stage: any Scenario.Type {
        switch self {
        case .bridge, .copies, .airtime: TwoHallsScenario.self
        case .share: FloodScenario.self
        case .reference: HostileScenario.self
        default: LineScenario.self
        }
    }
}

/// Waits for something to spoil.
final class Saboteur: SimulationObserver {
    let callStride = 1
    private let kind: Sabotage
    private let after: Instant
    private unowned let run: SimulationRun
    private let checks: [any SimulationObserver]
    private var isDone = false

    init(_ kind: Sabotage, after: Instant, run: SimulationRun) {
        self.kind = kind
        self.after = after
        self.run = run
        checks = run.mesh.observers
    }

    private func isTime(_ mesh: SimulatedMesh, for kinds: Sabotage...) -> Bool {
        guard !isDone, mesh.now.monotonic >= after, kinds.contains(kind) else { return false }
        isDone = true
        return true
    }

    func said(_ message: PublicMessage, by node: Int, in mesh: SimulatedMesh) {
        if isTime(mesh, for: .signature) { run.log.isBlind = true }
    }

    func happened(_ event: MeshEvent, at node: Int, in mesh: SimulatedMesh) {
        guard case .publicMessage = event, isTime(mesh, for: .delivery, .reference) else { return }
        if kind == .reference {
            run.log.loseLastDelivery()
        } else {
            run.log.happened(event, at: node, in: mesh)
        }
    }

    func transmitted(_ transmission: SimulatedMesh.Transmission, in mesh: SimulatedMesh) {
        guard transmission.from >= 0, transmission.bytes[1] == MessageType.announce.rawValue,
            transmission.bytes[2] == Packet.originTTL, isTime(mesh, for: .flood, .budget)
        else { return }
        var copy = transmission
        if kind == .budget { copy.at = transmission.at + .milliseconds(1) }
        for check in checks where kind == .flood ? check is FloodCheck : check is BudgetCheck {
            check.transmitted(copy, in: mesh)
        }
    }

    func settled(node: Int, in mesh: SimulatedMesh) {
        if isTime(mesh, for: .bounds) {
            for case let check as BoundsCheck in checks { check.tightness = .max }
        }
        if isTime(mesh, for: .share) { (run.scenario as? FloodScenario)?.losesMail = true }
        guard let bridge = run.bridge, isTime(mesh, for: .bridge, .copies, .airtime) else { return }
        switch kind {
        case .bridge: bridge.losesNextCopy = true
        case .copies: bridge.showLastCopyAgain(in: mesh)
        default:
            let carrier = NostrCarrier(direction: .fromBridge, geohash: "u4pruy", event: [])
            for _ in 0...20 { bridge.broadcast(carrier, by: node, in: mesh) }
        }
    }
}

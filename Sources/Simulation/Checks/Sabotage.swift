import Basics
import Mesh
import Wire

/// A fault slipped to one check in the middle of a run. A check that lets it pass is broken.
public enum Sabotage: String, CaseIterable, Sendable {
    /// A message is heard a second time.
    case delivery
    /// A frame goes over one link a second time.
    case flood
    /// An announce follows the last one at once.
    case budget
    /// A table's bound shrinks to nothing.
    case bounds
    /// A delivery is lost.
    case reference
}

/// Waits for something to spoil.
final class Saboteur: SimulationObserver {
    let callStride = 1
    private let kind: Sabotage
    private let after: Instant
    private let log: DeliveryLog
    private let checks: [any SimulationObserver]
    private var isDone = false

    init(_ kind: Sabotage, after: Instant, log: DeliveryLog, checks: [any SimulationObserver]) {
        self.kind = kind
        self.after = after
        self.log = log
        self.checks = checks
    }

    private func isTime(_ mesh: SimulatedMesh, for kinds: Sabotage...) -> Bool {
        guard !isDone, mesh.now.monotonic >= after, kinds.contains(kind) else { return false }
        isDone = true
        return true
    }

    func happened(_ event: MeshEvent, at node: Int, in mesh: SimulatedMesh) {
        guard case .publicMessage = event, isTime(mesh, for: .delivery, .reference) else { return }
        if kind == .reference {
            log.loseLastDelivery()
        } else {
            log.happened(event, at: node, in: mesh)
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
        guard isTime(mesh, for: .bounds) else { return }
        for case let check as BoundsCheck in checks { check.tightness = .max }
    }
}

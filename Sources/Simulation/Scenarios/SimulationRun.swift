import Basics
import Mesh

/// One play of a scenario under all checks.
public final class SimulationRun {
    public let setting: Setting
    public let scenario: any Scenario
    public let mesh: SimulatedMesh
    public let log = DeliveryLog()
    public let traffic = TrafficCount()
    public private(set) var album: Album?
    /// Compares with the reference mesh, where the scenario asks for it.
    public private(set) var reference: ReferenceCheck?
    /// Follows messages over the bridge, where the scenario has one.
    var bridge: BridgeCheck?

    /// - Parameter takesPictures: keeps what `picture` needs.
    public init(_ kind: any Scenario.Type, _ setting: Setting, takesPictures: Bool = false) {
        self.setting = setting
        scenario = kind.init(setting)
        mesh = SimulatedMesh(seed: setting.seed)
        mesh.recordsAir = false
        mesh.recordsEvents = false
        mesh.observers = [
            log, FloodCheck(), BudgetCheck(),
            BoundsCheck(stride: setting.nodes < SimulationRun.crowd ? 1 : SimulationRun.boundsStride),
            traffic,
        ]
        if takesPictures {
            let album = Album(self)
            self.album = album
            mesh.observers.append(album)
        }
        scenario.prepare(self)
    }

    /// Holds the run against the reference mesh from now on.
    func compare(
        _ patience: ReferenceCheck.Patience = .init(), serving isServed: @escaping (Int) -> Bool = { _ in true }
    ) {
        let check = ReferenceCheck(log: log, patience: patience, isServed: isServed)
        check.begin(in: mesh)
        reference = check
    }

    /// So many nodes make so many calls that not every one is followed by a look at all bounds.
    private static let crowd = 200
    static let boundsStride = 64

    /// Virtual time between two calls of `progress`.
    public static let slice = Interval.seconds(10)

    /// Plays to the end, or to the first broken promise.
    public func play(progress: (SimulationRun) -> Void = { _ in }) {
        while mesh.elapsed < setting.span, !mesh.isStopped {
            mesh.run(for: min(SimulationRun.slice, setting.span - mesh.elapsed))
            progress(self)
        }
        guard !mesh.isStopped else { return }
        scenario.conclude(self)
        mesh.end()
    }

    /// Slips a check a fault in the middle of the run.
    public func sabotage(_ kind: Sabotage) {
        let moment = SimulatedMesh.start.monotonic + Interval.seconds(kind.moment * setting.span.seconds)
        mesh.observers.append(Saboteur(kind, after: moment, run: self))
    }

    /// What plays this run again.
    public var command: String {
        "bitgate simulate --scenario \(type(of: scenario).name) --nodes \(setting.nodes) "
            + "--hours \(setting.span.seconds / 3_600) --seed \(setting.seed)"
    }

    public var violation: Violation? { mesh.violation }

    /// Two runs with one digest went alike, delivery by delivery.
    public var digest: String { log.fingerprint }
}

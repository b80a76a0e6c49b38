import Basics
import EventLoop
import Wire

/// Many radios on one loop, without sockets: the caller decides who hears whom. On an `EmbeddedLoop` a run with the
/// same seeds and the same calls is the same to the byte.
public final class InProcessAir {
    let loop: any EventLoop
    private let linkIDs = LinkIDSource()
    private var edges: [EdgeKey: Edge] = [:]

    fileprivate struct EdgeKey: Hashable {
        let central: ObjectIdentifier
        let peripheral: ObjectIdentifier
    }

    /// A pair the caller linked. Its connection exists while both radios run.
    final class Edge {
        private(set) weak var central: InProcessPort?
        private(set) weak var peripheral: InProcessPort?
        fileprivate let key: EdgeKey
        var connection: InProcessConnection?

        fileprivate init(_ key: EdgeKey, central: InProcessPort, peripheral: InProcessPort) {
            self.key = key
            self.central = central
            self.peripheral = peripheral
        }
    }

    public init(loop: any EventLoop) { self.loop = loop }

    /// A radio in this air. The impairment is what it does to everything it receives.
    public func makePort(
        name: String, mtu: Int = 517, impairment: Impairment = .none
    ) -> InProcessPort {
        InProcessPort(air: self, name: name, mtu: mtu, impairment: impairment)
    }

    /// Gives `central` a link to `peripheral` for as long as both run. Linking a pair again in the same direction does
    /// nothing, unless one of them closed the link meanwhile.
    public func link(_ central: InProcessPort, to peripheral: InProcessPort) {
        let key = EdgeKey(central: ObjectIdentifier(central), peripheral: ObjectIdentifier(peripheral))
        guard central !== peripheral, edges[key] == nil else { return }
        let edge = Edge(key, central: central, peripheral: peripheral)
        edges[key] = edge
        central.edges.append(edge)
        peripheral.edges.append(edge)
        connect(edge)
    }

    /// Takes two radios out of each other's range, in both directions.
    public func unlink(_ a: InProcessPort, _ b: InProcessPort) {
        for edge in a.edges where edge.central === b || edge.peripheral === b { remove(edge) }
    }

    func connect(_ edge: Edge) {
        guard edge.connection == nil, let central = edge.central, let peripheral = edge.peripheral,
            central.isRunning, peripheral.isRunning
        else { return }
        let mtu = min(central.mtu, peripheral.mtu)
        let connection = InProcessConnection(
            central: central, peripheral: peripheral, ids: (linkIDs.next(), linkIDs.next()),
            frameLimit: RadioLimits.frameLimit(mtu: mtu), loop: loop)
        edge.connection = connection
        connection.open()
    }

    func disconnect(_ edge: Edge) {
        edge.connection?.close()
        edge.connection = nil
    }

    /// One end closed the link for good; only the caller can make it again.
    func remove(_ edge: Edge) {
        disconnect(edge)
        edges[edge.key] = nil
        edge.central?.edges.removeAll { $0 === edge }
        edge.peripheral?.edges.removeAll { $0 === edge }
    }
}

/// One radio of an `InProcessAir`.
public final class InProcessPort: LinkPort {
    public weak var delegate: (any LinkPortDelegate)?
    public let name: String
    let mtu: Int
    let impairment: Impairment
    private weak var air: InProcessAir?
    fileprivate(set) var isRunning = false
    var edges: [InProcessAir.Edge] = []
    var ends: [LinkID: InProcessConnection.End] = [:]

    /// Everything dropped by this radio so far.
    public internal(set) var drops = Tally<AirDrop>()

    fileprivate init(air: InProcessAir, name: String, mtu: Int, impairment: Impairment) {
        self.air = air
        self.name = name
        self.mtu = min(max(mtu, AirHello.mtuRange.lowerBound), AirHello.mtuRange.upperBound)
        self.impairment = impairment
    }

    deinit {
        for edge in edges { air?.remove(edge) }
    }

    public func start() {
        guard !isRunning else { return }
        isRunning = true
        for edge in edges { air?.connect(edge) }
    }

    /// Ends every link. They come up again after the next `start`.
    public func stop() {
        guard isRunning else { return }
        isRunning = false
        for edge in edges { air?.disconnect(edge) }
    }

    public func send(_ frame: [UInt8], on link: LinkID, priority: WritePriority) { ends[link]?.send(frame) }

    /// Closes one link for good: it is not made again until the caller links the pair again.
    public func close(_ link: LinkID) {
        guard let connection = ends[link]?.connection, let edge = edges.first(where: { $0.connection === connection })
        else { return }
        air?.remove(edge)
    }

    /// The links that are up, by ID.
    public var snapshot: [RadioLinkSnapshot] { ends.values.compactMap(\.snapshot).sorted { $0.link < $1.link } }
}

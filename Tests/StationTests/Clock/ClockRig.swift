import Basics
import Crypto
import EventLoop
import Gateway
import Mesh
import Nostr
import Radio
import Uplink
import Wire
import XCTest

@testable import Station

/// A box whose system clock is wrong, people around it whose clocks are right, and relays, all in virtual time.
final class ClockRig {
    /// 2026-06-01.
    static let start = WallTime(milliseconds: 1_780_272_000_000)

    let loop: EmbeddedLoop
    let relays: ScriptedRelays
    let service: ClockService
    let switchboard: Switchboard
    let courier: Courier
    let uplink: RelayUplink
    private let timekeeper: Timekeeper
    private let machine: Machine
    private let air: InProcessAir
    private let port: InProcessPort
    private var people: [(person: Person, port: InProcessPort)] = []
    private var random = SeededRandom(seed: 7)
    /// Announces of the box that were sent, by the time on them and the true time.
    private(set) var stamps: [(stamp: WallTime, at: WallTime)] = []
    private(set) var saved: [WallTime] = []

    /// What the machine does.
    final class Machine {
        var suspended = Interval.zero
        var isSynchronised = false
    }

    /// - Parameters:
    ///   - error: of the system's clock.
    ///   - relays: how many are configured.
    ///   - isDirect: relays may be dialled without Tor.
    init(
        error: Interval, relays count: Int = 0, isDirect: Bool = true, trustsSystem: Bool = false,
        isSynchronised: Bool = false, lastKnown: WallTime? = nil
    ) {
        let wall = Int64(ClockRig.start.milliseconds) + error.milliseconds
        loop = EmbeddedLoop(start: Now(monotonic: .zero, wall: WallTime(milliseconds: UInt64(max(0, wall)))))
        let machine = Machine()
        machine.isSynchronised = isSynchronised
        self.machine = machine
        let running: () -> Instant = { [loop] in loop.now.monotonic + machine.suspended }
        let origin = Int64(ClockRig.start.milliseconds)
        relays = ScriptedRelays(loop: loop) { running().wall(origin) }
        let urls = count > 0 ? relays.add(count) : []
        service = ClockService(
            loop, machine: MachineClock(running: running, isSynchronised: { machine.isSynchronised }),
            trustsSystem: trustsSystem, lastKnown: lastKnown)
        air = InProcessAir(loop: loop)
        port = air.makePort(name: "box")
        let identity = StationIdentity.generate(using: &random)
        let route = DirectRoute(relays)
        if isDirect { route.start() }
        uplink = RelayUplink(
            loop: service.loop, relays: RelayChoice(defaults: urls, directory: nil), route: route, usesTor: false)
        courier = Courier(
            configuration: CourierConfiguration(own: identity.node.noise.publicKey),
            random: SeededRandom(seed: random.next()))
        var node = MeshConfiguration(nickname: "box", isClockTrusted: false)
        node.takesMail = true
        switchboard = Switchboard(
            loop: service.loop, radio: port,
            mesh: MeshNode(
                configuration: node, identity: identity.node, random: SeededRandom(seed: random.next())),
            gateway: Gateway(
                configuration: GatewayConfiguration(cell: RendezvousCell("u4pruy"), publishesPresence: true),
                seed: identity.deviceSeed,
                random: SeededRandom(seed: random.next())), relays: uplink, courier: courier)
        let probe = TimeProbe(
            loop: service.loop, relays: { [uplink] in uplink.choice.defaults },
            socket: { [uplink] in uplink.makeSocket(to: $0) })
        timekeeper = Timekeeper(
            service, switchboard: switchboard, probe: probe,
            setRelaysOpen: { [uplink] in uplink.setClockTrusted($0, at: $1) })
        uplink.onDate = { [service] in service.heard($0, of: $1.text) }
        service.onChange = { [timekeeper] _ in timekeeper.ask() }
        service.onSave = { [unowned self] in saved.append($0) }
        service.use(relays: Set(urls.map(\.text)))
        port.start()
        switchboard.perform { [switchboard] now in
            switchboard.mesh.start(at: now)
            switchboard.gateway.start(at: now)
            switchboard.courier?.start(at: now)
        }
        timekeeper.start()
    }

    var truth: WallTime { (loop.now.monotonic + machine.suspended).wall(Int64(ClockRig.start.milliseconds)) }
    /// Of mesh time.
    var error: Interval {
        .milliseconds(Int(Int64(service.wall.milliseconds) - Int64(truth.milliseconds)))
    }
    var source: ClockSource { service.standing.source }
    var mail: CourierStatus { courier.status(at: service.loop.now) }
    var advertised: Capabilities {
        switchboard.gateway.status(at: service.loop.now).advertisement.capabilities
    }

    /// Somebody in range, with a clock of their own.
    @discardableResult
    func person(_ name: String, clockError: Interval = .zero) throws -> Person {
        let own = air.makePort(name: name)
        let loop = ClockedLoop(
            loop, running: { [loop, machine] in loop.now.monotonic + machine.suspended },
            offset: Int64(ClockRig.start.milliseconds) + clockError.milliseconds)
        let peer = ChatPeer(
            loop: loop, radio: own, identity: .generate(using: &random), nickname: name, bridgeIsOn: false,
            random: SeededRandom(seed: random.next()))
        let person = Person(peer)
        try peer.start()
        air.link(own, to: port)
        people.append((person, own))
        return person
    }

    /// Radios find each other again after a link is closed.
    func advance(_ span: Interval) {
        var left = span
        while left > .zero {
            for (_, own) in people { air.link(own, to: port) }
            loop.advance(by: min(left, .seconds(20)))
            left = left - .seconds(20)
        }
    }

    /// Steps the system's clock, as NTP or a person does.
    func step(to error: Interval, isSynchronised: Bool) {
        loop.setWallClock(WallTime(milliseconds: UInt64(Int64(truth.milliseconds) + error.milliseconds)))
        machine.isSynchronised = isSynchronised
    }

    /// The machine sleeps: neither timers nor the monotonic clock notice, the system's clock goes on.
    func suspend(_ span: Interval) {
        machine.suspended = machine.suspended + span
        loop.setWallClock(
            WallTime(milliseconds: loop.now.wall.milliseconds + UInt64(span.milliseconds)))
    }

    /// Nothing went to a relay that is dated more than `tolerance` off.
    func checkPublished(within tolerance: Int64 = 15, file: StaticString = #filePath, line: UInt = #line) {
        for (text, at) in relays.published {
            guard let range = text.range(of: "\"created_at\":"),
                let createdAt = Int64(text[range.upperBound...].prefix { $0.isNumber })
            else { return XCTFail("no time in \(text)", file: file, line: line) }
            XCTAssertLessThanOrEqual(abs(createdAt - at.unixSeconds), tolerance, file: file, line: line)
        }
    }
}

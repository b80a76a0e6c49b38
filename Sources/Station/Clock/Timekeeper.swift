import Basics
import Gateway
import Mesh

/// Joins the clock to the engines and relays: carries out what follows when the time or its source changes.
final class Timekeeper {
    let service: ClockService
    private let switchboard: Switchboard
    /// Publishing and asking, on or off.
    private let setRelaysOpen: (Bool, Now) -> Void
    private let probe: TimeProbe?
    private var isGoodForMesh = false
    private var isTrusted = false

    init(
        _ service: ClockService, switchboard: Switchboard, probe: TimeProbe?,
        setRelaysOpen: @escaping (Bool, Now) -> Void
    ) {
        self.service = service
        self.switchboard = switchboard
        self.setRelaysOpen = setRelaysOpen
        self.probe = probe
        switchboard.clock = service
        service.onStep = { [unowned self] in carry($0) }
        probe?.onDate = { [unowned service] in service.heard($0, of: $1.text) }
        probe?.onEvent = { [unowned service] in service.heard(event: $0, by: $1, of: $2.text) }
    }

    /// Call it when the engines have started.
    func start() {
        service.start()
        ask()
    }

    func stop() {
        service.stop()
        probe?.set(.none)
        switchboard.clock = nil
    }

    /// How much the relays' time is needed now.
    func ask() {
        let source = service.standing.source
        probe?.set(source > .relays ? .none : source == .relays ? .refresh : .urgent)
    }

    /// Relays can be asked now.
    func routeOpened() { probe?.wayOpened() }

    private func carry(_ step: ClockStep) {
        switchboard.perform { now in
            switch step {
            case .closeRelays: setRelaysOpen(false, now)
            case .openRelays: setRelaysOpen(true, now)
            case .withdrawGateway: offerGateway(false, at: now)
            case .offerGateway: offerGateway(true, at: now)
            case .silenceMesh: wakeMesh(false, at: now)
            case .wakeMesh: wakeMesh(true, at: now)
            case .shift, .askRelays: break
            }
        }
        if step == .askRelays { probe?.wayOpened() }
    }

    private func offerGateway(_ isTrusted: Bool, at now: Now) {
        self.isTrusted = isTrusted
        switchboard.gateway.setClockTrusted(isTrusted, at: now)
        switchboard.notes?.setClockTrusted(isTrusted, at: now)
        tellCourier(at: now)
    }

    private func wakeMesh(_ isGood: Bool, at now: Now) {
        isGoodForMesh = isGood
        switchboard.mesh.setClockTrusted(isGood, at: now)
        tellCourier(at: now)
    }

    /// What is good for the mesh is good enough to take mail in and hand it over by.
    private func tellCourier(at now: Now) {
        switchboard.courier?.setClock(isUsable: isGoodForMesh, isTrusted: isTrusted, at: now)
    }
}

import Basics
import EventLoop
import Gateway
import Mesh
import Nostr
import Radio
import Wire

/// What goes on at a switchboard, for whoever shows or counts it.
protocol SwitchboardObserver: AnyObject {
    func happened(_ event: MeshEvent)
    /// Something for the operator's eyes. Untrusted.
    func show(_ message: GatewayMessage)
    func retract(_ id: EventID)
    /// Whether any relay is connected has changed.
    func relayConnectivityChanged(_ isConnected: Bool)
    /// Offers an event of a relay before the gateway has it.
    /// - Returns: whether it was meant for the observer.
    func takes(_ event: VerifiedEvent, of subscription: String) -> Bool
    /// What relays had stored for a subscription has come.
    func loaded(_ subscription: String, _ extent: StoredExtent)
}

extension SwitchboardObserver {
    func happened(_ event: MeshEvent) {}
    func show(_ message: GatewayMessage) {}
    func retract(_ id: EventID) {}
    func relayConnectivityChanged(_ isConnected: Bool) {}
    func takes(_ event: VerifiedEvent, of subscription: String) -> Bool { false }
    func loaded(_ subscription: String, _ extent: StoredExtent) {}
}

enum SwitchboardLimits {
    /// Effects carried out in one turn of the loop; the rest waits, so that sockets and signals get their turn.
    static let effectsPerTurn = 2_000
    /// An engine that is due again at once does not hold the loop.
    static let shortestDelay = Interval.milliseconds(1)
}

/// Joins radio, mesh node, gateway and relays: after every input it carries each engine's effects to where they belong
/// until all engines are quiet, and arms one timer for the earliest of their deadlines.
final class Switchboard: LinkPortDelegate {
    let mesh: MeshNode
    let radio: any LinkPort
    private(set) var gateway: Gateway
    /// `nil` for a peer without internet.
    let relays: (any RelayPort)?
    /// `nil` where nobody looks at notes.
    let notes: NotesDesk?
    /// `nil` where no mail is carried for others.
    let courier: Courier?
    /// `nil` where mail does not outlive the process.
    let mailArchive: MailArchive?
    weak var observer: (any SwitchboardObserver)?
    /// Hears what peers' clocks say, whenever all engines are quiet: it may change what time it is.
    weak var clock: ClockService?
    /// `nil` where nothing outlives the process.
    private let archive: MeshArchive?
    private let carried: NostrArchive?

    private let loop: any EventLoop
    /// Bits announced besides those the gateway decides.
    private let ownCapabilities: Capabilities
    private var timesHeard: [(time: WallTime, peer: PeerID, link: LinkID)] = []
    private var isSettling = false
    private var isSevered = false
    private var holdsAdvertisement = false
    private var heldAdvertisement: GatewayAdvertisement?
    private var timer: (any Cancellable)?
    private var armed: Instant?

    init(
        loop: any EventLoop, radio: any LinkPort, mesh: MeshNode, gateway: Gateway, relays: (any RelayPort)? = nil,
        ownCapabilities: Capabilities = [], archive: MeshArchive? = nil, carried: NostrArchive? = nil,
        notes: NotesDesk? = nil, courier: Courier? = nil, mailArchive: MailArchive? = nil
    ) {
        self.notes = notes
        self.courier = courier
        self.mailArchive = mailArchive
        self.loop = loop
        self.radio = radio
        self.mesh = mesh
        self.gateway = gateway
        self.relays = relays
        self.ownCapabilities = ownCapabilities
        self.archive = archive
        self.carried = carried
        radio.delegate = self
        relays?.onActivity = { [weak self] input in self?.perform(input) }
    }

    var now: Now { loop.now }

    /// Feeds an input to an engine and carries out what follows from it.
    func perform<Result>(_ input: (Now) -> Result) -> Result {
        let result = input(loop.now)
        settle()
        return result
    }

    /// Stops the gateway and puts another in its place. What they announce goes out when the new one has begun, so that
    /// nobody takes the box for one without a gateway meanwhile.
    func replaceGateway(_ next: Gateway, begin: (Now) -> Void) {
        settle()
        guard !isSevered else { return }
        holdsAdvertisement = true
        gateway.stop(at: loop.now)
        carryGatewayEffects()
        gateway = next
        begin(loop.now)
        carryGatewayEffects()
        holdsAdvertisement = false
        if let advertisement = heldAdvertisement { advertise(advertisement) }
        heldAdvertisement = nil
        settle()
    }

    private func carryGatewayEffects() { while let effect = gateway.nextEffect() { carry(effect) } }

    /// For the wipe: from here on no input reaches an engine and no effect leaves one, whatever is still on its way.
    /// The neighbours hear no goodbye.
    func sever() {
        isSevered = true
        stopTimer()
        radio.delegate = nil
        relays?.onActivity = nil
        observer = nil
    }

    /// No timer fires any more.
    func stopTimer() {
        timer?.cancel()
        timer = nil
        armed = nil
    }

    // MARK: Effects

    private func settle() {
        guard !isSettling, !isSevered else { return }
        isSettling = true
        var left = SwitchboardLimits.effectsPerTurn
        while left > 0, !isSevered, step() { left -= 1 }
        isSettling = false
        guard !isSevered else { return }
        if left == 0 {
            loop.enqueue { [weak self] in self?.settle() }
        } else {
            arm()
            tellTimes()
        }
    }

    private func tellTimes() {
        guard !timesHeard.isEmpty else { return }
        let times = timesHeard
        timesHeard.removeAll()
        for (time, peer, link) in times { clock?.heard(time, of: peer, on: link) }
    }

    /// Carries out one effect of any engine; false when all are quiet.
    private func step() -> Bool {
        if let effect = mesh.nextEffect() {
            carry(effect)
        } else if let effect = gateway.nextEffect() {
            carry(effect)
        } else if let effect = courier?.nextEffect() {
            carry(effect)
        } else if let effect = notes?.nextEffect() {
            carry(effect)
        } else if let input = relays?.nextInput(at: loop.now) {
            carry(input)
        } else {
            return false
        }
        return true
    }

    private func carry(_ effect: MeshEffect) {
        switch effect {
        case .transmit(let frame, let link, let priority): radio.send(frame, on: link, priority: priority)
        case .disconnect(let link): radio.close(link)
        case .archive(let batch): archive?.keep(batch)
        case .boardArchive(let batch): archive?.keep(batch)
        case .event(let event):
            switch event {
            case .publicMessage(let message): gateway.radioSeen(stableID: message.stableID, at: loop.now)
            case .carrier(let carrier, let addressedToUs, let depositor):
                gateway.carrierReceived(carrier, addressedToUs: addressedToUs, depositor: depositor, at: loop.now)
            case .timeHeard(let time, let peer, let link):
                if clock != nil { timesHeard.append((time, peer, link)) }
            case .identityLearned(let identity): archive?.keep(identity, at: loop.now.monotonic)
            case .identityForgotten(let identity): archive?.forget(identity)
            case .mail(let envelope, _, let depositor): courier?.arrived(envelope, depositor: depositor, at: loop.now)
            case .announced(let peer, let key, let standing): announced(peer, key, standing)
            default: break
            }
            observer?.happened(event)
        }
    }

    private func carry(_ effect: GatewayEffect) {
        switch effect {
        case .publish(let event, let geohash):
            carried?.keep(carried: event.id)
            relays?.publish(event, geohash: geohash, at: loop.now)
        case .broadcast(let carrier):
            if let carried, let event = try? NostrEvent(json: carrier.event), let id = EventID(hex: event.id) {
                carried.keep(carried: id)
            }
            mesh.broadcastCarrier(carrier, at: loop.now)
        case .deposit(let carrier, let peer): mesh.sendCarrier(carrier, to: peer, at: loop.now)
        case .subscribe(let subscription): relays?.subscribe(subscription, at: loop.now)
        case .unsubscribe(let id): relays?.unsubscribe(id, at: loop.now)
        case .advertise(let advertisement):
            if holdsAdvertisement { heldAdvertisement = advertisement } else { advertise(advertisement) }
        case .show(let message): observer?.show(message)
        case .retract(let id): observer?.retract(id)
        }
    }

    private func advertise(_ advertisement: GatewayAdvertisement) {
        mesh.setAdvertisement(
            capabilities: ownCapabilities.union(advertisement.capabilities), bridgeCell: advertisement.cell,
            at: loop.now)
    }

    private func carry(_ effect: NotesEffect) {
        switch effect {
        case .subscribe(let subscription): relays?.subscribe(subscription, at: loop.now)
        case .unsubscribe(let id): relays?.unsubscribe(id, at: loop.now)
        case .publish(let event, let geohash, let expiresAt):
            let isTaken = relays?.publishDurably(event, geohash: geohash, expiresAt: expiresAt, at: loop.now)
            if isTaken == false { notes?.refused(event.id) }
        case .withdraw(let id): relays?.withdraw(id)
        case .keep(let copy): carried?.keep(copy)
        case .forget(let id): carried?.forget(copy: id)
        }
    }

    private func carry(_ input: RelayInput) {
        switch input {
        case .event(let event, let subscription):
            if observer?.takes(event, of: subscription) == true { break }
            if let notes, notes.owns(subscription: subscription) {
                notes.relayEvent(event, at: loop.now)
            } else if let courier, Courier.owns(subscription: subscription) {
                courier.relayEvent(event, at: loop.now)
            } else {
                gateway.relayEvent(event, subscription: subscription, at: loop.now)
            }
        case .loaded(let subscription, let extent):
            observer?.loaded(subscription, extent)
            if let notes, notes.owns(subscription: subscription) { notes.loaded() }
            if Courier.owns(subscription: subscription) { courier?.loaded(subscription, extent, at: loop.now) }
        case .connectivity(let isConnected):
            gateway.relayConnectivityChanged(isConnected, at: loop.now)
            observer?.relayConnectivityChanged(isConnected)
        case .mailConnectivity(let isConnected): courier?.relayConnectivityChanged(isConnected, at: loop.now)
        case .dropped(let attempt, let isConfirmed):
            courier?.published(attempt, isConfirmed: isConfirmed, at: loop.now)
        case .published, .handled: break
        }
    }

    // MARK: Time

    private func arm() {
        let next = [
            mesh.nextDeadline, gateway.nextDeadline, courier?.nextDeadline, notes?.nextDeadline, relays?.nextDeadline,
        ].compactMap { $0 }.min()
        guard next != armed else { return }
        timer?.cancel()
        armed = next
        timer = next.map { due in
            let delay = max(SwitchboardLimits.shortestDelay, due - loop.now.monotonic)
            return loop.schedule(after: delay) { [weak self] in self?.fire() }
        }
    }

    private func fire() {
        armed = nil
        perform { now in
            func isDue(_ deadline: Instant?) -> Bool { deadline.map { $0 <= now.monotonic } ?? false }
            if isDue(mesh.nextDeadline) { mesh.timeout(at: now) }
            if isDue(gateway.nextDeadline) { gateway.timeout(at: now) }
            if isDue(courier?.nextDeadline) { courier?.timeout(at: now) }
            if isDue(notes?.nextDeadline) { notes?.timeout(at: now) }
            if isDue(relays?.nextDeadline) { relays?.timeout(at: now) }
        }
    }

    // MARK: LinkPortDelegate

    func linkUp(_ link: LinkID, role: LinkRole, frameLimit: Int, neighbour: UInt64?) {
        perform { mesh.linkUp(link, role: role, frameLimit: frameLimit, neighbour: neighbour, at: $0) }
    }

    func linkChanged(_ link: LinkID, frameLimit: Int) {
        perform { mesh.linkChanged(link, frameLimit: frameLimit, at: $0) }
    }

    func linkReceived(_ frame: UnsafeRawBufferPointer, on link: LinkID) {
        perform { mesh.receive(frame, on: link, at: $0) }
    }

    func linkDown(_ link: LinkID) {
        perform { mesh.linkDown(link, at: $0) }
        clock?.lost(link)
    }

    func peer(on link: LinkID) -> PeerID? { mesh.peer(on: link) }
    func provenPeer(on link: LinkID) -> PeerID? { mesh.noiseProvenPeer(at: link) }
}

/// What the relays bring in.
enum RelayInput {
    case event(VerifiedEvent, subscription: String)
    /// Whether any relay is connected has changed.
    case connectivity(Bool)
    /// What relays had stored for the subscription has come, or has been waited for long enough.
    case loaded(subscription: String, StoredExtent)
    /// Whether a relay of those that carry mail is connected has changed.
    case mailConnectivity(Bool)
    /// A drop's publication is over.
    case dropped(DropAttempt, isConfirmed: Bool)
    /// A durable publication is over.
    case published(PublicationKey, DurablePublications.Outcome)
    /// Something that concerns nobody else was dealt with.
    case handled
}

/// The Nostr side as the switchboard sees it.
protocol RelayPort: AnyObject {
    /// Called with every input from a socket; runs it and settles.
    var onActivity: (((Now) -> Void) -> Void)? { get set }

    func publish(_ event: VerifiedEvent, geohash: String, at now: Now)
    /// Until a relay of the place has confirmed it, over restarts too.
    /// - Returns: false when too much waits already.
    func publishDurably(_ event: VerifiedEvent, geohash: String, expiresAt: WallTime, at now: Now) -> Bool
    /// No further attempt at an event that waits to be published durably.
    func withdraw(_ event: EventID)
    /// Leaves mail at the default relays, over connections of its own; `dropped` tells whether one confirmed it.
    func publishDrop(_ event: VerifiedEvent, as attempt: DropAttempt, at now: Now)
    func subscribe(_ subscription: GatewaySubscription, at now: Now)
    /// Asks the default relays, for what they keep too.
    func subscribeDrops(_ id: String, _ filter: NostrFilter, at now: Now)
    func unsubscribe(_ id: String, at now: Now)

    /// Carries out one effect of the Nostr engine; `nil` when it is quiet.
    func nextInput(at now: Now) -> RelayInput?
    func timeout(at now: Now)
    var nextDeadline: Instant? { get }
}

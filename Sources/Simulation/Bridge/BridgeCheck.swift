import Basics
import Gateway
import Mesh
import Nostr
import Wire

/// Follows every message over the bridge (chapter 06 §4): only what its author gave away crosses; what a relay takes in
/// is heard in the other hall, once; the radio message takes the place of its bridged copy; and no gateway exceeds its
/// airtime.
final class BridgeCheck: SimulationObserver {
    let watchesAir = false
    let callStride = 1

    /// A message on its way over the bridge.
    struct Bridged {
        let message: Int
        let author: Int
        let hall: Int
        let at: Instant
        let gateway: PeerID
        /// When a relay first took it in.
        var accepted: Instant?
        /// Gateways that got it from a relay: they pass it on once.
        var told: Set<Int> = []
        /// Nodes that must hear it, and since when nothing stood in the way.
        var due: [Int: Instant] = [:]
    }

    struct Copy {
        let message: Int
        let node: Int
        let at: Instant
    }

    struct Promises {
        /// How far carriers surely get: a neighbourhood of three clamps the TTL of 7 to 6 (chapter 03 B6).
        var hops = 5
        /// Old links and routes are forgotten after so long (chapter 03 B9).
        var calm = Interval.seconds(90)
        /// Longest way from a phone over its gateway to the relays, with the client's own pace.
        var uplink = Interval.seconds(20)
        /// Longest way down to the other hall: a full minute's budget may be spent (chapter 06 §4.10).
        var downlink = Interval.seconds(150)
        /// Time in which messages of one author count as said at once.
        var spacing = Interval.seconds(15)
        /// Relays refuse events of 60 s, so deposits of that age are given up (chapter 05 §18).
        var flushedAge = Interval.seconds(50)
    }

    private let log: DeliveryLog
    private let promises = Promises()
    private(set) var bridged: [EventID: Bridged] = [:]
    /// Shown at some time, in order.
    private(set) var copies: [Copy] = []
    private(set) var retractions = 0
    private(set) var noWayOut = 0
    /// Deposited with a gateway of the other hall, which is in reach as far as the phone knows: somebody who came from
    /// there brought its announce along.
    private(set) var misled = 0
    private var order: [EventID] = []
    private var visible: [Int: [EventID: Int]] = [:]
    private var lastShown: (message: GatewayMessage, node: Int)?
    /// Messages whose radio copy has just been heard beside a bridged one.
    private var contested: [Int: Int] = [:]
    private var composing: (message: Int, author: Int)?
    private var hall: [Int: Int] = [:]
    private var stations: [Int: SimulatedStation] = [:]
    private var gateways: [PeerID: Int] = [:]
    private var relays: [SimulatedRelay] = []
    /// When links ended in each hall, and when each node last came to its hall.
    private var changes: [Int: [Instant]] = [:]
    private var arrivals: [Int: Instant] = [:]
    private var sends: [Int: [(at: Instant, bytes: Int)]] = [:]
    /// When a gateway of each hall had spent its airtime, so that what came next waited and went out at once with
    /// others.
    private var congestions: [Int: [Instant]] = [:]
    private var disconnected: [Int: Instant] = [:]
    private var disconnections: [Int: Int] = [:]

    init(log: DeliveryLog) { self.log = log }

    // MARK: Who is where

    func add(_ relay: SimulatedRelay) {
        relays.append(relay)
        relay.onAccepted = { [weak self] in self?.accepted($0, by: $1, in: $2) }
    }

    func add(_ station: SimulatedStation, at node: Int, in mesh: SimulatedMesh) {
        stations[node] = station
        if station.uplink != nil { gateways[mesh.nodes[node].id] = node }
    }

    func enter(_ node: Int, hall number: Int, in mesh: SimulatedMesh) {
        hall[node] = number
        arrivals[node] = mesh.now.monotonic
    }

    /// Is between halls.
    func leave(_ node: Int) { hall[node] = nil }

    func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {
        for node in [a, b] { if let hall = hall[node] { changes[hall, default: []].append(mesh.now.monotonic) } }
    }

    /// No link has ended lately that a route could lead over, and everybody has heard of the gateway.
    private func isCalm(_ hall: Int, from start: Instant, to end: Instant) -> Bool {
        start - SimulatedMesh.start.monotonic > promises.calm
            && !(changes[hall] ?? []).contains { $0 > start - promises.calm && $0 <= end }
    }

    private func hasSettled(_ node: Int, at now: Instant) -> Bool {
        arrivals[node].map { now - $0 > promises.calm } ?? false
    }

    /// Who surely gets what a node sends.
    private func reach(of node: Int, _ mesh: SimulatedMesh) -> [Int] {
        var reference = ReferenceMesh()
        for (link, a, b) in mesh.openLinks { reference.link(link, a, b) }
        return reference.reach(of: node, hops: promises.hops).map(\.node)
    }

    // MARK: Up

    /// Says something on the air, and over the bridge.
    func say(_ text: String, by node: Int, in mesh: SimulatedMesh) {
        guard let message = mesh.say(text, from: node), let number = log.number(of: message),
            let station = stations[node]
        else { return }
        composing = (number, node)
        let outcome = station.bridge(message, in: mesh)
        composing = nil
        guard outcome != .deposited else { return }
        noWayOut += 1
        let now = mesh.now.monotonic
        if let hall = hall[node], isCalm(hall, from: now, to: now), hasSettled(node, at: now),
            reach(of: node, mesh).contains(where: { stations[$0]?.uplink != nil })
        {
            mesh.report("bridge", node: node, "found no gateway for message \(number): \(outcome)")
        }
    }

    private func accepted(_ event: VerifiedEvent, by relay: SimulatedRelay, in mesh: SimulatedMesh) {
        guard let message = bridged[event.id] else {
            return mesh.report("bridge", "a relay was given what nobody deposited")
        }
        let now = mesh.now.monotonic
        if message.accepted == nil { bridged[event.id]?.accepted = now }
        for (node, station) in stations.sorted(by: { $0.key < $1.key }) where hall[node] != message.hall {
            guard let uplink = station.uplink, relay.serves(uplink, event.event) else { continue }
            let listeners = reach(of: node, mesh).filter { stations[$0] != nil }
            let outages = relay.outages
            // Unless the relay goes down before it has told the gateway.
            mesh.schedule(after: .seconds(2)) { [self] _ in
                guard relay.isUp, relay.outages == outages,
                    bridged[event.id]?.told.insert(node).inserted ?? false
                else { return }
                for listener in listeners { bridged[event.id]?.due[listener] = now }
            }
        }
    }

    /// Nobody is shown more than five messages of one author at once (chapter 05 §8.3), in whatever order they come.
    private func isShownForCertain(_ message: Bridged, at node: Int, since: Instant) -> Bool {
        let own = moments(of: message, at: node)
        let wasCongested = (congestions[hall[node] ?? -1] ?? []).contains {
            $0 >= since - promises.downlink && $0 <= since + promises.downlink
        }
        let spacing = wasCongested ? promises.downlink : promises.spacing
        let others = bridged.values.count { other in
            other.author == message.author
                && moments(of: other, at: node).contains { time in
                    own.contains { $0 - time <= spacing && time - $0 <= spacing }
                }
        }
        return Double(others) <= GatewayLimits.senderBurst
    }

    /// When a message may have come to the gateway near a node: one relay may have told it later than another took the
    /// message in.
    private func moments(of message: Bridged, at node: Int) -> [Instant] {
        [message.due[node], message.accepted].compactMap { $0 }
    }

    /// More than ten deposits of one phone in a minute are not looked at (chapter 06 §4.9).
    private func isTakenForCertain(_ message: Bridged) -> Bool {
        let others = bridged.values.count { other in
            other.author == message.author && other.at <= message.at && message.at - other.at <= GatewayLimits.window
        }
        return others <= GatewayLimits.depositTokens
    }

    /// Whatever gets to a gateway that has a relay gets to that relay.
    private func expectPublication(of id: EventID, by gateway: Int, in mesh: SimulatedMesh) {
        guard let message = bridged[id], hasSettled(message.author, at: message.at),
            reach(of: message.author, mesh).contains(gateway), let uplink = stations[gateway]?.uplink
        else { return }
        let serving = relays.filter { relay in uplink.client.isAnyConnected(of: [relay.url]) && relay.isUp }
        let outages = serving.map(\.outages)
        mesh.schedule(after: promises.uplink) { [self] mesh in
            guard zip(serving, outages).contains(where: { $0.isUp && $0.outages == $1 }) else { return }
            requirePublication(of: id, "was deposited with a connected gateway", mesh)
        }
    }

    private func requirePublication(of id: EventID, _ why: String, _ mesh: SimulatedMesh) {
        guard let message = bridged[id], message.accepted == nil, isTakenForCertain(message),
            isCalm(message.hall, from: message.at, to: message.at + .seconds(3))
        else { return }
        mesh.report("bridge", node: message.author, "message \(message.message) \(why) and got to no relay")
    }

    /// What waited for a relay is published when one comes back (chapter 06 §3.3), as far as it fits the queue.
    private func expectFlush(of gateway: Int, waitingSince start: Instant, in mesh: SimulatedMesh) {
        let peer = mesh.nodes[gateway].id
        let waiting = order.filter { id in
            bridged[id].map { $0.gateway == peer && $0.at > start - .seconds(2) } ?? false
        }
        let neighbourhood = Set(reach(of: gateway, mesh))
        let young = waiting.filter { id in
            guard let message = bridged[id], message.accepted == nil, neighbourhood.contains(message.author) else {
                return false
            }
            return message.at > start + .seconds(5) && mesh.now.monotonic - message.at <= promises.flushedAge
        }
        let authors = Dictionary(waiting.compactMap { bridged[$0]?.author }.map { ($0, 1) }, uniquingKeysWith: +)
        guard waiting.count <= GatewayLimits.queuedDeposits,
            authors.values.allSatisfy({ $0 <= GatewayLimits.queuedDepositsEach })
        else { return }
        let count = disconnections[gateway]
        mesh.schedule(after: promises.uplink) { [self] mesh in
            guard disconnections[gateway] == count else { return }
            for id in young { requirePublication(of: id, "waited for a relay", mesh) }
        }
    }

    // MARK: Down

    func happened(_ event: MeshEvent, at node: Int, in mesh: SimulatedMesh) {
        guard case .publicMessage(let message) = event, let number = log.number(of: message),
            visible[node]?.values.contains(number) ?? false
        else { return }
        contested[node] = number
    }

    func settled(node: Int, in mesh: SimulatedMesh) {
        guard !contested.isEmpty, let number = contested.removeValue(forKey: node) else { return }
        if visible[node]?.values.contains(number) ?? false {
            mesh.report("bridge", node: node, "shows the bridged copy of message \(number) beside the radio message")
        }
    }

    /// A message of the last seconds may be on its way still.
    func ended(_ mesh: SimulatedMesh) {
        for id in order {
            guard let message = bridged[id] else { continue }
            for (node, since) in message.due.sorted(by: { $0.key < $1.key }) {
                guard hall[node] != nil, mesh.now.monotonic - since >= promises.downlink,
                    arrivals[node].map({ $0 < since }) ?? false, !knows(node, id, message.message),
                    isShownForCertain(message, at: node, since: since)
                else { continue }
                mesh.report("bridge", node: node, "message \(message.message) never came over the bridge")
            }
        }
    }

    private func knows(_ node: Int, _ id: EventID, _ message: Int) -> Bool {
        visible[node]?[id] != nil || log.known(to: node).contains(message)
    }

    /// Copies that had to be heard, of those messages that are old enough.
    var due: Int { bridged.values.reduce(0) { $0 + $1.due.count } }

    var outages: Int { relays.reduce(0) { $0 + $1.outages } }

    /// For sabotage only: the next copy counts as shown and is not.
    var losesNextCopy = false

    /// For sabotage only.
    func showLastCopyAgain(in mesh: SimulatedMesh) {
        if let lastShown { showed(lastShown.message, at: lastShown.node, in: mesh) }
    }
}

extension BridgeCheck: StationObserver {
    func deposited(_ event: EventID, with gateway: PeerID, by node: Int, in mesh: SimulatedMesh) {
        guard let composing, composing.author == node, let hall = hall[node] else {
            return mesh.report("bridge", node: node, "deposited what its owner did not say")
        }
        bridged[event] = Bridged(
            message: composing.message, author: node, hall: hall, at: mesh.now.monotonic, gateway: gateway)
        order.append(event)
        if let there = gateways[gateway].flatMap({ self.hall[$0] }), there != hall { misled += 1 }
        if let gateway = gateways[gateway] { expectPublication(of: event, by: gateway, in: mesh) }
    }

    func broadcast(_ carrier: NostrCarrier, by node: Int, in mesh: SimulatedMesh) {
        let now = mesh.now.monotonic
        var recent = sends[node, default: []]
        recent.removeAll { now - $0.at >= GatewayLimits.window }
        recent.append((now, carrier.event.count))
        sends[node] = recent
        let bytes = recent.reduce(0) { $0 + $1.bytes }
        if recent.count > GatewayLimits.bridgeCarriers || recent.count > 1 && bytes > GatewayLimits.downlinkBytes {
            mesh.report("airtime", node: node, "\(recent.count) carriers of \(bytes) bytes within a minute")
        }
        if let hall = hall[node],
            recent.count == GatewayLimits.bridgeCarriers || bytes > GatewayLimits.downlinkBytes - carrier.event.count
        {
            congestions[hall, default: []].append(now)
        }
    }

    func showed(_ message: GatewayMessage, at node: Int, in mesh: SimulatedMesh) {
        guard let original = bridged[message.id] else {
            return mesh.report("bridge", node: node, "shows what nobody sent over the bridge")
        }
        let number = original.message
        guard message.text == TextTrimming.trim(log.said[number].message.text) else {
            return mesh.report("bridge", node: node, "message \(number) was altered")
        }
        guard !log.known(to: node).contains(number) else {
            return mesh.report("bridge", node: node, "shows message \(number) again, which came by radio")
        }
        guard mesh.now.monotonic - original.at <= BridgeCheck.freshness else {
            return mesh.report("bridge", node: node, "shows message \(number), which is stale")
        }
        guard visible[node, default: [:]].updateValue(number, forKey: message.id) == nil else {
            return mesh.report("bridge", node: node, "shows message \(number) twice")
        }
        lastShown = (message, node)
        if losesNextCopy {
            losesNextCopy = false
            visible[node]?[message.id] = nil
        }
        copies.append(Copy(message: number, node: node, at: mesh.now.monotonic))
    }

    func retracted(_ id: EventID, at node: Int, in mesh: SimulatedMesh) {
        retractions += 1
        visible[node]?[id] = nil
    }

    func connectivityChanged(_ isConnected: Bool, at node: Int, in mesh: SimulatedMesh) {
        if !isConnected {
            disconnected[node] = mesh.now.monotonic
            disconnections[node, default: 0] += 1
        } else if let since = disconnected.removeValue(forKey: node) {
            expectFlush(of: node, waitingSince: since, in: mesh)
        }
    }

    /// 900 s (chapter 06 §4.8), and room for clocks that are seconds apart.
    private static let freshness = Interval.seconds(910)
}

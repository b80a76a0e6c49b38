import Basics
import Wire

extension BluetoothRadio: ObservedRadio {
    public var adapters: [AdapterSnapshot] {
        seats.sorted { $0.index < $1.index }.map { seat in
            let status = seat.port.status
            let connected = seat.connections.values.filter(\.isConnected)
            return AdapterSnapshot(
                name: seat.name, state: status.state, isAdvertising: status.isAdvertising,
                isScanning: status.isScanning, outgoing: connected.count { $0.role == .outgoing },
                incoming: connected.count { $0.role == .incoming }, connecting: seat.attempts,
                limit: seat.limit.current(at: now), lastStranger: seat.lastStranger, rival: seat.rival,
                openSince: seat.openSince, lastAccepted: seat.lastAccepted, heardUnlinked: seat.heardUnlinked,
                lastReceived: seat.lastReceived,
                lastSent: connected.compactMap(\.lastSent).max() ?? seat.lastSent, lastReport: status.lastReport)
        }
    }

    public func adapterName(of link: LinkID) -> String? { links[link].flatMap { seat($0.adapter)?.name } }

    public var counters: [(group: String, counts: [(name: String, count: UInt64)])] {
        let bearers = seats.flatMap { $0.connections.values }.reduce(endedBearerDrops) { $0.adding($1.bearerDrops) }
        let adapters = seats.reduce(Tally<AdapterEvent>()) { $0.adding($1.port.status.counters) }
        return [
            ("bluetooth", events.all), ("bluetooth_adapters", adapters.all),
            ("bluetooth_management", source?.counters.all ?? []), ("att_drops", bearers.all),
            ("att_failures", failures.all),
        ]
    }

    public var liveness: [RadioLiveness] {
        seats.sorted { $0.index < $1.index }.map { seat in
            let status = seat.port.status
            var proofs = [status.lastTraffic, seat.lastReceived]
            // One that is wedged may hear and come up after each reset, and still make no connection.
            if status.state != .wedged { proofs += [status.lastReport, seat.upSince] }
            // An empty place is no fault: doing what it is told is life enough, until something speaks against it.
            if status.state == .ready { proofs.append(status.lastAnswer) }
            // What is absent or switched off is nothing that a new process would help.
            let isExpected = [.ready, .settingUp, .wedged].contains(status.state)
            return RadioLiveness(name: seat.name, isExpected: isExpected, lastProof: proofs.compactMap { $0 }.max())
        }
    }

    public var obstacle: AdapterStatus.State? { isRunning && seats.isEmpty ? source?.obstacle ?? .absent : nil }
    public var problem: String? { nil }

    /// The links that are up, by ID.
    public var snapshot: [RadioLinkSnapshot] {
        links.sorted { $0.key < $1.key }.compactMap { id, link in
            guard let since = link.since else { return nil }
            return RadioLinkSnapshot(
                link: id, role: link.role, remoteName: "", frameLimit: link.frameLimit, since: since,
                lastReceived: link.lastReceived, lastSent: link.lastSent, queuedFrames: link.queue.count,
                queuedBytes: link.queue.bytes)
        }
    }
}

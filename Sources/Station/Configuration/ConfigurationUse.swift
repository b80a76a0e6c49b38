import Basics
import Crypto
import EventLoop
import Gateway
import Glibc
import Nostr
import Radio
import Vault
import Wire

/// What the settings mean to the parts.
extension Configuration {
    /// `gate-` and 4 hex digits: enough to tell the boxes of a venue apart.
    static func defaultName(for peer: PeerID) -> String { "gate-" + peer.hex.prefix(4) }

    func nickname(for peer: PeerID) -> String { nickname ?? Configuration.defaultName(for: peer) }

    var bluetooth: BluetoothConfiguration {
        BluetoothConfiguration(
            service: radio.service == .debug ? .debugMeshService : .meshService,
            budget: LinkBudget(total: radio.links, outgoing: radio.outgoingLinks))
    }

    func virtualAir(for peer: PeerID) throws(StationFault) -> VirtualAirConfiguration {
        guard let name = air.name ?? AirName(Configuration.defaultName(for: peer)) else {
            throw .configuration("air.name must be set")
        }
        return VirtualAirConfiguration(
            room: air.room, name: name, mtu: air.mtu,
            impairment: Impairment(loss: air.loss, delay: air.delay, seed: UInt64(air.seed.magnitude)))
    }

    var cell: RendezvousCell? {
        if let cell = location.cell { return cell }
        guard let latitude = location.latitude, let longitude = location.longitude else { return nil }
        return RendezvousCell(latitude: latitude, longitude: longitude)
    }

    var gatewayConfiguration: GatewayConfiguration {
        var jobs: GatewayConfiguration.Jobs = []
        if gateway.isEnabled { jobs.formUnion([.uplink, .downlink]) }
        if bridge.isEnabled { jobs.insert(.bridge) }
        return GatewayConfiguration(
            jobs: jobs, echoesUplinks: gateway.echo, channels: gateway.channels, cell: cell,
            extraCells: bridge.extraCells, publishesPresence: bridge.presence, followsDemand: gateway.demandChannels,
            publishesChannelPresence: gateway.presence)
    }

    func courierConfiguration(own: NoisePublicKey) -> CourierConfiguration {
        CourierConfiguration(own: own, trusted: Set(courier.trusted), usesRelays: courier.drops)
    }

    func relayChoice(_ keeper: DirectoryKeeper) -> RelayChoice {
        RelayChoice(defaults: defaultRelays, directory: keeper.source == .unneeded ? nil : keeper.directory)
    }

    var defaultRelays: [NostrRelayURL] {
        RelaySet(
            custom: nostr.relays.map(\.text), builtIn: nostr.useBuiltInRelays ? RelaySet.builtIn : [],
            policy: SettingLimits.relayPolicy
        ).all
    }

    /// This configuration with those settings of another that may change while running.
    func takingReloadable(from next: Configuration) -> Configuration {
        var merged = self
        merged.nickname = next.nickname
        merged.gateway = next.gateway
        merged.bridge = next.bridge
        merged.courier = next.courier
        merged.nostr = next.nostr
        merged.log = next.log
        return merged
    }

    /// The keys in which another configuration differs, in the order they are documented.
    func keysThatDiffer(from other: Configuration) -> [String] {
        ConfigurationTable.settings.filter { $0.differs(self, other) }.map(\.key)
    }
}

extension GeoRelayDirectory {
    /// The list in a file, and when the file was last changed.
    static func read(_ path: String) throws -> (GeoRelayDirectory, WallTime) {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { throw SystemError.last("open", subject: path) }
        let file = FileDescriptor(owning: raw)
        let bytes = try PrivateFile.readAll(file, path: path, limit: GeoRelayDirectory.maximumFileBytes)
        var info = stat()
        let changed = fstat(raw, &info) == 0 ? UInt64(max(0, info.st_mtim.tv_sec)) * 1_000 : 0
        do {
            return (try GeoRelayDirectory(csv: bytes), WallTime(milliseconds: changed))
        } catch {
            throw PrivateFile.ReadProblem.unreadable("\(path): \(error)")
        }
    }
}

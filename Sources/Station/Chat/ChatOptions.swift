import Crypto
import EventLoop
import Nostr
import Radio
import Uplink
import Wire

/// How a chat peer takes part, from the command line.
public struct ChatOptions {
    enum Place {
        case air(room: String, name: AirName)
        case bluetooth([AdapterChoice])
    }

    var place: Place
    var nickname: String
    /// Where the identity is kept; a new one is made each time when `nil`.
    var stateDirectory: String?
    var bridgeIsOn: Bool
    /// Relays, the way to them, and whether the clock is vouched for; `nil` for a peer without relays.
    var network: Configuration?
    /// The person vouches for the machine's clock.
    var trustsClock: Bool

    public init(_ arguments: Arguments) throws(StationFault) {
        let place = try ChatOptions.place(arguments)
        guard let nickname = Nickname.announceable(arguments.value("--nick") ?? ChatOptions.standardName(in: place))
        else {
            throw .usage("--nick takes 1 to 50 visible characters")
        }
        let bridge = arguments.value("--bridge") ?? "off"
        guard bridge == "on" || bridge == "off" else { throw .usage("--bridge takes on or off") }
        self.place = place
        self.nickname = nickname
        stateDirectory = arguments.value("--state")
        bridgeIsOn = bridge == "on"
        network = try ChatOptions.network(arguments)
        trustsClock = arguments.has("--trust-clock") || network?.clock.trustSystem ?? false
    }

    /// As the daemon does it: through Tor, unless that is turned off by name.
    private static func network(_ arguments: Arguments) throws(StationFault) -> Configuration? {
        let file = arguments.value("--config")
        let relays = arguments.value("--relay")
        guard file != nil || relays != nil else {
            guard arguments.value("--tor") == nil else {
                throw .usage("--tor is about relays: name one with --relay or --config")
            }
            return nil
        }
        var configuration = Configuration()
        if let file { configuration = try Configuration(contentsOf: file) }
        if let relays {
            configuration.nostr.useBuiltInRelays = false
            configuration.nostr.relays = try relays.split(separator: ",").map { (text) throws(StationFault) in
                guard let url = NostrRelayURL(String(text), defaultScheme: "wss"),
                    SettingLimits.relayPolicy.permits(url)
                else {
                    throw .usage("--relay takes addresses of relays, wss:// or, on this machine and at .onion, ws://")
                }
                return url
            }
        }
        if let tor = arguments.value("--tor") {
            guard let choice = Configuration.Network.Tor(rawValue: tor) else {
                throw .usage("--tor takes required or off")
            }
            configuration.network.tor = choice
        }
        return configuration
    }

    func makeRelays(
        account: NostrSecretKey, archive: NostrArchive?, clock: ClockService, loop: any EventLoop
    ) throws(StationFault) -> ChatRelays? {
        guard let network else { return nil }
        let route = try network.network.route(
            on: loop, resolver: SystemResolver(loop: loop), time: { loop.now.wall })
        // Only mail goes over them, which knows no place.
        let uplink = RelayUplink(
            loop: loop, relays: RelayChoice(defaults: network.defaultRelays, directory: nil), route: route,
            usesTor: network.network.tor == .required)
        (route as? TorRoute)?.targets = { [weak uplink] in uplink?.targets ?? [] }
        return ChatRelays(uplink: uplink, account: account, archive: archive) { clock.standing.source.isTrusted }
    }

    private static func place(_ arguments: Arguments) throws(StationFault) -> Place {
        let room = arguments.value("--room")
        let name = arguments.value("--name")
        if let radio = arguments.value("--radio") {
            guard room == nil, name == nil else {
                throw .usage("--radio is Bluetooth: no --room and no --name with it")
            }
            if radio == "all" { return .bluetooth([]) }
            guard let adapter = AdapterChoice(radio) else {
                throw .usage("--radio takes all, an adapter such as hci0, or the address of one")
            }
            return .bluetooth([adapter])
        }
        guard let room, let name else {
            throw .usage("chat needs --radio ADAPTER, or --room DIR and --name NAME; see bitgate chat --help")
        }
        guard let air = AirName(name) else { throw .usage("--name takes 1 to 32 characters of a-z, 0-9 and -") }
        return .air(room: room, name: air)
    }

    private static func standardName(in place: Place) -> String {
        switch place {
        case .air(_, let name): return name.text
        case .bluetooth:
            var random = SystemRandomNumberGenerator()
            return Aftermath.anonymousName(using: &random)
        }
    }

    /// - Parameter masterKey: of the state that is kept; nil without one.
    func makeRadio(loop: any EventLoop, masterKey: SecretBytes?) -> any ObservedRadio {
        switch place {
        case .air(let room, let name):
            return VirtualAir(loop: loop, configuration: VirtualAirConfiguration(room: room, name: name))
        case .bluetooth(let adapters):
            var random = SystemRandomNumberGenerator()
            let key = masterKey ?? .random(count: OwnAddress.seedSize, using: &random)
            return BluetoothRadio.system(
                loop: loop, configuration: BluetoothConfiguration(), adapters: adapters,
                ownAddress: OwnAddress(masterKey: key, isAlwaysRandom: true))
        }
    }
}

extension ChatPeer {
    /// A peer on Bluetooth or virtual air.
    public convenience init(_ options: ChatOptions, loop: any EventLoop) throws(StationFault) {
        var random = SystemRandomNumberGenerator()
        var state: StateDirectory?
        var trust: TrustVault?
        var masterKey: SecretBytes?
        let identity: StationIdentity
        var account = NostrSecretKey.generate(using: &random)
        do throws(StationFault) {
            if let path = options.stateDirectory {
                let directory = try StateDirectory(path)
                let stored = try IdentityStore(in: directory).loadOrCreate(using: &random)
                identity = stored.identity
                if options.network != nil {
                    account = try AccountKeyFile(in: directory.path, masterKey: stored.masterKey)
                        .loadOrCreate(using: &random)
                }
                trust = TrustVault(in: directory, masterKey: stored.masterKey, loop: loop)
                state = directory
                masterKey = stored.masterKey
            } else {
                identity = .generate(using: &random)
            }
        } catch {
            throw error.about("--state")
        }
        let radio = options.makeRadio(loop: loop, masterKey: masterKey)
        let clock = ClockService(loop, machine: .system, trustsSystem: options.trustsClock, lastKnown: nil)
        self.init(
            loop: loop, radio: radio, identity: identity, state: state, trust: trust,
            relays: try options.makeRelays(account: account, archive: trust?.archive, clock: clock, loop: loop),
            clock: clock, nickname: options.nickname, bridgeIsOn: options.bridgeIsOn)
        watch(radio)
    }
}

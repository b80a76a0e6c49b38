import Crypto
import EventLoop
import Radio
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

    public init(_ arguments: Arguments) throws(StationFault) {
        let place = try ChatOptions.place(arguments)
        guard let nickname = Nickname.normalized(arguments.value("--nick") ?? ChatOptions.standardName(in: place))
        else {
            throw .usage("--nick takes 1 to 50 visible characters")
        }
        let bridge = arguments.value("--bridge") ?? "off"
        guard bridge == "on" || bridge == "off" else { throw .usage("--bridge takes on or off") }
        self.place = place
        self.nickname = nickname
        stateDirectory = arguments.value("--state")
        bridgeIsOn = bridge == "on"
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
        do throws(StationFault) {
            if let path = options.stateDirectory {
                let directory = try StateDirectory(path)
                let stored = try IdentityStore(in: directory).loadOrCreate(using: &random)
                identity = stored.identity
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
        self.init(
            loop: loop, radio: radio, identity: identity, state: state, trust: trust, nickname: options.nickname,
            bridgeIsOn: options.bridgeIsOn)
        watch(radio)
    }
}

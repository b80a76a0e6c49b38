import EventLoop
import Radio
import Wire

/// How a chat peer takes part, from the command line.
public struct ChatOptions {
    var room: String
    var name: AirName
    var nickname: String
    /// Where the identity is kept; a new one is made each time when `nil`.
    var stateDirectory: String?
    var bridgeIsOn: Bool

    public init(_ arguments: Arguments) throws(StationFault) {
        guard let room = arguments.value("--room"), let nameText = arguments.value("--name") else {
            throw .usage("chat needs --room DIR and --name NAME; see bitgate chat --help")
        }
        guard let name = AirName(nameText) else { throw .usage("--name takes 1 to 32 characters of a-z, 0-9 and -") }
        guard let nickname = Nickname.normalized(arguments.value("--nick") ?? nameText) else {
            throw .usage("--nick takes 1 to 50 visible characters")
        }
        let bridge = arguments.value("--bridge") ?? "off"
        guard bridge == "on" || bridge == "off" else { throw .usage("--bridge takes on or off") }
        self.room = room
        self.name = name
        self.nickname = nickname
        stateDirectory = arguments.value("--state")
        bridgeIsOn = bridge == "on"
    }
}

extension ChatPeer {
    /// A peer on virtual air.
    public convenience init(_ options: ChatOptions, loop: any EventLoop) throws(StationFault) {
        var random = SystemRandomNumberGenerator()
        var state: StateDirectory?
        var trust: TrustVault?
        let identity: StationIdentity
        do throws(StationFault) {
            if let path = options.stateDirectory {
                let directory = try StateDirectory(path)
                let stored = try IdentityStore(in: directory).loadOrCreate(using: &random)
                identity = stored.identity
                trust = TrustVault(in: directory, masterKey: stored.masterKey, loop: loop)
                state = directory
            } else {
                identity = .generate(using: &random)
            }
        } catch {
            throw error.about("--state")
        }
        self.init(
            loop: loop,
            radio: VirtualAir(
                loop: loop, configuration: VirtualAirConfiguration(room: options.room, name: options.name)),
            identity: identity, state: state, trust: trust, nickname: options.nickname,
            bridgeIsOn: options.bridgeIsOn)
    }
}

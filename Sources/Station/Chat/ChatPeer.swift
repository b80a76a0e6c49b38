import Basics
import Crypto
import EventLoop
import Gateway
import Mesh
import Messenger
import Nostr
import Radio
import Wire

/// A person's end of the mesh: a full peer with its own identity that says what is typed and shows what is heard.
///
/// Without relays of its own, what goes to a location channel or across the bridge is signed here and deposited with a
/// gateway in reach. With them it goes there, and so do private messages to favourites who are not in reach.
public final class ChatPeer {
    /// Receives every line to show.
    public var onLine: ((ChatLine) -> Void)?
    /// The peer has left; nothing follows.
    public var onEnd: (() -> Void)?
    /// Whether anybody has been in reach on the mesh yet.
    private(set) var hasMetSomebody = false
    private(set) var isAtRelay = false
    /// Called when the first peer comes into reach, and whenever there are relays.
    var onCompany: (() -> Void)?

    let loop: any EventLoop
    let chat: PrivateChat
    let relays: ChatRelays?
    /// Whether the machine's clock can be believed; `nil` where it is beyond doubt.
    private let clock: ClockService?
    private(set) var people: ChatPeople
    private let identity: StationIdentity
    /// Held so that nobody else uses the same identity.
    private let state: StateDirectory?
    let switchboard: Switchboard
    private var nickname: String { people.ownName }
    private(set) var geohash: String?
    private var bridgeIsOn: Bool
    private var cell: RendezvousCell?
    /// As many as somebody follows; whoever goes through more is told again.
    private var saidHowItWent = BoundedSet<String>(capacity: 256)
    private(set) var isLeaving = false

    private var mesh: MeshNode { switchboard.mesh }
    private var gateway: Gateway { switchboard.gateway }

    public convenience init(
        loop: any EventLoop, radio: any LinkPort, identity: StationIdentity, state: StateDirectory? = nil,
        nickname: String, bridgeIsOn: Bool, random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.init(
            loop: loop, radio: radio, identity: identity, state: state, trust: nil, nickname: nickname,
            bridgeIsOn: bridgeIsOn, random: random)
    }

    init(
        loop: any EventLoop, radio: any LinkPort, identity: StationIdentity, state: StateDirectory? = nil,
        trust: (any TrustStore)?, relays: ChatRelays? = nil, clock: ClockService? = nil, nickname: String,
        bridgeIsOn: Bool, random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.loop = loop
        self.relays = relays
        self.clock = clock
        self.identity = identity
        self.state = state
        people = ChatPeople(ownName: nickname)
        self.bridgeIsOn = bridgeIsOn
        // One who opens letters to prekeys says so (chapter 04 §12).
        let capabilities: Capabilities = [.prekeys]
        var node = MeshConfiguration(nickname: nickname, capabilities: capabilities)
        node.takesMail = true
        switchboard = Switchboard(
            loop: loop, radio: radio, mesh: MeshNode(configuration: node, identity: identity.node, random: random),
            gateway: Gateway(configuration: .console(), seed: identity.deviceSeed, random: random),
            relays: relays?.uplink, ownCapabilities: capabilities)
        chat = PrivateChat(
            loop: loop, switchboard: switchboard, store: trust,
            mail: relays?.makeMail(me: identity.node.peerID, random: random),
            drops: relays?.makeDrops(own: identity.node.noise.publicKey, random: random), clock: clock, random: random)
        switchboard.observer = self
        switchboard.clock = clock
        chat.onEvent = { [weak self] in self?.happened($0) }
    }

    /// Goes on the air.
    public func start() throws {
        try switchboard.radio.start()
        switchboard.perform { now in
            mesh.start(at: now)
            startGateway(at: now)
        }
        clock?.start()
        chat.start()
        startRelays()
    }

    /// Says goodbye and goes off the air; `onEnd` follows.
    public func leave() {
        guard !isLeaving else { return }
        isLeaving = true
        if undelivered > 0 {
            let what = undelivered == 1 ? "a private message is" : "\(undelivered) private messages are"
            let next = chat.keepsLetters ? "will be tried again when you are back" : "will not be sent again"
            show(.problem("\(what) not known to have arrived, and \(next)"))
        }
        chat.stop()
        clock?.stop()
        switchboard.perform { mesh.stop(at: $0) }
        loop.schedule(after: MeshLimits.leaveLinger) { [self] in
            switchboard.stopTimer()
            switchboard.radio.stop()
            relays?.uplink.stop()
            // What came of the last words came in until now.
            if !chat.close() {
                show(.problem("what you wrote and decided could not be kept: is the disk full?"))
            }
            onEnd?()
        }
    }

    /// What is typed is said where the person is.
    public var place: String { geohash.map { "#" + $0 } ?? "#mesh" }

    /// Carries out one typed line; nothing any more once the peer is leaving.
    public func enter(_ line: String) {
        guard !isLeaving else { return }
        switch ChatCommand(line) {
        case .nothing: break
        case .say(let text): say(text)
        case .join(let geohash): view(geohash)
        case .joinMesh: view(nil)
        case .who: who()
        case .bridge(let isOn): setBridge(isOn)
        case .nickname(let name):
            people.ownName = name
            switchboard.perform { mesh.setNickname(name, at: $0) }
            show(.notice("you are \(name) now"))
        case .message(let typed): write(typed)
        case .why(let typed): explainWays(to: typed)
        case .add(let code): add(code)
        case .fingerprint(let typed): showFingerprint(typed)
        case .verify(let typed): verify(typed)
        case .unverify(let typed): unverify(typed)
        case .favorite(let typed, let isFavorite): favor(typed, isFavorite)
        case .block(let typed, let isBlocked): block(typed, isBlocked)
        case .help:
            for line in ChatHelp.lines { show(.notice(line)) }
        case .quit: leave()
        case .refused(let why): show(.problem(why))
        }
    }

    func show(_ line: ChatLine) { onLine?(line) }

    // MARK: Speaking

    private func say(_ text: String) {
        if let geohash {
            let outcome = switchboard.perform { now in
                gateway.say(
                    text, inChannel: geohash, nickname: nickname, gateway: firstPeer(with: .gateway, at: now), at: now)
            }
            report(outcome, in: geohash)
        } else {
            sayOnMesh(text)
        }
    }

    private func sayOnMesh(_ text: String) {
        let outcome = switchboard.perform { now -> SpeechOutcome? in
            guard let message = mesh.say(text, at: now) else { return .invalid }
            guard bridgeIsOn, cell != nil else { return nil }
            return gateway.bridgeOwnMessage(
                text, sender: mesh.me, radioTime: message.timestamp, nickname: nickname,
                bridgePeer: firstPeer(with: .bridge, at: now), at: now)
        }
        switch outcome {
        case .invalid: show(.problem("that is too long to say"))
        case .noWayOut: sayOnce("no bridge is in reach: said on this mesh only")
        default: break
        }
        if mesh.degree == 0 { show(.problem("nobody is in reach to hear that")) }
    }

    private func report(_ outcome: SpeechOutcome, in geohash: String) {
        switch outcome {
        case .published: sayOnce("sent to relays", key: geohash)
        case .deposited: sayOnce("sent through a gateway of the mesh", key: geohash)
        case .noWayOut: show(.problem("not sent: no gateway is in reach"))
        case .invalid: show(.problem("that cannot be said there"))
        case .clockUntrusted: show(.problem("not sent: this machine's clock is not set"))
        }
    }

    private func sayOnce(_ notice: String, key: String? = nil) {
        if saidHowItWent.insert((key ?? "") + notice) { show(.notice(notice)) }
    }

    private func firstPeer(with capability: Capabilities, at now: Now) -> PeerID? {
        mesh.peers(at: now).first { $0.isReachable && $0.capabilities?.contains(capability) == true }?.id
    }

    // MARK: Places

    private func view(_ geohash: String?) {
        self.geohash = geohash
        switchboard.perform { gateway.view(geohash, at: $0) }
        show(.notice("you are in \(place)"))
    }

    private func setBridge(_ isOn: Bool) {
        bridgeIsOn = isOn
        if isOn { adoptCell() }
        show(
            .notice(
                isOn ? "bridge on: \(cell.map { "area \($0.geohash)" } ?? "waiting for one in reach")" : "bridge off"))
    }

    /// Without a location of its own a peer takes the cell that a bridge in reach announces, and keeps it (chapter 06
    /// §4.4).
    private func adoptCell() {
        guard bridgeIsOn, cell == nil else { return }
        let found = mesh.peers(at: loop.now).lazy
            .filter { $0.isReachable && $0.capabilities?.contains(.bridge) == true }
            .compactMap { $0.bridgeCell.flatMap { RendezvousCell($0) } }.first
        guard let found else { return }
        cell = found
        let next = Gateway(
            configuration: .console(cell: found), seed: identity.deviceSeed, random: SystemRandomNumberGenerator())
        switchboard.replaceGateway(next) { startGateway(at: $0) }
        show(.notice("bridge: area \(found.geohash)"))
    }

    private func startGateway(at now: Now) {
        gateway.setClockTrusted(true, at: now)
        gateway.relayConnectivityChanged(relays?.uplink.isConnected ?? false, at: now)
        gateway.start(at: now)
        gateway.view(geohash, at: now)
    }

    private func who() {
        let peers = mesh.peers(at: loop.now).filter(\.isReachable)
        show(.notice(peers.isEmpty ? "nobody is in reach" : "\(peers.count) in reach:"))
        for peer in peers {
            var about: [String] = []
            if peer.capabilities?.contains(.gateway) == true { about.append("gateway") }
            if peer.capabilities?.contains(.bridge) == true { about.append("bridge") }
            if !peer.isConnected { about.append("over others") }
            if let record = chat.messenger.trust[peer.noiseKey.fingerprint] { about += ChatPeer.standing(record) }
            show(.notice("  \(name(of: peer))" + (about.isEmpty ? "" : " (\(about.joined(separator: ", ")))")))
        }
        if let geohash {
            let there = gateway.participants(inChannel: geohash, at: loop.now)
            show(.notice("\(there.count) wrote in #\(geohash) within five minutes, as far as is heard here"))
            for person in there { show(.notice("  \(person.displayName)")) }
        }
        let across = gateway.status(at: loop.now).participants
        guard !across.isEmpty else { return }
        show(.notice("\(across.count) across the bridge:"))
        for person in across { show(.notice("  \(person.displayName)")) }
    }

    private func name(of peer: PeerSnapshot) -> String { name(of: peer.id, calledBy: peer.nickname) }

    private func name(of peer: PeerID, calledBy nickname: String) -> String {
        people.name(of: peer, calledBy: nickname, isImpostor: isImpostor(peer, nickname))
    }

    private func isImpostor(_ peer: PeerID, _ nickname: String) -> Bool {
        chat.messenger.trust.hasTrustedNamesake(of: nickname, besides: peer)
    }

    private func isBlocked(_ peer: PeerID) -> Bool { chat.messenger.trust.isBlocked(peer) }
}

extension ChatPeer: SwitchboardObserver {
    func happened(_ event: MeshEvent) {
        switch event {
        case .peerConnected(let peer), .peerUpdated(let peer): met(peer)
        case .peerLeft(let peer): lost(peer, "left")
        case .peerRemoved(let peer): lost(peer, "is out of reach")
        case .publicMessage(let message):
            guard !isBlocked(message.sender) else { break }
            show(.message(name: name(of: message.sender, calledBy: message.nickname), text: message.text))
        default: break
        }
        chat.happened(event)
    }

    private func met(_ peer: PeerSnapshot) {
        let (name, before) = people.meet(
            peer.id, nickname: peer.nickname, isImpostor: isImpostor(peer.id, peer.nickname))
        if !isBlocked(peer.id) {
            if before == nil {
                show(.notice("\(name) came"))
            } else if let before, before != name {
                show(.notice("\(before) is now \(name)"))
            }
        }
        // Later: the gateway is replaced, and this one is in the middle of something.
        loop.enqueue { [weak self] in self?.adoptCell() }
        guard !hasMetSomebody else { return }
        hasMetSomebody = true
        onCompany?()
    }

    /// Whether a relay is connected now.
    func note(isAtRelay: Bool) {
        self.isAtRelay = isAtRelay
        if isAtRelay { onCompany?() }
    }

    private func lost(_ peer: PeerID, _ how: String) {
        guard let name = people.lose(peer), !isBlocked(peer) else { return }
        show(.notice("\(name) \(how)"))
    }

    func show(_ message: GatewayMessage) {
        switch message.origin {
        case .channel(let geohash):
            show(.channel(geohash: geohash, name: message.displayName, text: message.text))
        case .bridge: show(.bridged(name: message.displayName, text: message.text))
        }
    }

}

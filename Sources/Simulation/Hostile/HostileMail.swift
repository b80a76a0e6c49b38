import Basics
import Crypto
import Gateway
import Mesh
import Messenger
import Nostr
import Wire

/// Two gateways on one mesh, four people who write letters to a fifth who comes later, and others who mean no good:
/// forged deposits, replays, depositors in numbers under names made up for it, a hundred and fifty worthless drops
/// under the addressee's own tags, and a relay that tells what it has over and over, the old and the wrong included.
/// All engines are real, packet by packet.
public final class HostileMail: MailSurroundings {
    public let mesh: SimulatedMesh
    private var check = CityCheck()
    private var relay = CityRelay()
    private var stations: [MailStation] = []
    private var random: SeededRandom
    private let forger: CrookedDepositor
    /// Deposits as they were on the air.
    private var recorded: [[UInt8]] = []
    private var shown: [Int: Int] = [:]
    private var told: [VerifiedEvent] = []
    private var spoilt: [VerifiedEvent] = []
    private var linked: [Int: [LinkID]] = [:]

    static let boxes = [0, 1]
    /// Who writes how many letters; the last of them more than a box takes of one depositor.
    static let writers = [(phone: 2, letters: 3), (phone: 3, letters: 3), (phone: 4, letters: 14)]
    static let addressee = 5
    /// Names made up, with letters of each: more than a box takes of one.
    static let crooks = (names: 22, letters: 12)
    static let worthless = 150
    static let span = Interval.minutes(80)

    let phonesCarry = true

    public init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0xbad)
        mesh = SimulatedMesh(seed: seed)
        mesh.recordsAir = false
        mesh.recordsEvents = false
        forger = CrookedDepositor(seed: seed ^ 0xf0)
        populate(seed: seed)
        mesh.interference = { [unowned self] in note($0) }
        script(seed: seed)
    }

    private func populate(seed: UInt64) {
        for number in 0...HostileMail.addressee {
            let isBox = HostileMail.boxes.contains(number)
            var configuration = MeshConfiguration(
                nickname: String(number), capabilities: isBox ? [.gateway, .bridge] : [.prekeys, .groups, .vouch])
            configuration.takesMail = true
            mesh.addNode(configuration)
        }
        for node in mesh.nodes {
            let isBox = HostileMail.boxes.contains(node.index)
            let friends =
                node.index == HostileMail.addressee
                ? HostileMail.writers.map(\.phone) : isBox ? [] : [HostileMail.addressee]
            let station = MailStation(
                self, node: node.index, identity: node.identity, isBox: isBox, means: .gateways,
                friends: friends.map { mesh.nodes[$0].identity.noise.publicKey },
                random: SeededRandom(seed: seed ^ UInt64(node.index) << 20))
            stations.append(station)
            if let quota = station.courier?.quota { check.expect(quota, of: node.index) }
            mesh.attach(station, to: node.index)
            mesh.call(node.index) { station.start(at: $1) }
        }
    }

    // MARK: What happens

    private func at(_ minutes: Double, _ action: @escaping (SimulatedMesh) -> Void) {
        mesh.schedule(after: .seconds(minutes * 60), action)
    }

    private func script(seed: UInt64) {
        join(0, 1)
        for (phone, _) in HostileMail.writers { for box in HostileMail.boxes { join(phone, box) } }
        _ = mesh.connect(forger, to: 0)
        at(2) { [self] _ in write() }
        for minute in [3.0, 10, 44, 60] { at(minute) { [self] _ in forgeAndReplay() } }
        for number in 0..<HostileMail.crooks.names {
            at(4 + Double(number)) { [self] _ in stuff(HostileMail.boxes[number % 2], seed: seed &+ UInt64(number)) }
        }
        at(28) { [self] mesh in
            for (phone, _) in HostileMail.writers { linked.removeValue(forKey: phone)?.forEach(mesh.disconnect) }
        }
        for number in 0..<HostileMail.worthless {
            at(30 + Double(number) / 15) { [self] _ in litter(number) }
        }
        for minute in 31..<75 { at(Double(minute)) { [self] _ in repeatEverything() } }
        at(45) { [self] _ in for box in HostileMail.boxes { join(HostileMail.addressee, box) } }
    }

    private func join(_ a: Int, _ b: Int) { linked[a, default: []].append(mesh.connect(a, b).a) }

    private func write() {
        var letter = 0
        for (phone, letters) in HostileMail.writers {
            for _ in 0..<letters {
                mesh.call(phone) { _, now in
                    _ = try? stations[phone].messenger?.say(
                        City.text(of: letter), to: mesh.nodes[HostileMail.addressee].identity.peerID, at: now)
                }
                letter += 1
            }
        }
    }

    private func note(_ transmission: SimulatedMesh.Transmission) -> [UInt8]? {
        if HostileMail.boxes.contains(transmission.to), transmission.from > 1,
            let frame = try? Frame(transmission.bytes), frame.type == .courierEnvelope
        {
            recorded.append(transmission.bytes)
        }
        return transmission.bytes
    }

    /// An envelope that nobody can open.
    private func rubbish(for key: NoisePublicKey, life: UInt64 = 86_400_000) -> CourierEnvelope {
        CourierEnvelope(
            recipientTag: CourierTag.tag(for: key, day: CourierEnvelope.day(at: mesh.now.wall)),
            expiry: WallTime(milliseconds: mesh.now.wall.milliseconds + life), ciphertext: random.bytes(120),
            copies: 4)
    }

    private func rubbishKey() -> NoisePublicKey { NoiseStaticKey.generate(using: &random).publicKey }

    private func forgeAndReplay() {
        let victim = mesh.nodes[HostileMail.writers[0].phone].identity.peerID
        for number in 0..<10 {
            let envelope = rubbish(for: rubbishKey())
            let signer = number % 2 == 0 ? nil : forger.identity
            forger.leave(envelope, with: mesh.peer(0), as: victim, signedBy: signer, in: mesh)
        }
        for frame in recorded.prefix(10) { forger.replay(frame, in: mesh) }
    }

    /// Somebody comes under a new name, leaves more than anybody may, and goes.
    private func stuff(_ box: Int, seed: UInt64) {
        let crook = CrookedDepositor(seed: seed ^ 0xc0ffee)
        _ = mesh.connect(crook, to: box)
        for number in 0..<HostileMail.crooks.letters {
            mesh.schedule(after: .seconds(2 + number)) { [self] mesh in
                let envelope = rubbish(for: rubbishKey())
                for delay in [0, 500] {
                    mesh.schedule(after: .milliseconds(delay)) { mesh in
                        let me = crook.identity
                        crook.leave(envelope, with: mesh.peer(box), as: me.peerID, signedBy: me, in: mesh)
                    }
                }
            }
        }
        mesh.schedule(after: .seconds(40)) { crook.hangUp(in: $0) }
    }

    private func drop(of envelope: CourierEnvelope) -> VerifiedEvent? {
        Courier.drop(of: envelope, at: mesh.now.wall, using: &random)
    }

    private func litter(_ number: Int) {
        let key = mesh.nodes[HostileMail.addressee].identity.noise.publicKey
        if let event = drop(of: rubbish(for: key)) { tell(event, to: relay.take(event)) }
        guard number < 3 else { return }
        // Soon expired; and under a tag that is not the envelope's.
        if let event = drop(of: rubbish(for: key, life: 60_000)) { spoilt.append(event) }
        let envelope = rubbish(for: rubbishKey())
        let tag = Hex.encode(CourierTag.tag(for: key, day: CourierEnvelope.day(at: mesh.now.wall)))
        let mislabelled = VerifiedEvent.signed(
            kind: EventKind.courierDrop, tags: [["x", tag]], content: Base64.encode(envelope.encoded() ?? []),
            createdAt: mesh.now.wall.unixSeconds, key: .generate(using: &random), using: &random)
        if let mislabelled { spoilt.append(mislabelled) }
    }

    private func repeatEverything() {
        for event in told.prefix(40) + spoilt {
            tell(event, to: HostileMail.boxes)
        }
    }

    public struct Outcome: Sendable {
        /// How often each letter was shown.
        public var shown: [Int: Int] = [:]
        public var violations: [String] = []
        /// Of both boxes together.
        public var counts: [CourierOutcome: UInt64] = [:]
        /// Deposits that could be replayed.
        public var recorded = 0
    }

    /// Plays it to the end.
    public func play() -> Outcome {
        mesh.run(for: HostileMail.span)
        var outcome = Outcome(shown: shown, violations: check.violations, recorded: recorded.count)
        if let violation = mesh.violation { outcome.violations.append("\(violation)") }
        for reason in CourierOutcome.allCases {
            outcome.counts[reason] = HostileMail.boxes.reduce(0) {
                $0 + (stations[$1].courier?.outcomes[reason] ?? 0)
            }
        }
        return outcome
    }

    // MARK: MailSurroundings

    func shown(_ text: String, at node: Int) {
        guard let letter = City.letter(of: text) else { return }
        shown[letter, default: 0] += 1
        check.shown(letter, to: node, addressee: HostileMail.addressee, at: mesh.elapsed)
    }

    func kept(_ mail: CarriedEnvelope, at node: Int) { check.kept(mail, at: node) }
    func forgot(_ id: MailID, at node: Int) { check.forgot(id, at: node) }
    func flooded(_ envelope: CourierEnvelope, by node: Int) {
        check.flooded(envelope.ciphertext.count, by: node, at: mesh.elapsed)
    }

    func publish(_ event: VerifiedEvent, _ attempt: DropAttempt, from node: Int) {
        mesh.schedule(after: CityLimits.relayAnswer) { [self] mesh in
            told.append(event)
            tell(event, to: relay.take(event))
            mesh.call(node) { stations[node].courier?.published(attempt, isConfirmed: true, at: $1) }
        }
    }

    func subscribe(_ node: Int, _ id: String, _ filter: NostrFilter) {
        let found = relay.subscribe(node, id, filter)
        for event in found { tell(event, to: [node]) }
        let extent = StoredExtent(of: found.map(\.event.createdAt), limit: filter.limit)
        mesh.schedule(after: CityLimits.relayAnswer + CityLimits.relayAnswer) { [self] mesh in
            mesh.call(node) { stations[node].courier?.loaded(id, extent, at: $1) }
        }
    }

    func unsubscribe(_ node: Int, _ id: String) { relay.unsubscribe(node, id) }

    private func tell(_ event: VerifiedEvent, to boxes: some Sequence<Int>) {
        for box in boxes {
            mesh.schedule(after: CityLimits.relayAnswer) { [self] mesh in
                mesh.call(box) { stations[box].courier?.relayEvent(event, at: $1) }
            }
        }
    }
}

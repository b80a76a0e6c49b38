import Basics
import Crypto
import Gateway
import Mesh
import Messenger
import Nostr
import Wire

/// The plan of a city on real mesh nodes, packet by packet: what the coarse picture of `City` is held against. For a
/// few phones and hours.
public final class PacketCity: MailSurroundings {
    public let plan: CityPlan
    public let means: CityMeans
    public let mesh: SimulatedMesh
    private(set) var check = CityCheck()
    private(set) var relay = CityRelay()
    private var random: SeededRandom
    private var stations: [MailStation] = []
    private var members: [[Int]]
    private var venues: [Int: Int] = [:]
    private var links: [Int: [(other: Int, link: LinkID)]] = [:]
    private var outages: [Int: Int] = [:]

    public init(_ plan: CityPlan, means: CityMeans, seed: UInt64) {
        self.plan = plan
        self.means = means
        random = SeededRandom(seed: seed ^ 0xbeef)
        members = Array(repeating: [], count: plan.venues)
        mesh = SimulatedMesh(seed: seed)
        mesh.recordsAir = false
        mesh.recordsEvents = false
        populate(seed: seed)
        for visit in plan.visits {
            mesh.schedule(after: visit.from) { [self] _ in arrive(visit.phone, at: visit.venue) }
            mesh.schedule(after: visit.to) { [self] _ in depart(visit.phone) }
        }
        for (number, letter) in plan.letters.enumerated() {
            mesh.schedule(after: letter.at) { [self] _ in write(number, letter) }
        }
        guard means.hasBoxes else { return }
        for venue in 0..<plan.venues { fillBox(of: venue) }
        for outage in plan.outages {
            mesh.schedule(after: outage.from) { [self] _ in self.outage(of: outage.box, begins: true) }
            mesh.schedule(after: outage.to) { [self] _ in self.outage(of: outage.box, begins: false) }
        }
    }

    private func populate(seed: UInt64) {
        let boxes = means.hasBoxes ? plan.venues : 0
        for number in 0..<plan.phones + boxes {
            var configuration = MeshConfiguration(
                nickname: String(number),
                capabilities: number < plan.phones ? [.prekeys, .groups, .vouch] : [.gateway, .bridge])
            configuration.takesMail = true
            mesh.addNode(configuration)
        }
        for number in mesh.nodes.indices {
            let isBox = number >= plan.phones
            let station = MailStation(
                self, node: number, identity: mesh.nodes[number].identity, isBox: isBox, means: means,
                friends: isBox ? [] : friends(of: number), random: SeededRandom(seed: seed ^ UInt64(number) << 20))
            stations.append(station)
            if let quota = station.courier?.quota { check.expect(quota, of: number) }
            mesh.attach(station, to: number)
            mesh.call(number) { station.start(at: $1) }
        }
    }

    var phonesCarry: Bool { means.phonesCarry }

    private func friends(of phone: Int) -> [NoisePublicKey] {
        let others = plan.letters.flatMap { letter -> [Int] in
            letter.from == phone ? [letter.to] : letter.to == phone ? [letter.from] : []
        }
        return Set(others).sorted().map { mesh.nodes[$0].identity.noise.publicKey }
    }

    /// Plays the whole plan.
    public func play() -> CityOutcome {
        mesh.run(for: plan.span)
        var delays: [Int: Interval] = [:]
        for (letter, at) in check.deliveries { delays[letter] = at - plan.letters[letter].at }
        return CityOutcome(
            means: means, letters: plan.letters.count, delays: delays, handed: 0, floods: 0, drops: relay.count,
            absorbed: 0, busiestHour: check.busiestHour, mostCarried: check.mostCarried,
            violations: check.violations)
    }

    // MARK: Coming and going

    private func box(of venue: Int) -> Int? { means.hasBoxes ? plan.phones + venue : nil }
    private func degree(_ node: Int) -> Int { links[node]?.count ?? 0 }

    private func arrive(_ phone: Int, at venue: Int) {
        guard venues[phone] == nil else { return }
        venues[phone] = venue
        let open = members[venue].filter { degree($0) < CityLimits.phoneLinks }.shuffled(using: &random)
        members[venue].append(phone)
        for other in open.prefix(CityLimits.linksOnArrival) { join(phone, other) }
        if let box = box(of: venue), degree(box) < CityLimits.boxLinks { join(phone, box) }
    }

    private func depart(_ phone: Int) {
        guard let venue = venues.removeValue(forKey: phone) else { return }
        members[venue].removeAll { $0 == phone }
        let left = links[phone] ?? []
        for (other, link) in left {
            links[other]?.removeAll { $0.other == phone }
            mesh.disconnect(link)
        }
        links[phone] = nil
        for (other, _) in left where other < plan.phones && degree(other) < CityLimits.linksOnArrival {
            let known = links[other]?.map(\.other) ?? []
            let open = members[venue].filter {
                $0 != other && degree($0) < CityLimits.phoneLinks && !known.contains($0)
            }
            if let next = open.randomElement(using: &random) { join(other, next) }
        }
    }

    private func join(_ a: Int, _ b: Int) {
        let ends = mesh.connect(a, b)
        links[a, default: []].append((b, ends.a))
        links[b, default: []].append((a, ends.b))
    }

    private func fillBox(of venue: Int) {
        guard let box = box(of: venue) else { return }
        let known = links[box]?.map(\.other) ?? []
        let free = members[venue].filter { !known.contains($0) }
        if degree(box) < CityLimits.boxLinks, let next = free.randomElement(using: &random) { join(next, box) }
        mesh.schedule(after: CityLimits.announceInterval) { [self] _ in fillBox(of: venue) }
    }

    // MARK: Letters

    private func write(_ number: Int, _ letter: CityPlan.Letter) {
        mesh.call(letter.from) { _, now in
            _ = try? stations[letter.from].messenger?.say(
                City.text(of: number), to: mesh.nodes[letter.to].identity.peerID, at: now)
        }
    }

    func shown(_ text: String, at node: Int) {
        guard let number = City.letter(of: text), plan.letters.indices.contains(number) else { return }
        check.shown(number, to: node, addressee: plan.letters[number].to, at: mesh.elapsed)
    }

    func kept(_ mail: CarriedEnvelope, at node: Int) { check.kept(mail, at: node) }
    func forgot(_ id: MailID, at node: Int) { check.forgot(id, at: node) }
    func flooded(_ envelope: CourierEnvelope, by node: Int) {
        check.flooded(envelope.ciphertext.count, by: node, at: mesh.elapsed)
    }

    // MARK: Relays

    private func isOnline(_ box: Int) -> Bool { outages[box, default: 0] == 0 }

    private func outage(of box: Int?, begins: Bool) {
        for number in box.map({ [plan.phones + $0] }) ?? Array(plan.phones..<stations.count) {
            let wasOnline = isOnline(number)
            outages[number, default: 0] += begins ? 1 : -1
            guard isOnline(number) != wasOnline else { continue }
            if wasOnline { relay.disconnect(number) }
            mesh.call(number) { stations[number].courier?.relayConnectivityChanged(!wasOnline, at: $1) }
        }
    }

    func publish(_ event: VerifiedEvent, _ attempt: DropAttempt, from node: Int) {
        let wasOnline = isOnline(node)
        let answer = wasOnline ? CityLimits.relayAnswer : CityLimits.relayTimeout
        mesh.schedule(after: answer) { [self] mesh in
            let isTaken = wasOnline && isOnline(node)
            if isTaken { for box in relay.take(event) { tell(event, to: box) } }
            mesh.call(node) { stations[node].courier?.published(attempt, isConfirmed: isTaken, at: $1) }
        }
    }

    func subscribe(_ node: Int, _ id: String, _ filter: NostrFilter) {
        guard isOnline(node) else { return }
        let found = relay.subscribe(node, id, filter)
        for event in found { tell(event, to: node) }
        let extent = StoredExtent(of: found.map(\.event.createdAt), limit: filter.limit)
        mesh.schedule(after: CityLimits.relayAnswer + CityLimits.relayAnswer) { [self] mesh in
            mesh.call(node) { stations[node].courier?.loaded(id, extent, at: $1) }
        }
    }

    func unsubscribe(_ node: Int, _ id: String) { relay.unsubscribe(node, id) }

    private func tell(_ event: VerifiedEvent, to box: Int) {
        mesh.schedule(after: CityLimits.relayAnswer) { [self] mesh in
            guard isOnline(box) else { return }
            mesh.call(box) { stations[box].courier?.relayEvent(event, at: $1) }
        }
    }
}

import Basics
import Crypto
import Gateway
import Messenger
import Nostr
import Wire

/// A city of phones that write to each other for a day, with the engines that decide about mail as they are, and a
/// coarse picture of everything below them: who hears whom is known by venue and link, and a letter sent arrives whole
/// or not at all. A day of two thousand phones takes a minute where packets would take weeks.
public final class City {
    public let plan: CityPlan
    public let means: CityMeans
    var check = CityCheck()
    var relay = CityRelay()
    var tally = CityTally()
    var random: SeededRandom
    private(set) var now = City.start
    private(set) var nodes: [CityNode] = []
    private var indexes: [PeerID: Int] = [:]
    /// Phones there, in order of arrival.
    private var members: [[Int]]
    private var outages: [Int: Int] = [:]
    private var events = EventHeap<Event>()

    static let start = Now(
        monotonic: Instant(nanoseconds: 1_000_000_000_000), wall: WallTime(milliseconds: 1_782_864_000_000))

    enum Event {
        case arrive(CityPlan.Visit)
        case depart(CityPlan.Visit)
        case write(Int)
        case announce(venue: Int, round: Int)
        case outage(box: Int?, begins: Bool)
        case wake(Int)
        case then(() -> Void)
    }

    public init(_ plan: CityPlan, means: CityMeans, seed: UInt64) {
        self.plan = plan
        self.means = means
        random = SeededRandom(seed: seed ^ 0xc1_7e)
        members = Array(repeating: [], count: plan.venues)
        populate(seed: seed)
        for visit in plan.visits {
            after(visit.from, .arrive(visit))
            after(visit.to, .depart(visit))
        }
        for letter in plan.letters.indices { after(plan.letters[letter].at, .write(letter)) }
        for outage in plan.outages where means.hasBoxes {
            after(outage.from, .outage(box: outage.box, begins: true))
            after(outage.to, .outage(box: outage.box, begins: false))
        }
        for venue in 0..<plan.venues {
            after(random.interval(.zero, CityLimits.announceInterval), .announce(venue: venue, round: 0))
        }
    }

    var elapsed: Interval { now.monotonic - City.start.monotonic }

    // MARK: Who there is

    private func populate(seed: UInt64) {
        var keys = SeededRandom(seed: seed ^ 0x6e_75)
        let boxes = means.hasBoxes ? plan.venues : 0
        let identities = (0..<plan.phones + boxes).map { _ in NodeIdentity.generate(using: &keys) }
        var friends: [Int: Set<Int>] = [:]
        for letter in plan.letters {
            friends[letter.from, default: []].insert(letter.to)
            friends[letter.to, default: []].insert(letter.from)
        }
        for (number, identity) in identities.enumerated() {
            let isBox = number >= plan.phones
            // Whoever writes to somebody is a favourite of theirs, and the other way round.
            let records = (friends[number] ?? []).sorted().map { friend in
                var record = TrustRecord(noiseKey: identities[friend].noise.publicKey, nickname: String(friend))
                record.isFavorite = true
                record.favorsUs = true
                return record
            }
            let own = SeededRandom(seed: seed ^ UInt64(number) << 20)
            let node = CityNode(
                number: number, identity: identity,
                messenger: isBox
                    ? nil
                    : Messenger(
                        identity: identity, trust: records, desk: MailDesk(identity: identity, random: own),
                        random: own),
                courier: City.courier(of: identity, isBox: isBox, trust: records, means: means, random: own),
                capabilities: isBox ? [.gateway, .bridge] : [.prekeys, .groups, .vouch])
            nodes.append(node)
            indexes[identity.peerID] = number
            if let courier = node.courier { check.expect(courier.quota, of: number) }
            if isBox { node.venue = number - plan.phones }
            call(number) { node in
                node.courier?.setClock(isUsable: true, isTrusted: true, at: now)
                node.courier?.start(at: now)
                if isBox { node.courier?.relayConnectivityChanged(true, at: now) }
            }
        }
    }

    static func courier(
        of identity: NodeIdentity, isBox: Bool, trust: [TrustRecord], means: CityMeans, random: SeededRandom
    ) -> Courier? {
        guard isBox || means.phonesCarry else { return nil }
        let isGateway = isBox && means == .gateways
        return Courier(
            configuration: CourierConfiguration(
                own: identity.noise.publicKey, trusted: isBox ? [] : Set(trust.map(\.fingerprint)),
                quota: isGateway ? CourierLimits.gateway : CourierLimits.phone, usesRelays: isBox,
                policy: isGateway ? .gateway : .phone),
            random: random)
    }

    func index(of peer: PeerID) -> Int? { indexes[peer] }
    func box(of venue: Int) -> Int? { means.hasBoxes ? plan.phones + venue : nil }
    func isOnline(_ box: Int) -> Bool { outages[box, default: 0] == 0 }
    func areTogether(_ a: Int, _ b: Int) -> Bool { nodes[a].venue != nil && nodes[a].venue == nodes[b].venue }

    // MARK: Time

    private func after(_ span: Interval, _ event: Event) { events.add(event, due: City.start.monotonic + span) }

    func later(_ span: Interval, _ action: @escaping () -> Void) {
        events.add(.then(action), due: now.monotonic + span)
    }

    /// Plays on to this moment of the day.
    public func run(until span: Interval) {
        let end = City.start.monotonic + span
        while let due = events.nextDue, due <= end, let event = events.takeFirst() {
            now = City.start.advanced(by: max(now.monotonic, due) - City.start.monotonic)
            happen(event)
        }
        now = City.start.advanced(by: span)
    }

    private func happen(_ event: Event) {
        switch event {
        case .arrive(let visit): arrive(visit.phone, at: visit.venue)
        case .depart(let visit): depart(visit.phone)
        case .write(let letter): write(letter)
        case .announce(let venue, let round): announce(in: venue, round: round)
        case .outage(let box, let begins): outage(of: box, begins)
        case .then(let action): action()
        case .wake(let node):
            nodes[node].armed = nil
            call(node) { node in
                if let due = node.courier?.nextDeadline, due <= now.monotonic { node.courier?.timeout(at: now) }
                if let due = node.messenger?.nextDeadline, due <= now.monotonic { node.messenger?.timeout(at: now) }
            }
        }
    }

    /// Gives a node an input and carries out what follows.
    func call(_ number: Int, _ input: (CityNode) -> Void) {
        let node = nodes[number]
        input(node)
        carryOutEffects(of: node)
        guard let next = node.nextDeadline else { return }
        let due = max(next, now.monotonic + .milliseconds(1))
        guard node.armed.map({ due < $0 }) ?? true else { return }
        node.armed = due
        events.add(.wake(number), due: due)
    }

    // MARK: Letters

    private func write(_ number: Int) {
        let letter = plan.letters[number]
        call(letter.from) { node in
            do {
                try node.messenger?.say(City.text(of: number), to: nodes[letter.to].peer, at: now)
            } catch {
                tally.unwritten += 1
            }
        }
    }

    private static let greeting = "letter "
    static func text(of letter: Int) -> String { greeting + String(letter) }

    static func letter(of text: String) -> Int? {
        text.hasPrefix(greeting) ? Int(text.dropFirst(greeting.count)) : nil
    }

    func shown(_ text: String, at node: Int) {
        guard let number = City.letter(of: text), plan.letters.indices.contains(number) else { return }
        check.shown(number, to: node, addressee: plan.letters[number].to, at: elapsed)
    }

    // MARK: Coming and going

    private func arrive(_ phone: Int, at venue: Int) {
        guard nodes[phone].venue == nil else { return }
        nodes[phone].venue = venue
        let others = members[venue]
        members[venue].append(phone)
        for other in others {
            call(phone) { $0.messenger?.met(nodes[other].acquaintance(isConnected: false), at: now) }
            call(other) { $0.messenger?.met(nodes[phone].acquaintance(isConnected: false), at: now) }
        }
        let open = others.filter { nodes[$0].neighbours.count < CityLimits.phoneLinks }.shuffled(using: &random)
        for other in open.prefix(CityLimits.linksOnArrival) { link(phone, other) }
        if let box = box(of: venue) {
            call(phone) { $0.messenger?.met(nodes[box].acquaintance(isConnected: false), at: now) }
            if nodes[box].neighbours.count < CityLimits.boxLinks { link(phone, box) }
        }
    }

    private func depart(_ phone: Int) {
        guard let venue = nodes[phone].venue else { return }
        nodes[phone].venue = nil
        members[venue].removeAll { $0 == phone }
        let left = nodes[phone].neighbours
        for other in left { unlink(phone, other) }
        for other in members[venue] + (box(of: venue).map { [$0] } ?? []) {
            part(phone, other)
            part(other, phone)
        }
        // Whoever lost a neighbour looks for another.
        for other in left where !nodes[other].isBox && nodes[other].neighbours.count < CityLimits.linksOnArrival {
            let open = members[venue].filter {
                $0 != other && nodes[$0].neighbours.count < CityLimits.phoneLinks
                    && !nodes[other].neighbours.contains($0)
            }
            if let next = open.randomElement(using: &random) { link(other, next) }
        }
    }

    private func part(_ node: Int, _ other: Int) {
        let hadSession = nodes[node].sessions.remove(other) != nil
        call(node) { node in
            node.messenger?.lost(nodes[other].peer)
            if hadSession { node.messenger?.sessionLost(with: nodes[other].peer, at: now) }
        }
    }

    func link(_ a: Int, _ b: Int) {
        guard areTogether(a, b), !nodes[a].neighbours.contains(b) else { return }
        nodes[a].neighbours.append(b)
        nodes[b].neighbours.append(a)
        for (node, other) in [(a, b), (b, a)] {
            call(node) { $0.messenger?.met(nodes[other].acquaintance(isConnected: true), at: now) }
            hear(node, other)
        }
    }

    func unlink(_ a: Int, _ b: Int) {
        for (node, other) in [(a, b), (b, a)] {
            nodes[node].neighbours.removeAll { $0 == other }
            nodes[node].proven.remove(other)
            call(node) { $0.messenger?.disconnected(nodes[other].peer) }
        }
    }

    // MARK: Announces

    private func announce(in venue: Int, round: Int) {
        let box = box(of: venue)
        let there = members[venue]
        for node in there {
            for other in nodes[node].neighbours { hear(node, other) }
            if let box, !nodes[box].neighbours.contains(node) { hear(box, node) }
        }
        if let box {
            for other in nodes[box].neighbours { hear(box, other) }
            let free = there.filter { !nodes[box].neighbours.contains($0) }
            if nodes[box].neighbours.count < CityLimits.boxLinks, let next = free.randomElement(using: &random) {
                link(next, box)
            }
        }
        if round % CityLimits.relayedEvery == 0, means.phonesCarry {
            for node in there {
                for other in there where other != node && !nodes[node].neighbours.contains(other) { hear(node, other) }
            }
        }
        events.add(
            .announce(venue: venue, round: round + 1), due: now.monotonic + CityLimits.announceInterval)
    }

    /// `node` hears an announce of `other`.
    func hear(_ node: Int, _ other: Int) {
        let standing: AnnounceStanding =
            nodes[node].proven.contains(other)
            ? .proven : nodes[node].neighbours.contains(other) ? .direct : .relayed
        call(node) { node in
            node.courier?.met(nodes[other].peer, nodes[other].key, standing, at: now)
        }
    }

    /// The two shake hands, over their link where they have one.
    func shakeHands(_ a: Int, _ b: Int) {
        later(CityLimits.handshake) { [self] in
            guard areTogether(a, b) else {
                call(a) { $0.messenger?.sessionLost(with: nodes[b].peer, at: now) }
                return
            }
            for (node, other) in [(a, b), (b, a)] {
                nodes[node].sessions.insert(other)
                if nodes[node].neighbours.contains(other) { nodes[node].proven.insert(other) }
                call(node) {
                    $0.messenger?.sessionEstablished(
                        with: nodes[other].peer, fingerprint: nodes[other].identity.fingerprint, at: now)
                }
                // A handshake is followed by an announce (chapter 02 §4.10).
                hear(node, other)
            }
        }
    }

    // MARK: Relays

    private func outage(of box: Int?, _ begins: Bool) {
        let cut = box.map { [plan.phones + $0] } ?? Array(plan.phones..<nodes.count)
        for number in cut where nodes.indices.contains(number) {
            let before = isOnline(number)
            outages[number, default: 0] += begins ? 1 : -1
            guard isOnline(number) != before else { continue }
            if before { relay.disconnect(number) }
            call(number) { $0.courier?.relayConnectivityChanged(!before, at: now) }
        }
    }
}

import Basics
import Wire

/// A hall with people who stand and walk, and whose phones hold links to phones near by.
///
/// The radio is as coarse as it can be while the mesh above sees what it sees in a hall: links come up between random
/// near phones within the link budgets, last while the two are near, and end when somebody walks off.
public final class Hall {
    public struct Radio: Sendable {
        /// Metres at which a link can be opened, and at which an open one ends.
        public var reach = 20.0
        public var hold = 25.0
        /// Links a phone opens itself, and links in all: fewer than it may (chapter 03 A5), since in a crowd the air is
        /// full.
        public var outgoing = 3
        public var total = 5
        /// Probability at each pulse that a phone with a free slot opens a link.
        public var eagerness = 0.4
        /// Probability that a pair which is linked already forms a link the other way as well (chapter 03 A6).
        public var doubling = 0.1
        public var conditions = SimulatedMesh.Conditions(delay: 8...40, loss: 0.002, bytesPerSecond: 20_000)

        public init() {}
    }

    private struct Person {
        let node: Int
        var place: Place
        var goal: Place
        /// Stands at the goal until then.
        var rests: Instant
        let walks: Bool
        /// Links in all.
        let total: Int
    }

    /// A phone that is no node, standing somewhere, with links it opened.
    private struct Stranger {
        let phone: any Outsider
        let place: Place
        var links: [LinkID: Int] = [:]
    }

    /// Links are looked after, and walkers moved, so often.
    static let pulse = Interval.seconds(2)
    /// Metres a pulse: an amble.
    static let stride = 1.6

    let width: Double
    let depth: Double
    public let radio: Radio
    private var people: [Person] = []
    private var strangers: [Stranger] = []
    private var random: SeededRandom
    private var links: [LinkID: (a: Int, b: Int)] = [:]
    private var open: [Int: (outgoing: Int, total: Int)] = [:]

    /// - Parameters:
    ///   - width: metres.
    ///   - depth: metres.
    public init(width: Double, depth: Double, radio: Radio = Radio(), seed: UInt64) {
        self.width = width
        self.depth = depth
        self.radio = radio
        random = SeededRandom(seed: seed)
    }

    public func open(_ mesh: SimulatedMesh) {
        mesh.observers.append(self)
        beat(mesh)
    }

    private func beat(_ mesh: SimulatedMesh) {
        pulse(mesh)
        mesh.schedule(after: Hall.pulse) { [weak self] in self?.beat($0) }
    }

    /// - Parameters:
    ///   - place: at the door, a random one, when nil.
    ///   - total: links in all, if not what phones have.
    public func enter(
        _ node: Int, at place: Place? = nil, walks: Bool = true, total: Int? = nil, in mesh: SimulatedMesh
    ) {
        let place = place ?? Place(x: 0, y: Double.random(in: 0...depth, using: &random))
        people.append(
            Person(
                node: node, place: place, goal: walks ? somewhere() : place, rests: .zero, walks: walks,
                total: total ?? radio.total))
    }

    /// An outsider stands in the hall from now on and links up with phones near by.
    public func admit(_ phone: any Outsider, at place: Place) {
        strangers.append(Stranger(phone: phone, place: place))
    }

    public func leave(_ node: Int) { people.removeAll { $0.node == node } }

    public var count: Int { people.count }

    public func place(of node: Int) -> Place? { people.first { $0.node == node }?.place }

    private func somewhere() -> Place {
        Place(x: Double.random(in: 0...width, using: &random), y: Double.random(in: 0...depth, using: &random))
    }

    // MARK: A pulse

    private func pulse(_ mesh: SimulatedMesh) {
        for index in people.indices where people[index].walks { move(&people[index], at: mesh.now.monotonic) }
        endFarLinks(mesh)
        for person in people.shuffled(using: &random) { seek(person, mesh) }
        for index in strangers.indices { seek(strangerAt: index, mesh) }
    }

    private func move(_ person: inout Person, at now: Instant) {
        guard now >= person.rests else { return }
        let rest = person.place.distance(to: person.goal)
        guard rest > Hall.stride else {
            person.place = person.goal
            person.goal = somewhere()
            person.rests = now + random.interval(.minutes(1), .minutes(8))
            return
        }
        person.place.x += (person.goal.x - person.place.x) * Hall.stride / rest
        person.place.y += (person.goal.y - person.place.y) * Hall.stride / rest
    }

    private func endFarLinks(_ mesh: SimulatedMesh) {
        let places = Dictionary(people.map { ($0.node, $0.place) }, uniquingKeysWith: { first, _ in first })
        for (link, ends) in links.sorted(by: { $0.key < $1.key }) where ends.a >= 0 {
            guard let a = places[ends.a], let b = places[ends.b], a.distance(to: b) <= radio.hold else {
                mesh.disconnect(link)
                continue
            }
        }
    }

    private func seek(_ person: Person, _ mesh: SimulatedMesh) {
        let slots = open[person.node] ?? (0, 0)
        guard slots.outgoing < radio.outgoing, slots.total < person.total,
            Double.random(in: 0..<1, using: &random) < radio.eagerness
        else { return }
        var best: (score: Double, node: Int)?
        for other in people where other.node != person.node {
            let distance = person.place.distance(to: other.place)
            guard distance <= radio.reach, open[other.node]?.total ?? 0 < other.total else { continue }
            // Signal strength, with fading.
            let score = distance * Double.random(in: 0.5...1.5, using: &random)
            if best.map({ score < $0.score }) ?? true { best = (score, other.node) }
        }
        guard let other = best?.node else { return }
        let existing = links.values.filter {
            ($0.a == person.node && $0.b == other) || ($0.b == person.node && $0.a == other)
        }
        if let link = existing.first {
            guard existing.count == 1, link.b == person.node, Double.random(in: 0..<1, using: &random) < radio.doubling
            else { return }
        }
        mesh.connect(person.node, other, radio.conditions)
    }
}

extension Hall {
    private func seek(strangerAt index: Int, _ mesh: SimulatedMesh) {
        let place = strangers[index].place
        for (link, node) in strangers[index].links.sorted(by: { $0.key < $1.key }) {
            let isThere = mesh.neighbour(on: link) != nil
            if isThere, let other = self.place(of: node), place.distance(to: other) <= radio.hold { continue }
            strangers[index].links[link] = nil
            if isThere { mesh.disconnect(link) }
        }
        let linked = Set(strangers[index].links.values)
        guard linked.count < radio.outgoing, Double.random(in: 0..<1, using: &random) < radio.eagerness else { return }
        let near = people.filter {
            !linked.contains($0.node) && place.distance(to: $0.place) <= radio.reach
                && open[$0.node]?.total ?? 0 < $0.total
        }
        guard let other = near.randomElement(using: &random)?.node else { return }
        let link = mesh.connect(strangers[index].phone, to: other, radio.conditions)
        strangers[index].links[link] = other
    }
}

extension Hall: SimulationObserver {
    public var watchesAir: Bool { false }

    public func linkUp(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {
        links[link] = (a, b)
        if a >= 0 {
            open[a, default: (0, 0)].outgoing += 1
            open[a, default: (0, 0)].total += 1
        }
        open[b, default: (0, 0)].total += 1
    }

    public func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {
        guard links.removeValue(forKey: link) != nil else { return }
        if a >= 0 {
            open[a, default: (0, 0)].outgoing -= 1
            open[a, default: (0, 0)].total -= 1
        }
        open[b, default: (0, 0)].total -= 1
    }
}

import Basics
import Nostr

/// A Nostr relay in virtual time. It checks what it is given and passes it on to whoever asked, some of it twice, out
/// of order or with a forged twin ahead of it. It goes down and comes back without a memory.
public final class SimulatedRelay {
    public struct Habits: Sendable {
        /// Milliseconds one way. What a relay sends is not kept in order: it is what several relays send that meets.
        public var latency: ClosedRange<Int64> = 20...250
        /// Probability that a subscriber gets an event once more, some seconds later.
        public var repetition = 0.1
        /// Probability that an altered copy of an event goes ahead of it.
        public var forgery = 0.02
        /// How long ephemeral events are kept for those who ask later: not at all, as NIP-01 has it, or for some
        /// minutes.
        public var memory = Interval.zero

        public init() {}
    }

    /// One client's socket.
    private final class Session {
        let socket: NostrSocketID
        let client: any SimulatedRelayClient
        var requests: [String: [NostrFilter]] = [:]
        /// When the last message of the client arrives: none overtakes another.
        var arrived: Instant
        var isOpen = true

        init(_ socket: NostrSocketID, _ client: any SimulatedRelayClient, at now: Instant) {
            self.socket = socket
            self.client = client
            arrived = now
        }
    }

    public let url: NostrRelayURL
    public let habits: Habits
    public private(set) var isUp = true
    public private(set) var accepted = 0
    public private(set) var refused = 0
    public private(set) var outages = 0
    /// Called for every event taken in for the first time.
    var onAccepted: ((VerifiedEvent, SimulatedRelay, SimulatedMesh) -> Void)?
    private var sessions: [Session] = []
    private var known = BoundedSet<EventID>(capacity: 4_096)
    private var kept: [(event: VerifiedEvent, at: Instant)] = []
    private var random: SeededRandom

    public init(_ url: NostrRelayURL, _ habits: Habits = Habits(), seed: UInt64) {
        self.url = url
        self.habits = habits
        random = SeededRandom(seed: seed)
    }

    // MARK: Up and down

    public func goDown(_ mesh: SimulatedMesh) {
        guard isUp else { return }
        isUp = false
        outages += 1
        let lost = sessions
        sessions.removeAll()
        known.removeAll()
        kept.removeAll()
        for session in lost {
            session.isOpen = false
            after(latency(), mesh) { session.client.closed(session.socket, .closedByRelay, $0) }
        }
    }

    public func comeUp() { isUp = true }

    // MARK: Sockets

    func dial(_ socket: NostrSocketID, by client: any SimulatedRelayClient, _ mesh: SimulatedMesh) {
        // TCP, TLS and the upgrade take some turns.
        after(latency() + latency() + latency(), mesh) { [self] mesh in
            guard isUp else { return client.closed(socket, .unreachable, mesh) }
            sessions.append(Session(socket, client, at: mesh.now.monotonic))
            client.opened(socket, mesh)
        }
    }

    func hangUp(_ socket: NostrSocketID) {
        for session in sessions where session.socket == socket { session.isOpen = false }
        sessions.removeAll { $0.socket == socket }
    }

    func send(_ message: [UInt8], on socket: NostrSocketID, _ mesh: SimulatedMesh) {
        guard let session = sessions.first(where: { $0.socket == socket }) else { return }
        session.arrived = max(session.arrived, mesh.now.monotonic + latency())
        after(session.arrived - mesh.now.monotonic, mesh) { [self] mesh in
            if session.isOpen { receive(message, session, mesh) }
        }
    }

    /// Whether this client is sent events that match.
    func serves(_ client: any SimulatedRelayClient, _ event: NostrEvent) -> Bool {
        sessions.contains { $0.client === client && $0.isOpen && !requests(of: $0, matching: event).isEmpty }
    }

    private func requests(of session: Session, matching event: NostrEvent) -> [String] {
        session.requests.filter { $0.value.contains { $0.matches(event) } }.keys.sorted()
    }

    // MARK: Messages

    private func receive(_ message: [UInt8], _ session: Session, _ mesh: SimulatedMesh) {
        switch ClientMessage(message) {
        case .event(let event): take(event, session, mesh)
        case .request(let id, let filters):
            session.requests[id] = filters
            kept.removeAll { mesh.now.monotonic - $0.at > habits.memory }
            for (event, _) in kept where filters.contains(where: { $0.matches(event.event) }) {
                tell(event, id, session, mesh)
            }
            answer("[\"EOSE\",\"\(id)\"]", session, mesh)
        case .close(let id): session.requests[id] = nil
        case nil: mesh.report("relay", "a client said what no relay understands")
        }
    }

    private func take(_ event: NostrEvent, _ session: Session, _ mesh: SimulatedMesh) {
        func reply(_ isAccepted: Bool, _ words: String) {
            if !isAccepted { refused += 1 }
            answer("[\"OK\",\"\(event.id)\",\(isAccepted),\"\(words)\"]", session, mesh)
        }
        guard let verified = VerifiedEvent(verifying: event) else { return reply(false, "invalid: bad signature") }
        guard !known.contains(verified.id) else { return reply(true, "duplicate: have this event") }
        guard mesh.now.wall.unixSeconds - event.createdAt <= SimulatedRelay.ephemeralAge else {
            return reply(false, "invalid: ephemeral event expired")
        }
        known.insert(verified.id)
        accepted += 1
        reply(true, "")
        onAccepted?(verified, self, mesh)
        if habits.memory > .zero { kept.append((verified, mesh.now.monotonic)) }
        for session in sessions {
            for id in requests(of: session, matching: event) { tell(verified, id, session, mesh) }
        }
    }

    private func tell(_ event: VerifiedEvent, _ id: String, _ session: Session, _ mesh: SimulatedMesh) {
        if Double.random(in: 0..<1, using: &random) < habits.forgery {
            var forged = event.event
            forged.content += "!"
            answer(SimulatedRelay.message(forged, id), session, mesh)
        }
        answer(SimulatedRelay.message(event.event, id), session, mesh)
        if Double.random(in: 0..<1, using: &random) < habits.repetition {
            after(random.interval(.zero, .seconds(20)), mesh) { [self] in
                answer(SimulatedRelay.message(event.event, id), session, $0)
            }
        }
    }

    private static func message(_ event: NostrEvent, _ id: String) -> String {
        "[\"EVENT\",\"\(id)\",\(String(decoding: event.json(), as: UTF8.self))]"
    }

    private func answer(_ text: String, _ session: Session, _ mesh: SimulatedMesh) {
        after(latency(), mesh) { if session.isOpen { session.client.received(Array(text.utf8), session.socket, $0) } }
    }

    private func latency() -> Interval {
        .milliseconds(Int(Int64.random(in: habits.latency, using: &random)))
    }

    private func after(_ delay: Interval, _ mesh: SimulatedMesh, _ action: @escaping (SimulatedMesh) -> Void) {
        mesh.schedule(after: delay, action)
    }

    /// As strfry has it: older ephemeral events are refused.
    private static let ephemeralAge: Int64 = 60
}

/// Whoever dials a simulated relay.
protocol SimulatedRelayClient: AnyObject {
    func opened(_ socket: NostrSocketID, _ mesh: SimulatedMesh)
    func received(_ message: [UInt8], _ socket: NostrSocketID, _ mesh: SimulatedMesh)
    func closed(_ socket: NostrSocketID, _ failure: RelayFailure, _ mesh: SimulatedMesh)
}

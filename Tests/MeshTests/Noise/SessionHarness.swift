import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Hands out given key bytes first, so that a known ephemeral comes out, and seeded ones afterwards.
struct ScriptedRandom: RandomNumberGenerator {
    private var script: [UInt8]
    private var rest: SeededRandom

    init(_ script: [UInt8] = [], seed: UInt64 = 1) {
        self.script = script
        rest = SeededRandom(seed: seed)
    }

    mutating func next() -> UInt64 {
        guard script.count >= 8 else { return rest.next() }
        defer { script.removeFirst(8) }
        return script.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// One party's session manager, driven by hand in time of its own.
final class SessionParty {
    let identity: NoiseStaticKey
    var manager: SessionManager
    var now = Instant.zero + .hours(1)
    var random: ScriptedRandom
    var reachable: (PeerID) -> Bool
    var neighbours: Set<PeerID> = []
    private(set) var sent: [[UInt8]] = []
    private(set) var events: [SessionManager.Outcome] = []

    init(_ identity: NoiseStaticKey, seed: UInt64 = 1, isReachable: Bool = true) {
        self.identity = identity
        manager = SessionManager(identity)
        random = ScriptedRandom(seed: seed)
        reachable = { _ in isReachable }
    }

    convenience init(seed: UInt64, isReachable: Bool = true) {
        var random = SeededRandom(seed: seed)
        self.init(.generate(using: &random), seed: random.next(), isReachable: isReachable)
    }

    var id: PeerID { identity.publicKey.peerID }
    private var surroundings: SessionManager.Surroundings {
        SessionManager.Surroundings(isReachable: reachable, isNeighbour: { self.neighbours.contains($0) })
    }

    /// - Returns: the handshake messages sent by this call.
    @discardableResult
    func call(_ action: (inout SessionManager, SessionManager.Surroundings) -> Void) -> [[UInt8]] {
        action(&manager, surroundings)
        var messages: [[UInt8]] = []
        for outcome in manager.takeOutcomes() {
            if case .send(let message) = outcome.what { messages.append(message) } else { events.append(outcome) }
        }
        sent += messages
        return messages
    }

    @discardableResult
    func start(with peer: PeerID) -> [UInt8]? {
        call { $0.start(with: peer, $1, at: now, using: &random) }.first
    }

    private(set) var reception = HandshakeReception.ignored

    @discardableResult
    func receive(
        _ message: [UInt8], from peer: PeerID, on link: UInt64 = 1, _ origin: HandshakeRates.Origin = .likely
    ) -> [UInt8]? {
        call {
            reception = $0.receive(
                message, from: peer, on: LinkID(value: link), origin, $1, at: now, using: &random)
        }.first
    }

    /// Time passes, and what falls due happens; handshake messages sent meanwhile.
    @discardableResult
    func advance(by span: Interval) -> [[UInt8]] {
        let end = now + span
        var messages: [[UInt8]] = []
        while let due = manager.nextDeadline, due <= end {
            now = max(now, due)
            messages += call { $0.timeout($1, at: now, using: &random) }
        }
        now = end
        return messages
    }

    func isEstablished(with peer: PeerID) -> Bool { manager.isEstablished(with: peer) }

    func encrypt(_ plaintext: [UInt8], to peer: PeerID) -> [UInt8]? { manager.encrypt(plaintext, to: peer, at: now) }

    func decrypt(_ message: [UInt8], from peer: PeerID) -> [UInt8]? {
        if case .opened(let plaintext, _, _) = manager.decrypt(message, from: peer, at: now) { plaintext } else { nil }
    }

    var establishedCount: Int { events.count { if case .established = $0.what { true } else { false } } }
    var failures: [NoiseSessionFailure] {
        events.compactMap { if case .failed(let reason) = $0.what { reason } else { nil } }
    }

    /// A whole handshake, this party initiating.
    func shakeHands(with other: SessionParty) {
        guard let first = start(with: other.id), let second = other.receive(first, from: id),
            let third = receive(second, from: other.id)
        else { return XCTFail("a handshake message is missing") }
        other.receive(third, from: id)
        XCTAssertTrue(isEstablished(with: other.id) && other.isEstablished(with: id))
    }

    func assertTalks(to other: SessionParty, _ note: String = "", file: StaticString = #filePath, line: UInt = #line) {
        for (sender, receiver) in [(self, other), (other, self)] {
            let message = sender.encrypt([1, 2, 3], to: receiver.id)
            let plaintext = message.flatMap { receiver.decrypt($0, from: sender.id) }
            XCTAssertEqual(plaintext, [1, 2, 3], note, file: file, line: line)
        }
    }
}

extension SessionParty {
    /// Two parties, the one with the smaller ID first.
    static func pair(seed: UInt64 = 7) -> (low: SessionParty, high: SessionParty) {
        let (a, b) = (SessionParty(seed: seed), SessionParty(seed: seed &+ 1_000))
        return a.id < b.id ? (a, b) : (b, a)
    }
}

import Basics
import Crypto
import Wire

/// A phone that fills its link with packets of people who do not exist: every header field, keys and signatures
/// included, is of its own making, so nothing but the link tells that one sender is behind them.
final class FloodingPhone: Outsider {
    enum Tactic: String, CaseIterable {
        /// A bit of everything.
        case medley
        /// Long sealed messages to people who exist, which are always relayed.
        case mail
        /// A thousand people introduce themselves, again and again.
        case crowd
        /// Everybody has something to say to everybody.
        case shouting
    }

    private let identities: [NodeIdentity]
    private let targets: [PeerID]
    private let bytesPerSecond: Int
    private let tactic: Tactic
    private var random: SeededRandom
    private var link: LinkID?
    private(set) var frames = 0
    private(set) var bytes = 0
    /// Bytes it may write now.
    private var credit = 0.0

    /// Frames written at once.
    private static let batch = Interval.milliseconds(20)

    /// - Parameters:
    ///   - senders: how many people it makes up, each with keys.
    ///   - targets: who exists, for directed packets.
    init(_ tactic: Tactic, senders: Int, targets: [PeerID], bytesPerSecond: Int, seed: UInt64) {
        self.tactic = tactic
        random = SeededRandom(seed: seed)
        var random = random
        identities = (0..<max(1, senders)).map { _ in NodeIdentity.generate(using: &random) }
        self.random = random
        self.targets = targets
        self.bytesPerSecond = bytesPerSecond
    }

    /// It introduces itself, since a link to nobody is closed.
    func linkUp(_ link: LinkID, to node: Int, in mesh: SimulatedMesh) {
        self.link = link
        mesh.transmit(PacketForge.announce(of: identities[0], nickname: "deadbeef", at: mesh.now.wall), on: link)
    }
    func linkDown(_ link: LinkID, in mesh: SimulatedMesh) { self.link = nil }
    func received(_ frame: [UInt8], on link: LinkID, in mesh: SimulatedMesh) {}

    /// Floods for `span` from now.
    func begin(for span: Interval, in mesh: SimulatedMesh) {
        act(until: mesh.now.monotonic + span, mesh)
    }

    private func act(until end: Instant, _ mesh: SimulatedMesh) {
        guard mesh.now.monotonic < end else { return }
        credit += Double(bytesPerSecond) * FloodingPhone.batch.seconds
        while credit > 0, let link {
            let frame = self.frame(at: mesh.now.wall)
            frames += 1
            bytes += frame.count
            credit -= Double(max(1, frame.count))
            mesh.transmit(frame, on: link)
        }
        mesh.schedule(after: FloodingPhone.batch) { [weak self] in self?.act(until: end, $0) }
    }

    private func frame(at wall: WallTime) -> [UInt8] {
        let sender = identities[Int.random(in: identities.indices, using: &random)]
        let kind: Int
        switch tactic {
        case .medley: kind = Int.random(in: 0..<8, using: &random)
        case .mail: kind = Int.random(in: 4..<8, using: &random)
        case .crowd: kind = 0
        case .shouting: kind = Int.random(in: 1..<4, using: &random)
        }
        switch kind {
        // Genuine as far as anybody can tell.
        case 0: return PacketForge.announce(of: sender, nickname: "deadbeef", at: wall)
        case 1: return packet(.message, sender, signed: true, wall)
        case 2: return packet(.message, sender, signed: false, wall)
        case 3: return packet(MessageType(rawValue: UInt8.random(in: 0x40...0x7f, using: &random)), sender, wall)
        case 4: return packet(.courierEnvelope, sender, to: recipient, wall)
        case 5: return packet(.nostrCarrier, sender, to: recipient, signed: true, wall)
        case 6: return packet(.noiseHandshake, sender, to: recipient, wall)
        default: return packet(.noiseEncrypted, sender, to: recipient, wall)
        }
    }

    private var recipient: PeerID {
        let isReal = tactic == .mail || Bool.random(using: &random)
        return (isReal ? targets.randomElement(using: &random) : nil) ?? PeerID(value: random.next())
    }

    private func packet(
        _ type: MessageType, _ sender: NodeIdentity, to recipient: PeerID? = nil, signed: Bool = false, _ wall: WallTime
    ) -> [UInt8] {
        let payload = random.bytes(Int.random(in: tactic == .mail ? 330...370 : 40...370, using: &random))
        let packet = Packet(
            type: type, timestamp: wall, senderID: sender.peerID, recipientID: recipient, payload: payload)
        return PacketForge.bytes(packet, signedBy: signed ? sender : nil)
    }
}

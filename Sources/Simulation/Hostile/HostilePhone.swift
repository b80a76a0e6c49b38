import Basics
import Crypto
import Wire

/// A phone that means no good. It keeps its links by announcing itself like everybody else, and sends its neighbours
/// forged copies of what it hears ahead of the genuine ones, old packets as if they were new, and rubbish.
public final class HostilePhone: Outsider {
    private let identity: NodeIdentity
    private var random: SeededRandom
    private var links: [LinkID] = []
    /// Some of what it heard.
    private var heard: [[UInt8]] = []
    /// It forges one in so many frames.
    private let forging: Int

    private static let memory = 200
    private static let pause = (least: Interval.milliseconds(100), most: Interval.seconds(2))
    private static let announceInterval = Interval.seconds(20)

    /// - Parameter forging: passes on a forged copy of one in so many frames.
    public init(seed: UInt64, forging: Int = 4) {
        self.forging = max(1, forging)
        random = SeededRandom(seed: seed)
        identity = NodeIdentity.generate(using: &random)
    }

    /// From now on it acts, whenever it has links.
    public func begin(in mesh: SimulatedMesh) {
        announce(mesh)
        act(mesh)
    }

    public func linkUp(_ link: LinkID, to node: Int, in mesh: SimulatedMesh) {
        links.append(link)
        mesh.transmit(ownAnnounce(mesh), on: link)
    }

    public func linkDown(_ link: LinkID, in mesh: SimulatedMesh) { links.removeAll { $0 == link } }

    public func received(_ frame: [UInt8], on link: LinkID, in mesh: SimulatedMesh) {
        if heard.count < HostilePhone.memory {
            heard.append(frame)
        } else {
            heard[Int.random(in: heard.indices, using: &random)] = frame
        }
        guard Int.random(in: 0..<forging, using: &random) == 0, let forged = forgery(of: frame) else { return }
        for other in links where other != link { mesh.transmit(forged, on: other) }
    }

    /// A copy with the genuine one's identity and a signature that fails, or other content under the same signature.
    private func forgery(of bytes: [UInt8]) -> [UInt8]? {
        guard let layout = try? bytes.withUnsafeBytes({ FrameLayout.parse($0) }).get(), layout.hasSignature else {
            return nil
        }
        var forged = bytes
        let range =
            Bool.random(using: &random)
            ? layout.signatureOffset..<layout.length : layout.bodyOffset..<layout.signatureOffset
        guard let target = range.randomElement(using: &random) else { return nil }
        forged[target] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        return forged
    }

    private func act(_ mesh: SimulatedMesh) {
        if let link = links.randomElement(using: &random) { mesh.transmit(mischief(), on: link) }
        mesh.schedule(after: random.interval(HostilePhone.pause.least, HostilePhone.pause.most)) { [weak self] in
            self?.act($0)
        }
    }

    private func mischief() -> [UInt8] {
        guard var old = heard.randomElement(using: &random), Int.random(in: 0..<5, using: &random) > 0 else {
            return random.bytes(Int.random(in: 1...120, using: &random))
        }
        switch Int.random(in: 0..<4, using: &random) {
        // Fresh again, as far as the TTL tells, which nobody signs.
        case 0: old[2] = Packet.originTTL
        // An answer to a request that may or may not have been sent.
        case 1:
            old[2] = 0
            if old.count > 11 { old[11] |= PacketFlags.isSyncResponse.rawValue }
        case 2: old[Int.random(in: old.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        default: old[2] = UInt8.random(in: 0...255, using: &random)
        }
        return old
    }

    private func announce(_ mesh: SimulatedMesh) {
        let frame = ownAnnounce(mesh)
        for link in links { mesh.transmit(frame, on: link) }
        mesh.schedule(after: HostilePhone.announceInterval) { [weak self] in self?.announce($0) }
    }

    private func ownAnnounce(_ mesh: SimulatedMesh) -> [UInt8] {
        PacketForge.announce(of: identity, nickname: "mallory", at: mesh.now.wall)
    }
}

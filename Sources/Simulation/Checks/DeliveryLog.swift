import Basics
import Crypto
import Mesh
import Wire

/// Who said what and who heard it when. Nobody may hear what was not said, in other words than it was said, twice, or
/// without its author's signature.
public final class DeliveryLog: SimulationObserver {
    public struct Said {
        public let author: Int
        public let at: Instant
        public let message: PublicMessage
        /// A frame with it was seen whose signature verifies.
        var isProven = false
    }

    public struct Delivery {
        public let message: Int
        public let node: Int
        public let at: Instant
        /// Through gossip, not live.
        public let isReplay: Bool
    }

    public private(set) var said: [Said] = []
    public private(set) var deliveries: [Delivery] = []
    private var numbers: [String: Int] = [:]
    private var heard: [Int: BitSet] = [:]
    private var frames: Set<UInt64> = []
    private var digest = SHA256.Stream()
    /// For sabotage only: sees no signature any more.
    var isBlind = false

    public init() {}

    public func number(of message: PublicMessage) -> Int? { numbers[message.stableID] }

    /// What a node heard or said.
    func known(to node: Int) -> BitSet { heard[node] ?? BitSet() }

    /// Over all deliveries in their order, with their times: two runs with one digest went alike.
    public var fingerprint: String {
        var copy = digest
        return Hex.encode(copy.finish())
    }

    public func said(_ message: PublicMessage, by node: Int, in mesh: SimulatedMesh) {
        let number = said.count
        guard numbers.updateValue(number, forKey: message.stableID) == nil else {
            return mesh.report("delivery", node: node, "two messages have one ID")
        }
        said.append(Said(author: node, at: mesh.now.monotonic, message: message))
        heard[node, default: BitSet()].insert(number)
    }

    /// A node that died without a goodbye may hear again what it had not written to its archive yet (chapter 04 §10).
    public func added(node: Int, to mesh: SimulatedMesh) {
        guard heard[node] != nil else { return }
        let archive = mesh.nodes[node].archive
        for delivery in deliveries where delivery.node == node {
            let message = said[delivery.message].message
            let packet = Packet(
                type: .message, timestamp: message.timestamp, senderID: message.sender,
                payload: Array(message.text.utf8))
            if !archive.contains(packet.id) { heard[node]?.remove(delivery.message) }
        }
    }

    public func transmitted(_ transmission: SimulatedMesh.Transmission, in mesh: SimulatedMesh) {
        guard !isBlind, transmission.from >= 0, transmission.bytes[1] == MessageType.message.rawValue,
            frames.insert(transmission.hash).inserted,
            let frame = try? Frame(transmission.bytes), let packet = frame.packet(),
            let text = String(validating: packet.payload, as: UTF8.self)
        else { return }
        let id = StableMessageID.make(sender: packet.senderID, timestamp: packet.timestamp, content: text)
        guard let number = numbers[id] else { return }
        // Apart from the memory that the nodes share: this check trusts nobody.
        let key = mesh.nodes[said[number].author].identity.signing.publicKey
        if VerifiedFrame(verifying: frame, under: key) != nil { said[number].isProven = true }
    }

    public func happened(_ event: MeshEvent, at node: Int, in mesh: SimulatedMesh) {
        guard case .publicMessage(let message) = event else { return }
        guard let number = numbers[message.stableID] else {
            return mesh.report("delivery", node: node, "heard what nobody said")
        }
        let original = said[number].message
        guard message.sender == original.sender, message.text == original.text, message.timestamp == original.timestamp
        else { return mesh.report("delivery", node: node, "message \(number) was altered") }
        guard said[number].author != node else {
            return mesh.report("delivery", node: node, "heard its own message \(number)")
        }
        guard said[number].isProven || message.text.utf8.count > DeliveryLog.wholeFrame else {
            return mesh.report("signature", node: node, "heard message \(number) without a good signature")
        }
        guard heard[node, default: BitSet()].insert(number) else {
            return mesh.report("delivery", node: node, "heard message \(number) twice")
        }
        deliveries.append(
            Delivery(message: number, node: node, at: mesh.now.monotonic, isReplay: message.isReplay))
        digest.update(bigEndian: mesh.now.monotonic.nanoseconds)
        digest.update(bigEndian: node)
        digest.update(Array(message.stableID.utf8))
    }

    /// For sabotage only.
    func loseLastDelivery() {
        guard let last = deliveries.popLast() else { return }
        heard[last.node]?.remove(last.message)
    }

    /// Longer messages may travel in pieces, which the log does not put together.
    private static let wholeFrame = 300
}

import Basics
import Crypto

/// Work shown by an event's id (NIP-13, chapter 05 §11).
public enum ProofOfWork {
    /// Bits the iOS app commits to.
    public static let standardTarget = 8

    /// The work that counts: what the last `nonce` tag commits to, if the id has at least that many leading zero bits;
    /// otherwise 0. Zero bits beyond the commitment earn nothing.
    public static func difficulty(id: EventID?, tags: [[String]]) -> Int {
        guard let id, let nonce = tags.last(where: { $0.first.map { $0.hasSameBytes(as: "nonce") } ?? false }),
            nonce.count >= 3, let committed = Int(nonce[2]), (1...256).contains(committed),
            id.leadingZeroBits >= committed
        else { return 0 }
        return committed
    }
}

extension VerifiedEvent {
    /// Validated work in bits, 0–256.
    public var proofOfWork: Int { ProofOfWork.difficulty(id: id, tags: event.tags) }
}

/// Mines a nonce in slices, so that the loop that calls it never stalls (chapter 05 §11.1). When time runs out the
/// target is halved, down to 0, which always succeeds: mining never prevents sending.
public struct ProofOfWorkMiner {
    /// Time for the first target.
    public static let budget = Interval.seconds(2)
    /// Time for each lower one.
    public static let reducedBudget = Interval.milliseconds(150)
    /// Hashes a slice: about one millisecond on the slowest board.
    public static let hashesPerSlice = 256

    private static let nonceDigits = 16

    public private(set) var target: Int
    private var event: NostrEvent
    private let content: String
    private var nonce: UInt64
    private var deadline: Instant
    private var canonical: [UInt8] = []
    private var nonceOffset = 0

    /// - Parameters:
    ///   - target: leading zero bits to reach, clamped to 0–256.
    ///   - nonce: where counting begins; random, so that two miners of one message do not meet.
    public init(
        _ template: EventTemplate, author: NostrPublicKey, createdAt: Int64, target: Int = ProofOfWork.standardTarget,
        nonce: UInt64, at now: Instant
    ) {
        self.target = min(max(0, target), 256)
        self.nonce = nonce
        content = template.content
        deadline = now + ProofOfWorkMiner.budget
        event = NostrEvent(
            id: "", pubkey: author.hex, createdAt: createdAt, kind: template.kind, tags: template.tags + [[]],
            content: template.content, sig: nil)
        prepare()
    }

    /// Hashes one slice. Returns the event, unsigned, once its id shows the work; call again until then.
    public mutating func mine(at now: Instant, hashes: Int = ProofOfWorkMiner.hashesPerSlice) -> NostrEvent? {
        if now >= deadline, target > 0 {
            target /= 2
            deadline = now + ProofOfWorkMiner.reducedBudget
            prepare()
        }
        for _ in 0..<max(1, hashes) {
            writeNonce()
            let id = EventID(hashing: canonical)
            if id.leadingZeroBits >= target {
                event.tags[event.tags.count - 1] = nonceTag
                event.id = id.hex
                return event
            }
            nonce &+= 1
        }
        return nil
    }

    private var nonceTag: [String] {
        var bytes = [UInt8]()
        bytes.append(bigEndian: nonce)
        return ["nonce", Hex.encode(bytes), String(target)]
    }

    /// Lays the canonical form out and finds the nonce from its end: the same digits may stand in the text as well.
    private mutating func prepare() {
        event.tags[event.tags.count - 1] = nonceTag
        canonical = event.canonicalBytes
        var tail = JSONWriter()
        tail.raw("\",")
        tail.string(String(target))
        tail.raw("]],")
        tail.string(content)
        tail.raw("]")
        nonceOffset = canonical.count - tail.bytes.count - ProofOfWorkMiner.nonceDigits
    }

    private mutating func writeNonce() {
        for index in 0..<ProofOfWorkMiner.nonceDigits {
            let nibble = UInt8(truncatingIfNeeded: nonce >> (60 - 4 * UInt64(index))) & 15
            canonical[nonceOffset + index] = nibble < 10 ? 0x30 + nibble : 0x61 + nibble - 10
        }
    }
}

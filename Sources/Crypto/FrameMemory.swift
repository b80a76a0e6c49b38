import Wire

/// What follows from the bytes of a frame alone, for a process that plays many nodes: whether its signature fits a key,
/// what its announce says, its packet ID. Each node works with every frame, and each distinct frame costs the work
/// once. A lone node needs none, since it drops copies first.
///
/// It holds results, never claims: only the work itself puts one in, or the act of signing. A frame is recognised by
/// all its bytes except those that may change on the way.
public final class FrameMemory {
    private final class Facts {
        let frame: Frame
        var outcomes: [(key: SigningPublicKey, isGenuine: Bool)] = []
        var announce: AnnounceContent??
        var identifiers: FrameIdentifiers??

        init(_ frame: Frame) { self.frame = frame }

        /// One key signs a frame. More are tried only for forged announces, and a few are worth remembering.
        func note(_ isGenuine: Bool, _ key: SigningPublicKey) {
            if outcomes.count < 4 { outcomes.append((key, isGenuine)) }
        }
    }

    /// Frames remembered at least; twice as many at most.
    public let capacity: Int
    private var recent: [UInt64: Facts] = [:]
    private var older: [UInt64: Facts] = [:]
    /// The frame asked about last: the next question is about it again, as a rule.
    private var latest: Facts?
    /// Signature checks that were really made.
    public private(set) var checks: UInt64 = 0

    public init(capacity: Int) { self.capacity = max(1, capacity) }

    public var count: Int { recent.count + older.count }

    /// Whether `frame` carries a signature under `key`.
    func outcome(of frame: Frame, under key: SigningPublicKey, check: () -> Bool) -> Bool {
        let facts = facts(of: frame)
        for known in facts.outcomes where known.key == key { return known.isGenuine }
        let isGenuine = check()
        checks &+= 1
        facts.note(isGenuine, key)
        return isGenuine
    }

    /// Whoever holds the secret key has just signed this frame.
    func note(ownFrame frame: Frame, under key: SigningKey) { facts(of: frame).note(true, key.publicKey) }

    /// What the announce in `frame` says; nil when it is none, or malformed.
    func announce(in frame: Frame) -> AnnounceContent? {
        let facts = facts(of: frame)
        if let known = facts.announce { return known }
        let content = AnnounceContent(frame)
        facts.announce = content
        return content
    }

    /// The IDs of a frame; nil when its body does not inflate.
    public func identifiers(of frame: Frame) -> FrameIdentifiers? {
        let facts = facts(of: frame)
        if let known = facts.identifiers { return known }
        let identifiers = FrameIdentifiers(frame)
        facts.identifiers = identifiers
        return identifiers
    }

    private func facts(of frame: Frame) -> Facts {
        if let latest, latest.frame.isCopy(of: frame) { return latest }
        let hash = FrameHash.of(frame.bytes)
        let facts = known(hash, frame) ?? keep(Facts(frame), hash)
        latest = facts
        return facts
    }

    private func known(_ hash: UInt64, _ frame: Frame) -> Facts? {
        if let facts = recent[hash], facts.frame.isCopy(of: frame) { return facts }
        guard let facts = older[hash], facts.frame.isCopy(of: frame) else { return nil }
        return keep(facts, hash)
    }

    private func keep(_ facts: Facts, _ hash: UInt64) -> Facts {
        if recent.count >= capacity {
            older = recent
            recent = Dictionary(minimumCapacity: capacity)
        }
        recent[hash] = facts
        return facts
    }
}

/// The packet ID of a frame, and what it contributes to sync filters.
public struct FrameIdentifiers: Sendable {
    public let id: PacketID
    public let hash: GCSHash

    /// `nil` when the body does not inflate.
    public init?(_ frame: Frame) {
        guard let id = frame.withView({ PacketID($0) }) else { return nil }
        self.id = id
        hash = GCSHash(id)
    }
}

import Basics
import Wire

/// Which links one transmission is written to (chapter 03 B7). A pure function of the link table; the link type is
/// generic so that the rule can be checked against recorded cases. Immutable; a class, so that asking copies nothing.
public final class LinkSelection<Link: Hashable & Comparable & CustomStringConvertible> {
    /// Preferred outgoing link of each peer that has one.
    public let preferredOutgoing: [PeerID: Link]
    /// Usable links: outgoing ones in order, then incoming ones in subscription order.
    private let links: [Link]
    private let outgoingCount: Int
    /// The far end of each link: one number for all links of a bound peer, one of its own for every unbound link.
    private let ends: [Int]
    /// Position of each far end's preferred link, or −1.
    private let preferred: [Int]
    private let endOfPeer: [PeerID: Int]

    public init(
        outgoing: [Link], incoming: [Link], peers: [Link: PeerID] = [:], preferredOutgoing: [PeerID: Link] = [:]
    ) {
        var ends: [Int] = []
        var preferred: [Int] = []
        var endOfPeer: [PeerID: Int] = [:]
        for link in outgoing + incoming {
            let peer = peers[link]
            if let peer, let known = endOfPeer[peer] {
                ends.append(known)
                continue
            }
            if let peer { endOfPeer[peer] = preferred.count }
            ends.append(preferred.count)
            preferred.append(peer.flatMap { preferredOutgoing[$0] }.flatMap(outgoing.firstIndex) ?? -1)
        }
        links = outgoing + incoming
        outgoingCount = outgoing.count
        self.ends = ends
        self.preferred = preferred
        self.endOfPeer = endOfPeer
        self.preferredOutgoing = preferredOutgoing
    }

    /// Distinct far ends: bound peers, and unbound links.
    public var endCount: Int { preferred.count }

    public struct Request {
        public var type: MessageType
        /// The explicit target, else the recipient field (an all-`ff` one included: it matches no peer).
        public var hint: PeerID?
        /// The ingress link and every link of the ingress peer.
        public var blocked: [Link]
        /// Only a direct link of `hint` will do.
        public var isStrict: Bool
        /// False for an announce with TTL 7, which goes to every allowed link so that each can be bound.
        public var collapses: Bool
        /// Whether a broadcast goes to a subset of many links.
        public var isThinned: Bool
        /// The message ID that seeds the subset; asked for only when there is one to choose.
        public var seed: () -> String

        public init(
            type: MessageType, hint: PeerID? = nil, blocked: [Link] = [], isStrict: Bool = false,
            collapses: Bool = true, isThinned: Bool = true, seed: @escaping () -> String
        ) {
            self.type = type
            self.hint = hint
            self.blocked = blocked
            self.isStrict = isStrict
            self.collapses = collapses
            self.isThinned = isThinned
            self.seed = seed
        }
    }

    /// The chosen links: outgoing ones first.
    public func select(_ request: Request) -> [Link] {
        withUnsafeTemporaryAllocation(of: Bool.self, capacity: links.count) { allowed in
            // A link may be listed in both roles.
            for position in links.indices {
                allowed.initializeElement(at: position, to: !request.blocked.contains(links[position]))
            }
            return select(request, allowed)
        }
    }

    private func select(_ request: Request, _ allowed: UnsafeMutableBufferPointer<Bool>) -> [Link] {
        let target = request.hint.flatMap { endOfPeer[$0] }
        if let target, let direct = directLink(to: target, allowed) { return [links[direct]] }
        // A target whose every link is blocked can be reached over where the packet came from only.
        if request.isStrict || target != nil { return [] }
        if request.collapses { collapse(allowed) }
        guard request.isThinned, request.hint == nil, !Self.isNeverThinned(request.type) else {
            return chosen(links.indices, allowed)
        }
        return Self.subset(of: chosen(0..<outgoingCount, allowed), seed: request.seed)
            + Self.subset(of: chosen(outgoingCount..<links.count, allowed), seed: request.seed)
    }

    private static func isNeverThinned(_ type: MessageType) -> Bool {
        type == .announce || type == .fragment || type == .requestSync
    }

    private func chosen(_ positions: Range<Int>, _ allowed: UnsafeMutableBufferPointer<Bool>) -> [Link] {
        var chosen: [Link] = []
        for position in positions where allowed[position] {
            if chosen.isEmpty { chosen.reserveCapacity(positions.count) }
            chosen.append(links[position])
        }
        return chosen
    }

    /// Step 4: the preferred outgoing link, else another outgoing, else the first incoming.
    private func directLink(to end: Int, _ allowed: UnsafeMutableBufferPointer<Bool>) -> Int? {
        if preferred[end] >= 0, allowed[preferred[end]] { return preferred[end] }
        return links.indices.first { allowed[$0] && ends[$0] == end }
    }

    /// Step 7: one link a bound peer; unbound links all stay.
    private func collapse(_ allowed: UnsafeMutableBufferPointer<Bool>) {
        withUnsafeTemporaryAllocation(of: Bool.self, capacity: preferred.count) { served in
            served.initialize(repeating: false)
            for end in preferred.indices where preferred[end] >= 0 && allowed[preferred[end]] { served[end] = true }
            for position in links.indices where allowed[position] && preferred[ends[position]] != position {
                if served[ends[position]] { allowed[position] = false } else { served[ends[position]] = true }
            }
        }
    }

    /// k(n) of chapter 03 B7: n up to 2, else about log2 n + 1.
    public static func subsetSize(_ count: Int) -> Int {
        guard count > 2 else { return count }
        return min(count, Int.bitWidth - (count - 1).leadingZeroBitCount + 1)
    }

    /// Step 8: the `subsetSize` links whose hash with the seed is smallest.
    public static func subset(of links: [Link], seed: () -> String) -> [Link] {
        let size = subsetSize(links.count)
        guard size < links.count else { return links }
        let seed = seed()
        let scored = links.map { (link: $0, score: SHA256.hash(Array("\(seed)::\($0)".utf8))) }
        return scored.sorted { a, b in
            a.score == b.score ? a.link < b.link : a.score.lexicographicallyPrecedes(b.score)
        }.prefix(size).map(\.link)
    }
}

import Basics
import Wire

/// Which links one transmission is written to (chapter 03 B7). A pure function of the link table; the link type is
/// generic so that the rule can be checked against recorded cases.
public struct LinkSelection<Link: Hashable & Comparable & CustomStringConvertible> {
    /// Usable outgoing links, in order.
    public var outgoing: [Link]
    /// Usable incoming links, in subscription order.
    public var incoming: [Link]
    public var peers: [Link: PeerID]
    public var preferredOutgoing: [PeerID: Link]

    public init(
        outgoing: [Link], incoming: [Link], peers: [Link: PeerID] = [:], preferredOutgoing: [PeerID: Link] = [:]
    ) {
        self.outgoing = outgoing
        self.incoming = incoming
        self.peers = peers
        self.preferredOutgoing = preferredOutgoing
    }

    public struct Request {
        public var type: MessageType
        /// The explicit target, else the recipient field (an all-`ff` one included: it matches no peer).
        public var hint: PeerID?
        /// The ingress link and every link of the ingress peer.
        public var blocked: Set<Link>
        /// Only a direct link of `hint` will do.
        public var isStrict: Bool
        /// False for an announce with TTL 7, which goes to every allowed link so that each can be bound.
        public var collapses: Bool
        /// Whether a broadcast goes to a subset of many links.
        public var isThinned: Bool
        /// The message ID that seeds the subset; asked for only when there is one to choose.
        public var seed: () -> String

        public init(
            type: MessageType, hint: PeerID? = nil, blocked: Set<Link> = [], isStrict: Bool = false,
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
        var outgoing = outgoing.filter { !request.blocked.contains($0) }
        var incoming = incoming.filter { !request.blocked.contains($0) }
        if let hint = request.hint, let direct = directLink(to: hint, outgoing: outgoing, incoming: incoming) {
            return [direct]
        }
        if request.isStrict { return [] }
        if let hint = request.hint, request.blocked.contains(where: { peers[$0] == hint }) { return [] }
        if request.collapses { (outgoing, incoming) = collapsed(outgoing: outgoing, incoming: incoming) }
        if request.isThinned, request.hint == nil, ![.announce, .fragment, .requestSync].contains(request.type) {
            outgoing = Self.subset(of: outgoing, seed: request.seed)
            incoming = Self.subset(of: incoming, seed: request.seed)
        }
        return outgoing + incoming
    }

    /// Step 4: the preferred outgoing link, else another outgoing, else the first incoming.
    private func directLink(to peer: PeerID, outgoing: [Link], incoming: [Link]) -> Link? {
        if let preferred = preferredOutgoing[peer], outgoing.contains(preferred) { return preferred }
        return outgoing.first { peers[$0] == peer } ?? incoming.first { peers[$0] == peer }
    }

    /// Step 7: one link a bound peer; unbound links all stay.
    private func collapsed(outgoing: [Link], incoming: [Link]) -> ([Link], [Link]) {
        var chosen: [PeerID: Link] = [:]
        for link in outgoing {
            if let peer = peers[link], preferredOutgoing[peer] == link { chosen[peer] = link }
        }
        for link in outgoing + incoming {
            if let peer = peers[link], chosen[peer] == nil { chosen[peer] = link }
        }
        let stays = { (link: Link) in peers[link].map { chosen[$0] == link } ?? true }
        return (outgoing.filter(stays), incoming.filter(stays))
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

import Basics
import Wire

/// All live links with their bindings: the spoof containment of chapter 03 A11.
final class LinkTable {
    /// In the order they came up.
    private var links: [Link] = []
    /// Names of `links`: a radio has few, so they are found by looking.
    private var ids: [LinkID] = []
    /// Whom each of `links` is bound to: asked for every packet, while a link has far more to it.
    private var ends: [PeerID?] = []
    private var preferred: [PeerID: LinkID] = [:]
    /// When a retirement round for a peer last closed links; a peer is not asked to shed links again within the
    /// cool-down.
    private var retirements: ExpiringTable<PeerID, Void>
    /// Of all links; what is not longer fits everywhere.
    private(set) var smallestFrameLimit = MeshLimits.frameLimitCap
    /// Candidates for link selection; rebuilt whenever links or bindings change, which is rare compared with sending.
    private(set) var selection = LinkSelection<LinkID>(outgoing: [], incoming: [])

    init() {
        retirements = ExpiringTable(
            capacity: MeshLimits.retirementRecordCapacity, lifetime: MeshLimits.retirementCooldown)
    }

    subscript(id: LinkID) -> Link? { ids.firstIndex(of: id).map { links[$0] } }
    var count: Int { links.count }
    /// In the order they came up.
    var all: [Link] { links }

    func frameLimit(of id: LinkID) -> Int? { ids.firstIndex(of: id).map { links[$0].frameLimit } }

    /// The smallest frame limit of all links whose limit is at least `least`; nil when there is none.
    func smallestFrameLimit(from least: Int) -> Int? { links.lazy.map(\.frameLimit).filter { $0 >= least }.min() }

    /// - Returns: false when the table is full or the ID is already in use.
    func add(_ id: LinkID, role: LinkRole, frameLimit: Int, at now: Instant) -> Bool {
        guard links.count < MeshLimits.linkCapacity, !ids.contains(id) else { return false }
        links.append(Link(id: id, role: role, frameLimit: frameLimit, upSince: now))
        ids.append(id)
        refreshSelection()
        return true
    }

    func setFrameLimit(_ limit: Int, of id: LinkID) {
        update(id) { $0.frameLimit = Link.usable(limit) }
        refreshSelection()
    }

    /// Ends a link, and points the peer's preference to a surviving outgoing link (A11.6).
    @discardableResult
    func remove(_ id: LinkID) -> Link? {
        guard let link = takeOut(id) else { return nil }
        if let peer = link.peer { repairPreference(of: peer) }
        refreshSelection()
        return link
    }

    private func takeOut(_ id: LinkID) -> Link? {
        guard let position = ids.firstIndex(of: id) else { return nil }
        ids.remove(at: position)
        return links.remove(at: position)
    }

    // MARK: Who is where

    func links(of peer: PeerID) -> [LinkID] {
        links.filter { $0.peer == peer }.map(\.id)
    }

    func hasDirectLink(to peer: PeerID) -> Bool { ends.contains { $0 == peer } }

    /// Every link a packet must not go back on: where it was heard, and all links of the neighbours it was heard from
    /// (split horizon, chapter 03 B7 step 2).
    func blocked(heardOn heard: [LinkID], from ingressPeer: PeerID?) -> [LinkID] {
        var blocked = heard
        for position in ends.indices {
            guard let peer = ends[position], !blocked.contains(ids[position]) else { continue }
            if peer == ingressPeer || ends.indices.contains(where: { ends[$0] == peer && heard.contains(ids[$0]) }) {
                blocked.append(ids[position])
            }
        }
        return blocked
    }

    /// Whether a broadcast heard on so many links surely has somewhere else to go.
    func hasMoreEnds(thanHeardOn heard: Int) -> Bool { selection.endCount > heard + 1 }

    private func refreshSelection() {
        ends = links.map(\.peer)
        smallestFrameLimit = links.reduce(MeshLimits.frameLimitCap) { min($0, $1.frameLimit) }
        var peers: [LinkID: PeerID] = [:]
        for link in links { peers[link.id] = link.peer }
        selection = LinkSelection(
            outgoing: links.filter { $0.role == .outgoing }.map(\.id),
            incoming: links.filter { $0.role == .incoming }.map(\.id),
            peers: peers, preferredOutgoing: preferred)
    }

    // MARK: Bindings

    /// A11.1: an announce with TTL 7 binds an unbound link.
    /// - Returns: true when the link is newly bound.
    @discardableResult
    func bind(_ id: LinkID, to sender: PeerID) -> Bool {
        guard let link = self[id], link.peer == nil || link.peer == sender else { return false }
        let isPreferred = link.role == .incoming || preferred[sender] == id
        if link.peer == sender, isPreferred { return false }
        update(id) { $0.peer = sender }
        if link.role == .outgoing { preferred[sender] = id }
        refreshSelection()
        return link.peer == nil
    }

    struct Rebind: Equatable {
        let formerPeer: PeerID
        /// Other outgoing links that were bound to the former peer: to be closed.
        let closed: [LinkID]
    }

    /// A11.2: a verified direct announce on a link bound to somebody else. Refused when the announcer already has a
    /// link (somebody may be replaying its announce), or the link was rebound within the cool-down.
    ///
    /// Links that the former peer has proven to be its own stay: announces can be replayed, and two of them would
    /// otherwise throw out anybody.
    func rebind(_ id: LinkID, to peer: PeerID, at now: Instant) -> Rebind? {
        guard let link = self[id], let former = link.peer, former != peer, !hasDirectLink(to: peer) else { return nil }
        if let last = link.reboundAt, now - last < MeshLimits.rebindCooldown { return nil }
        update(id) {
            $0.provenPeer = nil
            $0.peer = peer
            $0.reboundAt = now
        }
        if link.role == .outgoing { preferred[peer] = id }
        var closed: [LinkID] = []
        for other in links(of: former) where self[other]?.provenPeer != former {
            if self[other]?.role == .outgoing {
                _ = takeOut(other)
                closed.append(other)
            } else {
                update(other) {
                    $0.peer = nil
                    $0.provenPeer = nil
                }
            }
        }
        preferred[former] = links.last { $0.role == .outgoing && $0.peer == former }?.id
        refreshSelection()
        return Rebind(formerPeer: former, closed: closed)
    }

    /// A11.5: our surplus outgoing links to one peer, taken out of the table; the caller closes them. The newest
    /// survives; ties go to the link the announce came in on, then to the preferred one, then to the smallest ID.
    func retireRedundant(of peer: PeerID, ingress: LinkID, at now: Instant) -> [LinkID] {
        let outgoing = links.filter { $0.role == .outgoing && $0.peer == peer }
        guard outgoing.count > 1, !retirements.contains(peer, at: now) else { return [] }
        let former = preferred[peer]
        let rank = { (link: Link) -> (Int64, Int, Int, UInt64) in
            (
                -link.upSince.nanoseconds, link.id == ingress ? 0 : 1, link.id == former ? 0 : 1, link.id.value
            )
        }
        guard let kept = outgoing.min(by: { rank($0) < rank($1) }) else { return [] }
        retirements.insert(peer, (), at: now)
        preferred[peer] = kept.id
        let surplus = outgoing.map(\.id).filter { $0 != kept.id }.sorted()
        for id in surplus { _ = takeOut(id) }
        refreshSelection()
        return surplus
    }

    /// A11.4: the handshake message that completed a session came in on this link, and the link is bound to that peer.
    func prove(_ id: LinkID, as peer: PeerID) -> Bool {
        guard self[id]?.peer == peer else { return false }
        update(id) { $0.provenPeer = peer }
        return true
    }

    /// A leave takes the proofs, not the bindings (B11.2).
    func retireProofs(of peer: PeerID) {
        for id in links(of: peer) { update(id) { $0.provenPeer = nil } }
    }

    private func repairPreference(of peer: PeerID) {
        if let current = preferred[peer], self[current]?.peer == peer { return }
        preferred[peer] = links.first { $0.role == .outgoing && $0.peer == peer }?.id
    }

    // MARK: Budgets and counters

    /// Charges a new packet to its ingress link; false when the link is unknown.
    func admitPacket(on id: LinkID, at now: Instant) -> Bool {
        update(id) { $0.packets.take(at: now) } ?? false
    }

    /// Charges a payload about to be inflated to its ingress link; plain ones are free.
    func admitInflation(of layout: FrameLayout, on id: LinkID, at now: Instant) -> Bool {
        guard layout.isCompressed else { return true }
        return update(id) { $0.inflation.take(Double(layout.payloadLength), at: now) } ?? false
    }

    func admitUnverifiedRelay(from id: LinkID, at now: Instant) -> Bool {
        update(id) { $0.unverifiedRelays.take(at: now) } ?? false
    }

    struct Ingress {
        /// Whom the link is bound to.
        let peer: PeerID?
    }

    func admitIdentity(on id: LinkID, at now: Instant) -> Bool {
        update(id) { $0.identities.take(at: now) } ?? false
    }

    /// How a packet that came in on this link is relayed: charged to the link's share while there is one left.
    func outputClass(of relayClass: RelayClass, from id: LinkID, at now: Instant) -> OutputClass {
        update(id) { link -> OutputClass in
            if relayClass == .directed || relayClass == .handshake {
                return link.directedShare.take(at: now) ? .directed : .excess
            }
            return link.broadcastShare.take(at: now) ? .broadcast : .excess
        } ?? .excess
    }

    /// Charges a frame to the link it is to go out on; false when others have a better claim to what is left.
    func admitOutput(_ outputClass: OutputClass, on id: LinkID, at now: Instant) -> Bool {
        update(id) { link -> Bool in
            guard outputClass != .own else {
                link.output.spend(at: now)
                return true
            }
            return link.output.take(leaving: outputClass.reserve, at: now)
        } ?? false
    }

    /// - Returns: nil when the link is unknown.
    func noteFrameIn(_ id: LinkID, at now: Instant) -> Ingress? {
        update(id) {
            $0.framesIn &+= 1
            $0.lastIn = now
            return Ingress(peer: $0.peer)
        }
    }

    func noteFrameOut(_ id: LinkID, at now: Instant) {
        update(id) {
            $0.framesOut &+= 1
            $0.lastOut = now
        }
    }

    @discardableResult
    private func update<R>(_ id: LinkID, _ change: (inout Link) -> R) -> R? {
        ids.firstIndex(of: id).map { change(&links[$0]) }
    }
}

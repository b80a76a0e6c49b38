import Basics
import Crypto
import Wire

/// One concern of the mesh with its own state: it handles the message types it registers for, and hears of what happens
/// around it. Adding a feature edits no other; `MeshNode` builds the list.
protocol MeshFeature: AnyObject {
    /// Types it handles. Each type has at most one handler; the first registered wins.
    var types: [MessageType] { get }

    /// Handles one fresh packet and says whether it may travel on (chapter 03 B5).
    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict

    /// What it hears of.
    var interests: MeshOccurrence.Kinds { get }
    /// Hears of an occurrence, in the order features are registered.
    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode)

    /// False for features without a timer.
    var isTimed: Bool { get }
    /// When `timeout` wants to run next.
    var nextDeadline: Instant? { get }
    func timeout(in mesh: MeshNode)

    /// Tells how full its tables are; see `MeshNode.measure(_:)`.
    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void)
}

extension MeshFeature {
    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict { .accepted(relay: true) }
    var interests: MeshOccurrence.Kinds { .everything }
    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {}
    var isTimed: Bool { true }
    var nextDeadline: Instant? { nil }
    func timeout(in mesh: MeshNode) {}
    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {}
}

/// A fresh packet, attributed and not seen before.
struct Arrival {
    let frame: Frame
    let link: LinkID
    /// The peer bound to the link, or the sender where the guard says so (chapter 03 B3). Of a packet put together from
    /// fragments, the fragments' sender (B2).
    let ingressPeer: PeerID
    /// Who is accountable for the room it takes.
    let bringer: Bringer
    /// An answer to our sync request.
    let isSyncAnswer: Bool
    /// Put together from fragments: never direct, never relayed.
    let isReassembled: Bool
    /// As far as an unsigned TTL can tell, the last frame of it was sent on this very link: a hint for a handler with
    /// other proof of who is there.
    let cameDirectly: Bool
    /// Handled before; not relayed again.
    let isRepeat: Bool

    let type: MessageType
    /// 0 when reassembled.
    let ttl: UInt8
    let sender: PeerID
    let recipient: PeerID?
    let timestamp: WallTime

    init(
        _ view: FrameView, link: LinkID, boundPeer: PeerID?, admission: PacketGate.Admission, isReassembled: Bool,
        cameDirectly: Bool
    ) {
        frame = Frame(view)
        self.link = link
        ingressPeer = admission.ingressPeer
        bringer = boundPeer.map { .neighbour($0) } ?? .unmet
        isSyncAnswer = admission.isSyncAnswer
        isRepeat = admission.isRepeat
        self.isReassembled = isReassembled
        self.cameDirectly = cameDirectly
        type = view.type
        ttl = isReassembled ? 0 : view.ttl
        sender = view.senderID
        recipient = view.recipientID
        timestamp = view.timestamp
    }

    var isBroadcast: Bool { recipient == nil || recipient == .broadcast }
    /// As far as an unsigned TTL can tell: a hint (chapter 03 A11).
    var looksDirect: Bool { ttl == Packet.originTTL }
}

/// Who is accountable for the room that a packet takes where it is kept. Senders are not: a link may bring packets in
/// any number of invented names.
public enum Bringer: Hashable, Sendable {
    case us
    /// All links that are bound to nobody, together.
    case unmet
    /// The peer that the link is bound to.
    case neighbour(PeerID)
}

/// A handler's verdict on a packet.
enum Verdict: Equatable {
    /// Verified, or of a type that needs no packet signature. Remembered as seen.
    case accepted(relay: Bool)
    /// The author's key is unknown. Remembered apart, so that a genuine copy is not shadowed; relayed within the
    /// ingress link's budget.
    case unknownAuthor(relay: Bool)
    /// Signature wrong: remembered apart, never relayed.
    case forged
    /// The link has used up what it may bring of such packets: as if it had not come, so that a copy on another link is
    /// fresh.
    case notNow

    /// Nil for what is not remembered.
    var judgement: PacketGate.Judgement? {
        switch self {
        case .accepted: .accepted
        case .unknownAuthor: .unknownAuthor
        case .forged: .forged
        case .notNow: nil
        }
    }
}

/// Events delivered to features.
enum MeshOccurrence {
    case started
    /// An orderly stop; links are still up.
    case stopping
    case linkUp(LinkID)
    case linkDown(LinkID, peer: PeerID?)
    /// A verified announce took effect.
    case announced(Announcement)
    /// The last direct link to a peer is gone, or it fell silent.
    case disconnected(PeerID)
    /// The registry forgot the peer: silence, leave, rotation or eviction.
    case removed(PeerID)
    /// A packet that gossip may carry on: verified where its type is signed, and broadcast.
    /// `heardFrom` is the neighbour it came from, nil for a packet of ours.
    /// `bringer` is by default that neighbour, and else us.
    case publishable(Frame, heardFrom: PeerID?, bringer: Bringer? = nil)
    /// Broadcast trains of fragments that make no progress (chapter 04 §6.5).
    case stalled([FragmentStreamID])
    /// The 5 s tick; the count runs 1 … 6 (chapter 03 B17).
    case tick(cycle: Int)

    /// The occurrences a feature wants to hear of.
    struct Kinds: OptionSet {
        let rawValue: UInt16

        static let life = Kinds(rawValue: 1 << 0)
        static let links = Kinds(rawValue: 1 << 1)
        static let announced = Kinds(rawValue: 1 << 2)
        static let absence = Kinds(rawValue: 1 << 3)
        static let publishable = Kinds(rawValue: 1 << 4)
        static let stalled = Kinds(rawValue: 1 << 5)
        static let tick = Kinds(rawValue: 1 << 6)
        static let everything = Kinds(rawValue: .max)
    }

    var kind: Kinds {
        switch self {
        case .started, .stopping: .life
        case .linkUp, .linkDown: .links
        case .announced: .announced
        case .disconnected, .removed: .absence
        case .publishable: .publishable
        case .stalled: .stalled
        case .tick: .tick
        }
    }
}

/// A verified announce and what it changed.
struct Announcement {
    let peer: PeerID
    let link: LinkID
    let looksDirect: Bool
    /// First heard of, or heard of again after the registry had forgotten it.
    let isNew: Bool
    /// Became a direct neighbour through this announce.
    let becameConnected: Bool
    let frame: Frame
}

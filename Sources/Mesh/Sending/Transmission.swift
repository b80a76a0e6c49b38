import Basics
import Wire

/// One frame on its way out, before links are chosen (chapter 03 B7).
struct Transmission {
    var frame: Frame
    /// Explicit target; the recipient field is the hint otherwise.
    var target: PeerID?
    /// Links the packet was heard on, and the neighbour it came from: it does not go back there.
    var heardOn: [LinkID] = []
    var ingressPeer: PeerID?
    /// Only a direct link of the target will do.
    var isStrict = false
    /// Nothing but this link will do, and it only while it is the target's.
    var onlyLink: LinkID?
    /// Follows a source route, so fragments of it keep its own recipient. (Phones write the next hop's ID there, which
    /// ends the packet at that hop; chapter 03 B9.3.)
    var isRouted = false
    /// Whether a type that is padded goes out padded: all but what is handed on along a route (chapter 01 §4.2).
    var isPadded = true
    /// On every link, without collapse or subset.
    var goesEverywhere = false
    /// May be spooled when there is no link.
    var canWait = true
    var outputClass = OutputClass.own
    /// When the packet was first handed over, kept across spooling.
    var since: Instant

    /// The same, with the links it was heard on.
    func heard(on links: [LinkID]) -> Transmission {
        var transmission = self
        transmission.heardOn = links
        return transmission
    }

    var hint: PeerID? { target ?? frame.recipientID }

    /// Order in a link's queue (chapter 03 A10).
    static func priority(of view: FrameView) -> WritePriority {
        switch view.type {
        case .fragment: .fragment(total: view.withPayload(fragmentTotal) ?? .max)
        case .fileTransfer: .file
        case .announce, .message, .leave, .courierEnvelope, .noiseHandshake, .noiseEncrypted, .requestSync,
            .boardPost, .prekeyBundle, .groupMessage, .ping, .pong, .nostrCarrier, .voiceFrame, .announceV2:
            .high
        default: .low
        }
    }

    private static func fragmentTotal(_ payload: UnsafeRawBufferPointer) -> UInt16 {
        var reader = ByteReader(payload)
        guard reader.skip(10), let total = reader.readUInt16() else { return .max }
        return total
    }
}

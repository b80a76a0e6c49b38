import Basics

/// How many bytes of the parent frame one fragment carries (chapter 01 §9.9, chapter 03 B13.1).
public enum FragmentChunk {
    /// Largest slice; with it a directed version 1 fragment is exactly 512 bytes.
    public static let largest = 469

    /// The slice that fills a link's frame limit, at most `largest`; `nil` when the limit leaves no room for any.
    ///
    /// The overhead is 35 bytes, 43 with a recipient, and 3 + 8·hops more when routed.
    public static func filling(frameLimit: Int, hasRecipient: Bool, hops: Int = 0) -> Int? {
        let route = hops > 0 ? 3 + hops * PeerID.size : 0
        let overhead = 14 + PeerID.size + (hasRecipient ? PeerID.size : 0) + route + FragmentHeader.size
        let chunk = min(frameLimit - overhead, largest)
        return chunk > 0 ? chunk : nil
    }

    /// The slice a phone chooses for a link limit. One byte too large for a directed fragment, so never emitted here.
    public static func phone(linkLimit: Int) -> Int { max(smallestOnPhone, linkLimit - 42) }

    /// The slice a phone chooses without a link limit, or for a chunk size asked for explicitly.
    /// - Parameters:
    ///   - standard: for what has no route.
    ///   - frameLimit: for what has one: all that is around the slice, and 16 bytes, must fit beside it.
    public static func phone(
        requested: Int?, hops: Int, standard: Int = largest, frameLimit: Int = 512
    ) -> Int {
        if let requested { return max(smallestOnPhone, requested) }
        return hops > 0 ? max(smallestOnPhone, frameLimit - 62 - hops * PeerID.size) : standard
    }

    private static let smallestOnPhone = 64
}

/// A frame cut into fragments, each made when it is its turn to be sent (chapter 03 B13).
///
/// Fragments carry the author's sender, timestamp, TTL, RSR flag and route, and no signature.
public struct FragmentPlan: Sendable {
    public let streamID: FragmentStreamID
    /// Bytes of the parent in every fragment but the last.
    public let chunk: Int
    /// 1 … `FragmentHeader.mostFragments`.
    public let count: Int
    /// A fragment without its payload.
    public let envelope: Packet

    private let parent: [UInt8]
    private let parentType: MessageType
    /// `envelope` encoded; its length field is still 0.
    private let header: [UInt8]

    /// - Parameters:
    ///   - frame: The complete parent.
    ///   - chunk: From `FragmentChunk`.
    ///   - padded: Whether the parent is padded before it is cut; by default as its type says.
    ///   - target: The one neighbour the fragments are for, if not the parent's recipient.
    /// - Returns: `nil` when the chunk is empty or the train would be too long.
    public init?(
        _ frame: Frame, chunk: Int, padded: Bool? = nil, target: PeerID? = nil, streamID: FragmentStreamID
    ) {
        let parent = padded ?? frame.type.isPadded ? Padding.padded(frame.bytes) : frame.bytes
        // The header of a fragment is added to a slice, and both must fit the version 1 length field.
        guard chunk > 0, chunk <= WireLimits.shortPayload - FragmentHeader.size else { return nil }
        let count = (parent.count + chunk - 1) / chunk
        let route = frame.route
        let envelope = Packet(
            version: route.isEmpty ? 1 : 2, type: .fragment, ttl: frame.ttl, timestamp: frame.timestamp,
            senderID: frame.senderID, recipientID: target ?? frame.recipientID, route: route,
            isSyncResponse: frame.isSyncResponse)
        guard count <= FragmentHeader.mostFragments, let header = try? envelope.encoded() else { return nil }
        self.streamID = streamID
        self.chunk = chunk
        self.count = count
        self.envelope = envelope
        self.parent = parent
        self.parentType = frame.type
        self.header = header
    }

    /// Between the starts of two fragments (chapter 03 B13.2).
    public var spacing: Interval { .milliseconds(envelope.recipientID == nil ? 30 : 25) }

    /// One fragment as a frame; `nil` outside `0 ..< count`.
    ///
    /// Never compressed: the parent has been through the compressor, so only a padded tail could gain, and nothing
    /// signs a fragment.
    public func frame(at index: Int) -> Frame? {
        guard let (fragment, slice) = piece(index) else { return nil }
        var bytes = [UInt8]()
        bytes.reserveCapacity(header.count + FragmentHeader.size + slice.count)
        bytes.append(contentsOf: header)
        fragment.append(to: &bytes)
        bytes.append(contentsOf: slice)
        let payloadLength = UInt16(FragmentHeader.size + slice.count)
        // Version 2 has two more bytes in front, both 0 here.
        let lengthEnd = FrameLayout.lengthOffset + (envelope.version == 1 ? 2 : 4)
        bytes[lengthEnd - 2] = UInt8(payloadLength >> 8)
        bytes[lengthEnd - 1] = UInt8(payloadLength & 0xff)
        return try? Frame(bytes)
    }

    /// One fragment as a packet, for an encoder that compresses; `nil` outside `0 ..< count`.
    public func packet(at index: Int) -> Packet? {
        guard let (fragment, slice) = piece(index) else { return nil }
        var packet = envelope
        fragment.append(to: &packet.payload)
        packet.payload.append(contentsOf: slice)
        return packet
    }

    private func piece(_ index: Int) -> (FragmentHeader, ArraySlice<UInt8>)? {
        guard index >= 0, index < count,
            let fragment = FragmentHeader(
                streamID: streamID, index: UInt16(index), total: UInt16(count), originalType: parentType)
        else { return nil }
        let start = index * chunk
        return (fragment, parent[start..<min(start + chunk, parent.count)])
    }
}

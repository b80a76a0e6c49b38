import Basics

extension Packet {
    /// The packet at the start of `bytes`; what follows it is ignored, padding included (chapter 01 §2.5).
    ///
    /// Stripping padding after a refusal, which the reference does, is left out: a decoder only reads a prefix, so no
    /// bytes that fail whole can succeed with their tail cut.
    public init?(decoding bytes: [UInt8]) {
        guard case .success(let layout) = bytes.withUnsafeBytes({ FrameLayout.parse($0) }) else { return nil }
        guard let packet = bytes.withUnsafeBytes({ Packet(FrameView(validated: $0, layout)) }) else { return nil }
        self = packet
    }

    /// As `init(decoding:)`, with the reason of a refusal.
    public static func decode(_ bytes: [UInt8]) throws(FrameRejection) -> Packet {
        let layout = try bytes.withUnsafeBytes { FrameLayout.parse($0) }.get()
        guard let packet = bytes.withUnsafeBytes({ Packet(FrameView(validated: $0, layout)) }) else {
            throw .inflateFailed
        }
        return packet
    }

    /// `nil` when the body does not inflate.
    public init?(_ view: FrameView) {
        guard let payload = view.payload() else { return nil }
        self.init(
            version: view.version, type: view.type, ttl: view.ttl, timestamp: view.timestamp, senderID: view.senderID,
            recipientID: view.recipientID, route: view.route, payload: payload,
            signature: view.signature.map { [UInt8]($0) }, isSyncResponse: view.isSyncResponse)
    }
}

import Basics

extension Packet {
    /// The packet at the start of `bytes`; what follows it is ignored, padding included (chapter 01 §2.5).
    ///
    /// Stripping padding after a refusal, which the reference does, is left out: a decoder only reads a prefix, so no
    /// bytes that fail whole can succeed with their tail cut.
    public init?(decoding bytes: [UInt8]) {
        guard let packet = try? Packet.decode(bytes) else { return nil }
        self = packet
    }

    /// As `init(decoding:)`, with the reason of a refusal.
    public static func decode(_ bytes: [UInt8]) throws(FrameRejection) -> Packet {
        try bytes.withUnsafeBytes { buffer in FrameView.parse(buffer).flatMap(Packet.reading) }.get()
    }

    /// `nil` when the body does not inflate.
    public init?(_ view: FrameView) {
        guard case .success(let packet) = Packet.reading(view) else { return nil }
        self = packet
    }

    private static func reading(_ view: FrameView) -> Result<Packet, FrameRejection> {
        guard let payload = view.payload() else { return .failure(.inflateFailed) }
        return .success(
            Packet(
                version: view.version, type: view.type, ttl: view.ttl, timestamp: view.timestamp,
                senderID: view.senderID, recipientID: view.recipientID, route: view.route, payload: payload,
                signature: view.signature.map { [UInt8]($0) }, isSyncResponse: view.isSyncResponse))
    }
}

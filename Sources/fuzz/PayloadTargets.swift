import Basics
import Wire

extension FuzzTarget {
    static let payloads = [
        FuzzTarget("announce", decode: { Announce(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("announce-v2", decode: { AnnounceV2(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("capabilities", decode: { Capabilities(littleEndian: $0) }, encode: { $0.encoded }),
        FuzzTarget("courier-envelope", decode: { CourierEnvelope(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget(
            "prekey-bundle", decode: { PrekeyBundle(payload: $0) },
            encode: { encodedAndSigned($0.signedBytes, $0.encoded()) }),
        FuzzTarget("nostr-carrier", decode: { NostrCarrier(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("ping", decode: { PingPayload(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("file-transfer", decode: { FileTransfer(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget(
            "board", decode: { BoardPayload(payload: $0) },
            encode: { encodedAndSigned($0.signedBytes, $0.encoded()) }),
        FuzzTarget("board-urgency", checkUrgency),
        FuzzTarget("group-envelope", decode: { GroupEnvelope(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("group-message", decode: { GroupMessage(plaintext: $0) }, encode: { $0.encoded() }),
        FuzzTarget(
            "group-state", decode: { GroupState(body: $0) },
            encode: { encodedAndSigned($0.signedBytes, $0.encoded()) }),
        FuzzTarget(
            "group-roster", decode: { bytes in bytes.withUnsafeBytes { GroupRoster.members(in: $0) } },
            encode: { GroupRoster.encoded($0) }),
        FuzzTarget("voice-burst", decode: { VoiceBurst(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("noise-payload", decode: { NoisePayload(payload: $0) }, encode: { $0.encoded() }),
        FuzzTarget("private-message", decode: { PrivateMessage(body: $0) }, encode: { $0.encoded() }),
        FuzzTarget("peer-state", decode: { AuthenticatedPeerState(body: $0) }, encode: { $0.encoded() }),
        FuzzTarget(
            "verification-challenge", decode: { VerificationChallenge(body: $0) }, encode: { $0.encoded() }),
        FuzzTarget(
            "verification-response", decode: { VerificationResponse(body: $0) },
            encode: { encodedAndSigned($0.signedBytes, $0.encoded()) }),
        FuzzTarget("vouch-batch", decode: { VouchBatch.attestations(in: $0) }, encode: { VouchBatch.encoded($0) }),
        FuzzTarget(
            "rich-message", decode: { RichMessage(payload: $0, fallbackID: "id").map(withoutEmptyMentions) },
            encode: { $0.encoded() }),
    ]

    /// The encoded form, after what the structure's own signature covers was computed too: anything decoded must have
    /// it.
    @Sendable private static func encodedAndSigned(_ signedBytes: [UInt8]?, _ encoded: [UInt8]?) -> [UInt8]? {
        require(signedBytes != nil || encoded == nil, "what can be encoded can be signed")
        return encoded
    }

    /// An empty list of mentions is written like none but for a stray byte, which is the reference's way.
    @Sendable private static func withoutEmptyMentions(_ message: RichMessage) -> RichMessage {
        var message = message
        if message.mentions?.isEmpty == true { message.mentions = nil }
        return message
    }

    private static func checkUrgency(_ buffer: UnsafeRawBufferPointer) {
        _ = BoardPayload.isUrgent(peeking: buffer)
        // Of repeated flags a peek takes the first and reading the last; encoded there is one.
        guard case .post(let post) = BoardPayload(payload: [UInt8](buffer)), let encoded = post.encoded() else {
            return
        }
        let isUrgent = encoded.withUnsafeBytes { BoardPayload.isUrgent(peeking: $0) }
        require(isUrgent == post.isUrgent, "a peek tells what reading tells")
    }
}

/// The files whose kinds several tests share: what each of the tests checks, as far as not all of them do. A kind that
/// is not named for another test is unknown to a test that does not know it itself.
public enum SharedVectors {
    public static let tests: [String: [String: Set<String>]] = [
        "announce_v2.json": [
            "WireTests.AnnounceV2Tests": ["accept", "encode", "encode_reject", "reject"],
            "CryptoTests.PeerIDRotationTests": ["binding", "block_match", "epoch", "peer_id", "recognition"],
        ],
        "board.json": [
            "WireTests.BoardTests": ["accept", "reject", "urgent"],
            "CryptoTests.SignedPayloadTests": ["verify"],
        ],
        "courier.json": [
            "WireTests.CourierEnvelopeTests": ["accept", "encode", "encode_reject", "epoch_day", "expired", "reject"],
            "CryptoTests.CourierTagTests": ["candidates", "tag"],
            "CryptoTests.SealedMailTests": [
                "open_prekey_reject", "open_reject", "seal", "seal_prekey", "sealed_message",
            ],
            "GatewayTests.CourierStoreVectorTests": ["deposit", "deposit_quota"],
        ],
        "encodings.json": [
            "WireTests.TextFormTests": ["base64url_decode", "base64url_encode"],
            "CryptoTests.Bech32Tests": ["bech32_decode", "bech32_encode"],
        ],
        "groups.json": [
            "WireTests.GroupTests": [
                "envelope_accept", "envelope_reject", "roster", "roster_reject", "state_reject",
            ],
            "CryptoTests.GroupCipherTests": ["message", "open_reject"],
        ],
        "noise_xx.json": [
            "CryptoTests.KeyTests": ["invalid_key"],
            "CryptoTests.NoiseHandshakeTests": ["reject", "tolerated", "transcript"],
        ],
        "nostr_carrier.json": [
            "WireTests.NostrCarrierTests": ["encode", "encode_large", "encode_reject", "reject"]
        ],
        "nostr_events.json": [
            "NostrTests.NostrEventTests": ["parse_accept", "parse_reject", "sign", "verify"],
            "NostrTests.EventTemplateTests": ["builder"],
            "CryptoTests.NostrKeyTests": ["key"],
        ],
        "packet_ids.json": [
            "WireTests.PacketIDVectorTests": ["ingress_id", "stable_id", "sync_id"],
            "WireTests.TextFormTests": ["media_id"],
        ],
        "packets.json": [
            "WireTests.PacketVectorTests": ["encode", "encode_reject"],
            "CryptoTests.VerifiedFrameTests": ["verify"],
        ],
        "peer_ids.json": [
            "WireTests.TextFormTests": ["hex", "parse", "routing", "special"],
            "CryptoTests.KeyTests": ["derive"],
        ],
        "prekeys.json": [
            "WireTests.PrekeyBundleTests": ["accept", "encode_reject", "reject", "signed"],
            "CryptoTests.SignedPayloadTests": ["verify"],
            "MessengerTests.OwnPrekeysTests": ["lifecycle"],
        ],
        "private_envelopes.json": [
            "NostrTests.PrivateEnvelopeTests": ["open", "reject"],
            "CryptoTests.EnvelopeLayerTests": ["layer", "layer_reject", "layer_tolerated", "shared_key"],
        ],
        "verification.json": [
            "WireTests.VerificationTests": ["challenge", "challenge_parse", "response_parse"],
            "CryptoTests.SignedPayloadTests": ["response_verify"],
        ],
        "vouch.json": [
            "WireTests.VouchTests": ["accept", "expiry", "list", "list_decode", "list_reject", "reject"],
            "CryptoTests.SignedPayloadTests": ["verify"],
        ],
    ]
}

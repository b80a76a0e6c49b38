import Basics
import Crypto
import Wire

/// The inputs: fixed keys, times and texts, so that every run does the same work.
enum Samples {
    static let wallTime = WallTime(milliseconds: 1_750_000_000_000)

    static let identity: NodeIdentity = {
        var random = SeededRandom(seed: 1)
        return .generate(using: &random)
    }()

    static let nostrKey: NostrSecretKey = {
        var random = SeededRandom(seed: 2)
        return .generate(using: &random)
    }()

    /// Words without much repetition, as people write.
    static func text(bytes: Int, seed: UInt64) -> String {
        let words = [
            "roof", "library", "north", "gate", "water", "until", "evening", "meet", "battery", "please", "reply",
            "street", "anyone", "hear", "radio", "check", "bridge", "lantern", "music", "tent", "train", "delay",
        ]
        var random = SeededRandom(seed: seed)
        var text = ""
        while text.utf8.count < bytes { text += (words.randomElement(using: &random) ?? "") + " " }
        return String(text.prefix(bytes))
    }

    static func packet(_ type: MessageType, payload: [UInt8], recipient: PeerID? = nil) -> Packet {
        Packet(
            type: type, timestamp: wallTime, senderID: identity.peerID, recipientID: recipient, payload: payload)
    }

    static func signedFrame(
        _ type: MessageType, payload: [UInt8], version: UInt8 = 1, by author: NodeIdentity = identity
    ) -> [UInt8] {
        var packet = Samples.packet(type, payload: payload)
        packet.version = version
        packet.senderID = author.peerID
        guard (try? author.sign(&packet)) != nil else { return [] }
        return (try? packet.encoded()) ?? []
    }

    /// A signed, directed Noise message of 200 bytes on the wire, padded to its bucket of 256, as Android sends it.
    static let paddedNoiseMessage: [UInt8] = noiseMessage(padded: true)

    /// The same from somebody else, for the node to relay.
    static let foreignNoiseMessage: [UInt8] = noiseMessage(padded: true, sender: PeerID(value: 0x99))

    private static func noiseMessage(padded: Bool, sender: PeerID? = nil) -> [UInt8] {
        var random = SeededRandom(seed: 3)
        var packet = Samples.packet(
            .noiseEncrypted, payload: random.bytes(106), recipient: PeerID(value: 0x1122_3344_5566_7788))
        if let sender { packet.senderID = sender }
        guard (try? identity.sign(&packet)) != nil else { return [] }
        return (try? packet.encoded(padded: padded)) ?? []
    }

    /// A signed public message.
    static let message: [UInt8] = signedFrame(.message, payload: Array(text(bytes: 90, seed: 3).utf8))

    /// A signed public message that makes a frame of 352 bytes with its payload compressed.
    static let compressedMessage: [UInt8] = {
        let frames = (200..<1_000).lazy.map { signedFrame(.message, payload: Array(text(bytes: $0, seed: 4).utf8)) }
        return frames.first { $0.count >= 352 } ?? []
    }()

    static let announce: [UInt8] = announce(of: identity)

    static func announce(of identity: NodeIdentity) -> [UInt8] {
        let announce = Announce(
            nickname: "gate-4f2a", noisePublicKey: identity.noise.publicKey.bytes,
            signingPublicKey: identity.signing.publicKey.bytes, capabilities: [.gateway, .bridge],
            bridgeGeohash: "u33dc0")
        return signedFrame(.announce, payload: announce.encoded() ?? [], by: identity)
    }
}

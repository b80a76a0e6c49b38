import Basics
import Crypto
import Wire

/// Packets made by hand, for outsiders.
enum PacketForge {
    static func announce(of identity: NodeIdentity, nickname: String, at wall: WallTime) -> [UInt8] {
        let announce = Announce(
            nickname: nickname, noisePublicKey: identity.noise.publicKey.bytes,
            signingPublicKey: identity.signing.publicKey.bytes)
        return bytes(
            Packet(type: .announce, timestamp: wall, senderID: identity.peerID, payload: announce.encoded() ?? []),
            signedBy: identity)
    }

    /// The bytes of a packet; none when it does not encode.
    static func bytes(_ packet: Packet, signedBy identity: NodeIdentity? = nil) -> [UInt8] {
        var packet = packet
        if let identity { try? identity.sign(&packet) }
        return (try? packet.encoded()) ?? []
    }
}

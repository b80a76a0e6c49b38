import Basics
import Crypto
import Wire

@testable import Gateway

/// Somebody who leaves or receives mail, from a small number.
struct Correspondent {
    let noise: NoiseStaticKey
    var key: NoisePublicKey { noise.publicKey }
    var id: PeerID { key.peerID }

    init(_ number: UInt64) {
        var random = SeededRandom(seed: 1_000 + number)
        noise = NoiseStaticKey.generate(using: &random)
    }

    /// An envelope for this person. Stores never look into it, so that any bytes stand for a ciphertext.
    func mail(_ content: UInt8, copies: UInt8 = 4, at now: WallTime, life: UInt64 = 86_400_000) -> CourierEnvelope {
        CourierEnvelope(
            recipientTag: CourierTag.tag(for: key, day: CourierEnvelope.day(at: now)),
            expiry: WallTime(milliseconds: now.milliseconds + life),
            ciphertext: [content] + key.bytes, copies: copies)
    }
}

extension CourierStore {
    func addressed(to peer: NoisePublicKey, at now: WallTime) -> [CarriedEnvelope] {
        addressed(to: PeerTags(of: peer, at: now), at: now)
    }

    func speculative(
        to peer: NoisePublicKey, at now: WallTime, pause: UInt64 = CourierLimits.remoteHandoverPause
    ) -> [CarriedEnvelope] {
        speculative(to: PeerTags(of: peer, at: now), at: now, pause: pause)
    }

    func shares(for courier: NoisePublicKey, at now: WallTime) -> [CourierShare] {
        shares(for: PeerTags(of: courier, at: now), at: now)
    }
}

extension WatchSet {
    func tagGroups(at now: WallTime) -> [[String]] {
        var memory = TagMemory()
        return tagGroups(from: &memory, at: now)
    }
}

import Basics
import Crypto
import Gateway
import Messenger
import Wire

/// A phone or a box of a city: the engines that decide about mail, and who it is linked to.
final class CityNode {
    let number: Int
    let identity: NodeIdentity
    /// `nil` for a box, which writes to nobody.
    let messenger: Messenger?
    /// `nil` where nobody carries.
    let courier: Courier?
    let capabilities: Capabilities
    var venue: Int?
    /// In order, so that the same seed gives the same run.
    var neighbours: [Int] = []
    /// Neighbours whose handshake came in over the link there is now.
    var proven: Set<Int> = []
    var sessions: Set<Int> = []
    var armed: Instant?

    var isBox: Bool { messenger == nil }
    var peer: PeerID { identity.peerID }
    var key: NoisePublicKey { identity.noise.publicKey }

    init(number: Int, identity: NodeIdentity, messenger: Messenger?, courier: Courier?, capabilities: Capabilities) {
        self.number = number
        self.identity = identity
        self.messenger = messenger
        self.courier = courier
        self.capabilities = capabilities
    }

    var nextDeadline: Instant? { [messenger?.nextDeadline, courier?.nextDeadline].compactMap { $0 }.min() }

    func acquaintance(isConnected: Bool) -> Acquaintance {
        Acquaintance(
            noiseKey: key, signingKey: identity.signing.publicKey, nickname: String(number), isConnected: isConnected,
            capabilities: capabilities)
    }
}

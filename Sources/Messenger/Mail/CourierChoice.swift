import Basics
import Crypto
import Wire

/// Who is asked to carry a message for somebody who is away (chapter 06 §6.8).
enum CourierChoice {
    /// Neighbours who may carry it and do not yet: mutual favourites first, then anybody, gateways like the rest.
    ///
    /// - Parameter carriers: those who have it.
    static func couriers(
        for recipient: NoisePublicKey, among people: some Sequence<Acquaintance>, carriers: [NoisePublicKey],
        trust: TrustBook, using random: inout some RandomNumberGenerator
    ) -> [Acquaintance] {
        let room = MessengerLimits.couriersPerMessage - carriers.count
        guard room > 0 else { return [] }
        let candidates = people.filter { person in
            person.isConnected && person.capabilities?.carriesMail == true
                && person.noiseKey != recipient
                && !carriers.contains(person.noiseKey) && !trust.isBlocked(person.fingerprint)
        }.sorted { $0.peerID < $1.peerID }.shuffled(using: &random)
        let favorites = candidates.filter { trust[$0.fingerprint]?.isMutualFavorite ?? false }
        let others = candidates.filter { !(trust[$0.fingerprint]?.isMutualFavorite ?? false) }
        return Array((favorites + others).prefix(room))
    }
}

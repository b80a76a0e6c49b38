import Gateway
import Mesh
import Messenger
import Nostr
import Vault

/// What a box keeps in its vault. The engines bound what they hand over; the quotas here are the bounds of those
/// bounds.
enum BoxStores {
    /// Public messages of six hours, and the IDs of evicted ones.
    static let history = VaultStore(
        number: 1, name: "history", records: SyncLimits.messages + SyncLimits.rememberedMessages, bytes: 16 << 20)
    /// Board posts and deletions; each with what sealing adds.
    static let board = VaultStore(
        number: 2, name: "board", records: BoardLimits.posts + BoardLimits.tombstones,
        bytes: (BoardLimits.posts + BoardLimits.tombstones) * (BoardLimits.packetBytes + 128))
    /// Signing keys pinned on first use, by peer (chapter 02 §2.5).
    static let identities = VaultStore(
        number: 3, name: "identities", records: MeshLimits.identityCapacity, bytes: 8 << 20)

    /// Whom the person at a chat peer verified, blocked or made a favourite. The daemon has no such person.
    static let trust = VaultStore(
        number: 4, name: "trust", records: MessengerLimits.trustRecords, bytes: MessengerLimits.trustRecords * 1_024)

    /// Own messages that are not known to have arrived (chapter 06 §7): texts as they are typed and as they are
    /// sealed, and who carries each.
    static let outbox = VaultStore(
        number: 40, name: "outbox", records: MessengerLimits.outboxTotal, bytes: MessengerLimits.outboxTotal * 1_536)
    /// Messages that were shown, and whose writers wait for a receipt.
    static let received = VaultStore(
        number: 41, name: "received", records: MessengerLimits.incomingMemory,
        bytes: MessengerLimits.incomingMemory * 512)
    /// Own messages that relays have a copy of.
    static let ownDrops = VaultStore(
        number: 42, name: "own-drops", records: MessengerLimits.rememberedDrops,
        bytes: MessengerLimits.rememberedDrops * 256)
    /// One-time keys of others, to seal letters to.
    static let bundles = VaultStore(
        number: 44, name: "bundles", records: MessengerLimits.bundleOwners, bytes: MessengerLimits.bundleOwners * 4_096)

    /// Sealed mail that came before it was known what time it is.
    static let heldMail = VaultStore(
        number: 45, name: "held-mail", records: MessengerLimits.heldMail,
        bytes: MessengerLimits.heldMail * (CarriedEnvelope.largestEnvelope + 128))

    /// What a chat peer keeps.
    static let chat = [trust, processed, outbox, received, ownDrops, bundles, heldMail]

    /// What is still to be published and what was published lately (chapter 06 §6).
    static let publications = VaultStore(
        number: 20, name: "publications", records: NostrLimits.durablePublications + NostrLimits.publishedKeys,
        bytes: NostrLimits.durableBytes + NostrLimits.publishedKeys * 256)
    /// Mail that was acted upon (chapter 05 §6.7).
    static let processed = VaultStore(
        number: 21, name: "processed", records: NostrLimits.processedEvents, bytes: NostrLimits.processedEvents * 256)
    /// Events of others this box has carried.
    static let carried = VaultStore(
        number: 22, name: "carried", records: GatewayLimits.carriedIDs, bytes: GatewayLimits.carriedIDs * 256)
    /// The list of relays and their places as last fetched; one record.
    static let directory = VaultStore(
        number: 23, name: "directory", records: 1, bytes: 2 * GeoRelayDirectory.maximumFileBytes)
    /// Notes at relays that are copies of own posts on the board; each a post's text and what sealing adds.
    static let boardCopies = VaultStore(
        number: 24, name: "board-copies", records: GatewayLimits.boardCopies, bytes: GatewayLimits.boardCopies * 1_024)

    /// Mail carried for others: the largest envelope, whom it was shared with, and what sealing adds.
    static let mail = VaultStore(
        number: 30, name: "mail", records: CourierLimits.gateway.total,
        bytes: CourierLimits.gateway.total * (CarriedEnvelope.largestRecord + 128))
    /// Drops that were dealt with, for a day, and the letters that came where they belong.
    static let dealtDrops = VaultStore(
        number: 31, name: "dealt-drops", records: CourierLimits.rememberedDrops,
        bytes: CourierLimits.rememberedDrops * 256)
    static let dealtMail = VaultStore(
        number: 32, name: "dealt-mail", records: CourierLimits.rememberedDrops,
        bytes: CourierLimits.rememberedDrops * 256)

    /// The last known time, below which no later run goes without the operator's word.
    static let clock = VaultStore(number: 8, name: "clock", records: 1, bytes: 256)

    static let all = [
        history, board, identities, publications, carried, directory, boardCopies, mail, dealtDrops, dealtMail, clock,
    ]
}

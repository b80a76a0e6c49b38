import Mesh
import Messenger
import Vault

/// What a box keeps in its vault. The engines bound what they hand over; the quotas here are the bounds of those
/// bounds.
enum BoxStores {
    /// Public messages of six hours, and the IDs of those that were let go of.
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

    static let all = [history, board, identities]
}

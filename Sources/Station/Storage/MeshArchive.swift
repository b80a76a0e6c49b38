import Basics
import Mesh
import Vault

enum MeshArchiveLimits {
    /// Keys newly proven that are written at once, in a burst and sustained: ours. Each costs the card two blocks, and
    /// a neighbour can prove as many keys as it cares to make; a crowd at the door proves a few dozen.
    static let promptBurst = 8.0
    static let promptPerSecond = 1.0 / 60
}

/// Takes what a mesh node must not forget into the vault, and gives it back after a restart.
final class MeshArchive {
    private let vault: Vault
    private var prompt = TokenBucket(
        capacity: MeshArchiveLimits.promptBurst, perSecond: MeshArchiveLimits.promptPerSecond)

    init(_ vault: Vault) { self.vault = vault }

    // MARK: Out of the engine

    func keep(_ batch: HistoryBatch) {
        if batch.replacesEverything { vault.removeAll(from: BoxStores.history) }
        for id in batch.deletes {
            vault.remove(id.vaultKey, from: BoxStores.history, within: VaultLimits.relaxed)
        }
        for record in batch.puts {
            // What is only remembered makes room before what can be served. It was a message before, and becomes one
            // that is remembered again when this is lost. A message that is lost is heard again from neighbours.
            let isHeld = record.frame != nil
            vault.put(
                record.vaultValue, for: record.id.vaultKey, in: BoxStores.history, evictionClass: isHeld ? 1 : 0,
                within: isHeld ? VaultLimits.gathered : VaultLimits.relaxed)
        }
    }

    func keep(_ batch: BoardBatch) {
        for id in batch.deletes { vault.remove(id.vaultKey, from: BoxStores.board, within: VaultLimits.relaxed) }
        // What is of others is heard again from neighbours.
        let horizon = batch.isOwn ? VaultLimits.horizon : VaultLimits.gathered
        for record in batch.puts {
            vault.put(record.vaultValue, for: record.id.vaultKey, in: BoxStores.board, within: horizon)
        }
    }

    /// A key newly proven in a session is on the disk before anybody acts on it (chapter 02 §2.5), unless keys are
    /// being proven in numbers. One believed at first sight is announced again. Names are not kept: nobody makes the
    /// box write by changing theirs.
    func keep(_ identity: IdentityRecord, at now: Instant) {
        let isProven = identity.authenticatedSigningKey != nil
        let value = identity.vaultValue
        let stored = vault.value(for: identity.vaultKey, in: BoxStores.identities)
        guard stored != value else { return }
        let known = stored.flatMap { IdentityRecord(key: identity.vaultKey, value: $0) }
        let isNews = isProven && known?.authenticatedSigningKey != identity.authenticatedSigningKey
        vault.put(
            value, for: identity.vaultKey, in: BoxStores.identities, evictionClass: isProven ? 1 : 0,
            within: VaultLimits.gathered)
        if isNews, prompt.take(at: now) { vault.flush() }
    }

    /// The vault lets go of what came first, the mesh of what was longest not heard: left to itself the vault would let
    /// go of a regular visitor's pin. It goes with what took its place.
    func forget(_ identity: IdentityRecord) {
        vault.remove(identity.vaultKey, from: BoxStores.identities, within: VaultLimits.gathered)
    }

    // MARK: Into the engine

    /// Call it once, before the node starts.
    func restore(into mesh: MeshNode, at now: Now) {
        mesh.restore(vault.read(BoxStores.identities) { IdentityRecord(key: $0, value: $1) })
        mesh.restoreHistory(vault.read(BoxStores.history) { HistoryRecord(key: $0, value: $1) }, at: now)
        mesh.restoreBoard(vault.read(BoxStores.board) { BoardRecord(key: $0, value: $1) }, at: now)
    }
}

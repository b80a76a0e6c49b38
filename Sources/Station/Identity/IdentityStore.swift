import Basics
import Crypto
import EventLoop
import Glibc
import Vault

/// Keeps a box's keys: the master key in a file of its own, everything that makes up the identity in another, sealed
/// under it (chapter 02 §1.4).
///
/// Not in the database: a damaged database is set aside and a new one begun, while a damaged identity is reported and
/// left as it is, since a new one would be another peer to everybody who knows this one.
public struct IdentityStore {
    static let fileName = "identity.sealed"
    private static let purpose = "identity"

    enum Loaded {
        case identity(StationIdentity, masterKey: SecretBytes)
        /// The keys belong to another machine, of which this is a copy.
        case movedHere
    }

    private let directory: String
    private var path: String { directory + "/" + IdentityStore.fileName }

    public init(in state: StateDirectory) { self.init(directory: state.path) }

    init(directory: String) { self.directory = directory }

    /// The identity of a person, wherever the files are.
    public func loadOrCreate(
        using random: inout some RandomNumberGenerator
    ) throws(StationFault) -> (identity: StationIdentity, masterKey: SecretBytes) {
        guard case .identity(let identity, let masterKey) = try loadOrCreate(for: .any, using: &random) else {
            throw refusal("it belongs to another machine")
        }
        return (identity, masterKey)
    }

    /// The stored identity; on the very first start a new one, durably stored and read back before it is returned.
    func loadOrCreate(for host: HostMarks, using random: inout some RandomNumberGenerator) throws(StationFault)
        -> Loaded
    {
        guard MasterKey.exists(in: directory) else {
            for name in [IdentityStore.fileName, Vault.fileName] where exists(name) {
                throw refusal("\(directory)/\(MasterKey.fileName) is missing, under which \(name) is sealed")
            }
            return .identity(try begin(for: host, using: &random), masterKey: try masterKey())
        }
        let key = try masterKey()
        let content: SecretBytes
        do {
            content = try file(key).read()
        } catch {
            switch error {
            case .absent: return .identity(try resume(for: host, key, using: &random), masterKey: key)
            case .unreadable(let why): throw refusal(why)
            case .doesNotOpen:
                throw refusal("\(path) is damaged, or was not sealed under \(directory)/\(MasterKey.fileName)")
            }
        }
        guard let stored = StationIdentity.decode(content) else { throw refusal("\(path) holds no valid keys") }
        if host.isOtherMachine(than: stored.host) { return .movedHere }
        try destroyLegacy()
        return .identity(stored.identity, masterKey: key)
    }

    /// Makes a new identity and its master key, for an empty state directory.
    func create(for host: HostMarks, using random: inout some RandomNumberGenerator) throws(SystemError) {
        let key = try MasterKey.create(in: directory, using: &random)
        try file(key).write(StationIdentity.generate(using: &random).encoded(for: host), using: &random)
    }

    // MARK: First start

    private func begin(
        for host: HostMarks, using random: inout some RandomNumberGenerator
    ) throws(StationFault) -> StationIdentity {
        let identity = try legacyOrNew(using: &random)
        do throws(SystemError) {
            let key = try MasterKey.create(in: directory, using: &random)
            try file(key).write(identity.encoded(for: host), using: &random)
        } catch {
            throw cannotStore(error)
        }
        return try verified(identity)
    }

    /// A first start that was cut short between the master key and what is sealed under it.
    private func resume(
        for host: HostMarks, _ key: SecretBytes, using random: inout some RandomNumberGenerator
    ) throws(StationFault) -> StationIdentity {
        guard !exists(Vault.fileName) else { throw refusal("\(path) is missing") }
        let identity = try legacyOrNew(using: &random)
        do throws(SystemError) {
            try file(key).write(identity.encoded(for: host), using: &random)
        } catch {
            throw cannotStore(error)
        }
        return try verified(identity)
    }

    private func legacyOrNew(
        using random: inout some RandomNumberGenerator
    ) throws(StationFault) -> StationIdentity {
        let legacy = LegacyIdentity(in: directory)
        return legacy.exists ? try legacy.load() : .generate(using: &random)
    }

    /// Only what reads back as it was written may be used, and only then may the files it came from go.
    private func verified(_ identity: StationIdentity) throws(StationFault) -> StationIdentity {
        let stored = (try? file(try masterKey()).read()).flatMap { StationIdentity.decode($0)?.identity }
        guard let stored, stored.hasSameSecrets(as: identity) else {
            throw refusal("what was written reads back differently")
        }
        try destroyLegacy()
        return stored
    }

    private func destroyLegacy() throws(StationFault) {
        let legacy = LegacyIdentity(in: directory)
        guard legacy.exists else { return }
        do throws(SystemError) {
            try legacy.destroy()
        } catch {
            throw .state("the keys an earlier version left cannot be removed: \(error.withCure)")
        }
    }

    // MARK: Parts

    private func masterKey() throws(StationFault) -> SecretBytes {
        do {
            return try MasterKey.load(in: directory)
        } catch {
            throw refusal("\(error)")
        }
    }

    private func file(_ key: SecretBytes) -> SealedFile {
        SealedFile(path, purpose: IdentityStore.purpose, masterKey: key)
    }

    private func exists(_ name: String) -> Bool {
        var info = stat()
        return lstat(directory + "/" + name, &info) == 0
    }

    private func cannotStore(_ error: SystemError) -> StationFault {
        .state("a new identity cannot be stored: \(error.withCure)")
    }

    private func refusal(_ why: String) -> StationFault {
        .state(
            "the identity cannot be used: \(why). Not starting, since a new identity would be a stranger to every "
                + "phone that knows this box. Restore \(directory) from a backup, or move it away to be a new box."
        )
    }
}

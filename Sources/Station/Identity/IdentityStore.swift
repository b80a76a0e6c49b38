import Basics
import Crypto
import EventLoop
import Glibc
import Vault

/// The secrets a box is known by.
public struct StationIdentity: Sendable {
    public let node: NodeIdentity
    public let deviceSeed: DeviceSeed

    public static func generate(using random: inout some RandomNumberGenerator) -> StationIdentity {
        StationIdentity(node: .generate(using: &random), deviceSeed: .generate(using: &random))
    }

    func hasSameSecrets(as other: StationIdentity) -> Bool {
        node.noise.privateKey == other.node.noise.privateKey && node.signing.seed == other.node.signing.seed
            && deviceSeed.secret == other.deviceSeed.secret
    }
}

/// Keeps the identity keys as raw files in `identity/` of the state directory (chapter 02 §1.4).
///
/// The three keys appear together or not at all: they are written and synced in a directory of another name, which is
/// then renamed. So an incomplete `identity/` is never a first start that was interrupted, but damage, and damage is
/// reported instead of repaired: a new identity would be another peer to everybody who knows this one.
public struct IdentityStore {
    static let keySize = 32
    static let noiseFile = "noise.key"
    static let signingFile = "signing.key"
    static let seedFile = "device.seed"

    private let directory: String
    private let parent: String
    private var fresh: String { directory + ".new" }

    public init(in state: StateDirectory) { self.init(parent: state.path) }

    init(parent: String) {
        self.parent = parent
        directory = parent + "/identity"
    }

    /// The stored identity; on the very first start a new one, durably stored and read back before it is returned.
    public func loadOrCreate(using random: inout some RandomNumberGenerator) throws(StationFault) -> StationIdentity {
        var info = stat()
        if lstat(directory, &info) != 0 {
            guard errno == ENOENT else { throw refusal(SystemError.last("stat", subject: directory).description) }
            let identity = StationIdentity.generate(using: &random)
            try create(identity)
            let stored = try load()
            guard stored.hasSameSecrets(as: identity) else { throw refusal("what was written reads back differently") }
            return stored
        }
        guard info.st_mode & S_IFMT == S_IFDIR else { throw refusal("\(directory) is not a directory") }
        guard info.st_mode & 0o077 == 0 else {
            throw refusal("\(directory) is open to other users: chmod 0700 \(directory)")
        }
        return try load()
    }

    private func load() throws(StationFault) -> StationIdentity {
        guard let noise = NoiseStaticKey(privateKey: try key(IdentityStore.noiseFile)),
            let signing = SigningKey(seed: try key(IdentityStore.signingFile)),
            let seed = DeviceSeed(try key(IdentityStore.seedFile))
        else { throw refusal("a file in \(directory) holds no valid key") }
        return StationIdentity(node: NodeIdentity(noise: noise, signing: signing), deviceSeed: seed)
    }

    private func key(_ name: String) throws(StationFault) -> SecretBytes {
        let path = directory + "/" + name
        var bytes: [UInt8]
        do {
            bytes = try PrivateFile.read(path, limit: IdentityStore.keySize)
        } catch {
            switch error {
            case .absent: throw refusal("\(path) is missing")
            case .unreadable(let why): throw refusal(why)
            }
        }
        defer {
            bytes.withUnsafeMutableBytes { buffer in _ = buffer.baseAddress.map { explicit_bzero($0, buffer.count) } }
        }
        guard bytes.count == IdentityStore.keySize else {
            throw refusal("\(path) has \(bytes.count) bytes instead of \(IdentityStore.keySize)")
        }
        // What some file systems leave of a file after a power cut.
        guard bytes.contains(where: { $0 != 0 }) else { throw refusal("\(path) holds only zeros") }
        return SecretBytes(copying: bytes)
    }

    private func refusal(_ why: String) -> StationFault {
        .state(
            "the identity cannot be used: \(why). Not starting, since a new identity would be a stranger to every "
                + "phone that knows this box. Restore \(directory) from a backup, or move it away to be a new box."
        )
    }

    private func create(_ identity: StationIdentity) throws(StationFault) {
        do throws(SystemError) {
            try removeFresh()
            guard mkdir(fresh, 0o700) == 0 else { throw SystemError.last("mkdir", subject: fresh) }
            try write(identity.node.noise.privateKey, IdentityStore.noiseFile)
            try write(identity.node.signing.seed, IdentityStore.signingFile)
            try write(identity.deviceSeed.secret, IdentityStore.seedFile)
            try PrivateFile.syncDirectory(fresh)
            guard rename(fresh, directory) == 0 else { throw SystemError.last("rename", subject: directory) }
            try PrivateFile.syncDirectory(parent)
        } catch {
            throw .state("a new identity cannot be stored: \(error.withCure)")
        }
    }

    private func write(_ secret: SecretBytes, _ name: String) throws(SystemError) {
        try secret.withBytes { (bytes: UnsafeRawBufferPointer) throws(SystemError) in
            try PrivateFile.create(fresh + "/" + name, bytes)
        }
    }

    /// Clears what a first start that was cut short left behind; nobody has seen those keys.
    private func removeFresh() throws(SystemError) {
        for name in [IdentityStore.noiseFile, IdentityStore.signingFile, IdentityStore.seedFile] {
            let path = fresh + "/" + name
            guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw .last("unlink", subject: path) }
        }
        guard rmdir(fresh) == 0 || errno == ENOENT else { throw .last("rmdir", subject: fresh) }
    }
}

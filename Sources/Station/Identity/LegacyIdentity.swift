import Basics
import Crypto
import EventLoop
import Glibc
import Vault

/// Identity keys as earlier versions kept them: raw files in `identity/` of the state directory. Read once more, then
/// destroyed.
struct LegacyIdentity {
    static let keySize = 32
    static let noiseFile = "noise.key"
    static let signingFile = "signing.key"
    static let seedFile = "device.seed"
    private static let folders = ["identity", "identity.new"]
    private static let names = [noiseFile, signingFile, seedFile]

    /// All files there may be, relative to the state directory.
    static let files = folders.flatMap { folder in names.map { folder + "/" + $0 } }

    private let parent: String
    private let directory: String

    init(in parent: String) {
        self.parent = parent
        directory = parent + "/" + LegacyIdentity.folders[0]
    }

    var exists: Bool {
        var info = stat()
        return lstat(directory, &info) == 0
    }

    /// Damage is reported instead of repaired: a new identity would be another peer to everybody who knows this one.
    func load() throws(StationFault) -> StationIdentity {
        var info = stat()
        guard lstat(directory, &info) == 0 else {
            throw refusal(SystemError.last("stat", subject: directory).description)
        }
        guard info.st_mode & S_IFMT == S_IFDIR else { throw refusal("\(directory) is not a directory") }
        guard info.st_mode & 0o077 == 0 else {
            throw refusal("\(directory) is open to other users: chmod 0700 \(directory)")
        }
        guard let noise = NoiseStaticKey(privateKey: try key(LegacyIdentity.noiseFile)),
            let signing = SigningKey(seed: try key(LegacyIdentity.signingFile)),
            let seed = DeviceSeed(try key(LegacyIdentity.seedFile))
        else { throw refusal("a file in \(directory) holds no valid key") }
        return StationIdentity(node: NodeIdentity(noise: noise, signing: signing), deviceSeed: seed)
    }

    private func key(_ name: String) throws(StationFault) -> SecretBytes {
        let path = directory + "/" + name
        do {
            return try PrivateFile.readKey(path, size: LegacyIdentity.keySize)
        } catch {
            switch error {
            case .absent: throw refusal("\(path) is missing")
            case .unreadable(let why): throw refusal(why)
            }
        }
    }

    private func refusal(_ why: String) -> StationFault {
        .state(
            "the identity cannot be used: \(why). Not starting, since a new identity would be a stranger to every "
                + "phone that knows this box. Restore \(directory) from a backup, or move it away to be a new box."
        )
    }

    /// Overwrites and removes the files, which must have been taken over.
    func destroy() throws(SystemError) {
        for file in LegacyIdentity.files {
            let path = parent + "/" + file
            var info = stat()
            if lstat(path, &info) == 0 { try PrivateFile.destroy(path) }
        }
        for folder in LegacyIdentity.folders {
            let path = parent + "/" + folder
            guard rmdir(path) == 0 || errno == ENOENT else { throw .last("rmdir", subject: path) }
        }
        try PrivateFile.syncDirectory(parent)
    }
}

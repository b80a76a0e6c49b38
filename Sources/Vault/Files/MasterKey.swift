import Crypto
import EventLoop
import Glibc

/// The key everything kept is sealed under: 32 random bytes in a file of their own, mode 0600. Who destroys this file
/// has destroyed everything (chapter 06 §11.5).
public enum MasterKey {
    public static let size = 32
    public static let fileName = "master.key"

    /// A key for one run of the process.
    public static func generate(using random: inout some RandomNumberGenerator) -> SecretBytes {
        .random(count: size, using: &random)
    }

    /// Reads the key. Absent and damaged are different things: what is sealed under a damaged key is lost, and whoever
    /// replaced it unasked would hide that.
    public static func load(in directory: String) throws(PrivateFile.ReadProblem) -> SecretBytes {
        try PrivateFile.readKey(directory + "/" + fileName, size: size)
    }

    /// Makes the key and stores it durably before anything can be sealed under it.
    public static func create(
        in directory: String, using random: inout some RandomNumberGenerator
    ) throws(SystemError) -> SecretBytes {
        let key = generate(using: &random)
        try key.withBytes { (bytes: UnsafeRawBufferPointer) throws(SystemError) in
            try PrivateFile.replace(directory + "/" + fileName, bytes)
        }
        return key
    }

    /// Whether the file is there, readable or not.
    public static func exists(in directory: String) -> Bool {
        var info = stat()
        return lstat(directory + "/" + fileName, &info) == 0
    }
}

extension PrivateFile {
    /// An unsealed key of `size` bytes. No copy of it is left but what is returned.
    public static func readKey(_ path: String, size: Int) throws(ReadProblem) -> SecretBytes {
        var bytes = try read(path, limit: size)
        defer { bytes.overwrite() }
        guard bytes.count == size else { throw .unreadable("\(path) has \(bytes.count) bytes instead of \(size)") }
        // What some file systems leave of a file after a power cut.
        guard bytes.contains(where: { $0 != 0 }) else { throw .unreadable("\(path) holds only zeros") }
        return SecretBytes(copying: bytes)
    }
}

import Basics
import Crypto
import EventLoop
import Glibc

/// One small sealed thing in a file of its own, for what must outlive damage to the database.
public struct SealedFile {
    public enum Problem: Error, Equatable {
        case absent
        case unreadable(String)
        /// Damaged, or sealed under another key.
        case doesNotOpen
    }

    /// Largest content, unsealed.
    public static let sizeLimit = 65_536

    private let path: String
    private let cipher: StoreCipher
    private let row = RowKey(high: 0, low: 0)

    /// - Parameter purpose: what the content is; a file of one purpose does not open as another.
    public init(_ path: String, purpose: String, masterKey: SecretBytes) {
        self.path = path
        cipher = StoreCipher(store: "file:" + purpose, masterKey: masterKey)
    }

    public func read() throws(Problem) -> SecretBytes {
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.read(path, limit: SealedFile.sizeLimit + StoreCipher.overhead)
        } catch {
            switch error {
            case .absent: throw .absent
            case .unreadable(let why): throw .unreadable(why)
            }
        }
        guard let content = cipher.openSecret(bytes, row: row) else { throw .doesNotOpen }
        return content
    }

    /// Replaces the content; what was there stays until the new one is durably stored.
    public func write(
        _ content: SecretBytes, using random: inout some RandomNumberGenerator
    ) throws(SystemError) {
        let sealed = cipher.seal(content, row: row, nonce: random.bytes(XChaChaPoly.nonceSize))
        try PrivateFile.replace(path, sealed)
    }
}

extension [UInt8] {
    /// Leaves zeros where something secret was. Whoever has another reference to the bytes keeps them.
    mutating func overwrite() {
        withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
    }
}

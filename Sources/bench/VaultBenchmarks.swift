import Basics
import Crypto
import EventLoop
import Glibc
import Vault

/// The vault in a folder of its own, which goes with the process.
enum VaultBenchmarks {
    static var all: [Benchmark] { [put, write, get, open] }

    private static let store = VaultStore(number: 1, name: "bench", records: 100_000, bytes: 128 << 20)
    private static let batch = 100
    /// Sealed bytes in the vault that is opened, and what one of its records holds.
    private static let largeSize = 50 << 20
    private static let largeRecord = 1_024

    /// A message frame with what the archive adds.
    private static let value: [UInt8] = {
        var random = SeededRandom(seed: 5)
        return random.bytes(200)
    }()

    private static func key(_ number: Int) -> [UInt8] {
        var key: [UInt8] = []
        key.append(bigEndian: UInt64(number))
        return key + key
    }

    private static func openVault(in folder: String?) -> Vault {
        Vault(
            in: folder, masterKey: SecretBytes(copying: [UInt8](repeating: 9, count: 32)), stores: [store],
            loop: EmbeddedLoop(), random: SystemRandomNumberGenerator())
    }

    private static var put: Benchmark {
        Benchmark("vault-put", "seal a record of 200 bytes and queue it") {
            let vault = openVault(in: nil)
            var number = 0
            return Trial { count in
                for _ in 0..<count {
                    number = (number + 1) % 10_000
                    vault.put(value, for: key(number), in: store)
                }
            }
        }
    }

    private static var write: Benchmark {
        Benchmark("vault-write", "the same, written to a file a hundred at a time") {
            let folder = TemporaryFolder()
            let vault = openVault(in: folder.path)
            var number = 0
            return Trial { count in
                for _ in 0..<count {
                    number = (number + 1) % 10_000
                    vault.put(value, for: key(number), in: store)
                    if number.isMultiple(of: batch) { vault.flush() }
                }
                withExtendedLifetime(folder) {}
            }
        }
    }

    private static var get: Benchmark {
        Benchmark("vault-get", "find and open one of 10000 records") {
            let folder = TemporaryFolder()
            let vault = openVault(in: folder.path)
            for number in 0..<10_000 { vault.put(value, for: key(number), in: store) }
            vault.flush()
            var number = 0
            return Trial { count in
                for _ in 0..<count {
                    number = (number + 7_919) % 10_000
                    consume(vault.value(for: key(number), in: store))
                }
                withExtendedLifetime(folder) {}
            }
        }
    }

    private static var open: Benchmark {
        Benchmark("vault-open-50mib", "check and open a vault of 50 MiB; at least 1") {
            let folder = TemporaryFolder()
            let full = openVault(in: folder.path)
            var random = SeededRandom(seed: 6)
            for number in 0..<largeSize / largeRecord {
                full.put(random.bytes(largeRecord), for: key(number), in: store)
                if full.status.waitingBytes > 1 << 20 { full.flush() }
            }
            full.close()
            return Trial(rounds: 5) { count in
                for _ in 0..<count { consume(openVault(in: folder.path).status.records) }
                withExtendedLifetime(folder) {}
            }
        }
    }
}

/// A folder that is removed with its owner.
private final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/bitgate-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { exit(1) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for suffix in ["", "-wal", "-shm"] { unlink(path + "/" + Vault.fileName + suffix) }
        rmdir(path)
    }
}

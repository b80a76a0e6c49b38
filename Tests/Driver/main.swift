import Basics
import Crypto
import EventLoop
import Glibc
import Vault

// A process for the tests to kill.
//
//   VaultDriver busy DIR SEED             changes records for ever; prints "SLOT VERSION" when one is on the disk
//   VaultDriver wipe DIR SECOND [STEP]    wipes DIR; dies after STEP
//   VaultDriver residue DIR               seals a secret and opens it; fails if it lies anywhere else
//   VaultDriver forget DIR SECOND         forgets its keys, as a wipe of DIR does; fails if one is left

let arguments = CommandLine.arguments
func fail() -> Never { exit(64) }

func busy(_ directory: String, seed: UInt64) -> Never {
    guard let key = try? MasterKey.load(in: directory) else { fail() }
    let loop = EmbeddedLoop()
    let vault = Vault(
        in: directory, masterKey: key, stores: [DriverStore.busy], loop: loop, random: SystemRandomNumberGenerator())
    var random = SeededRandom(seed: seed)
    var versions = Dictionary(
        uniqueKeysWithValues: vault.records(in: DriverStore.busy).compactMap { record in
            DriverStore.version(in: record.value).map { (record.key, $0) }
        })
    var unsaid: [[UInt8]: UInt32] = [:]
    while true {
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let slot = UInt16.random(in: 0..<300, using: &random)
            let key = DriverStore.key(slot)
            if UInt8.random(in: 0..<8, using: &random) == 0, versions[key] != nil, unsaid[key] == nil {
                vault.remove(key, from: DriverStore.busy, within: VaultLimits.relaxed)
                unsaid[key] = 0
            }
            let version = (versions[key] ?? 0) + 1
            versions[key] = version
            unsaid[key] = version
            vault.put(DriverStore.value(slot, version), for: key, in: DriverStore.busy)
        }
        guard vault.flush() else { exit(1) }
        var text = ""
        for (key, version) in unsaid { text += "\(Int(key[0]) << 8 | Int(key[1])) \(version)\n" }
        unsaid.removeAll()
        let bytes = Array(text.utf8)
        if write(STDOUT_FILENO, bytes, bytes.count) < 0 { exit(1) }
    }
}

func wipe(_ directory: String, second: String, dieAfter last: String?) -> Never {
    let worker = StateWipe(
        .panic, of: directory, markers: WipeMarkers(state: directory, second: second), keeping: ["lock"],
        others: [
            .createIdentity: { _ in
                var random = SystemRandomNumberGenerator()
                let key = try MasterKey.create(in: directory, using: &random)
                try SealedFile(directory + "/identity.sealed", purpose: "identity", masterKey: key).write(
                    .random(count: 96, using: &random), using: &random)
            }
        ])
    let outcome = PanicWipe.run(with: worker) { step in
        if step.rawValue == last { kill(getpid(), SIGKILL) }
    }
    exit(outcome == .complete ? 0 : 1)
}

func forget(_ directory: String, second: String) -> Never {
    let secrets = [32, 64, 5_000].map { SecretBytes(copying: [UInt8](repeating: 7, count: $0)) }
    let worker = StateWipe(
        .panic, of: directory, markers: WipeMarkers(state: directory, second: second), keeping: [])
    guard worker.perform(.forgetKeys) == nil else { exit(1) }
    exit(secrets.allSatisfy { $0.withBytes { $0.allSatisfy { $0 == 0 } } } ? 0 : 1)
}

/// How often the bytes lie in the memory of the process that can be written.
func copies(of secret: UnsafeRawBufferPointer) -> Int {
    let maps = FileDescriptor(owning: open("/proc/self/maps", O_RDONLY))
    guard let first = secret.first, let needle = secret.baseAddress,
        let text = try? PrivateFile.readAll(maps, path: "maps", limit: 1 << 20)
    else { return -1 }
    var count = 0
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.contains(" rw-p ") {
        let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, var place = UnsafeRawPointer(bitPattern: ends[0]) else { continue }
        let last = Int(ends[1]) - secret.count
        while let hit = memchr(place, Int32(first), max(0, last - Int(bitPattern: place))) {
            if memcmp(hit, needle, secret.count) == 0 { count += 1 }
            place = UnsafeRawPointer(hit) + 1
        }
    }
    return count
}

/// The allocator overwrites the head of what is freed, so it is the end that is looked for.
func residue(_ directory: String) -> Never {
    var random = SystemRandomNumberGenerator()
    let secret = SecretBytes.random(count: 96, using: &random)
    let file = SealedFile(
        directory + "/secret", purpose: "secret", masterKey: MasterKey.generate(using: &random))
    guard (try? file.write(secret, using: &random)) != nil, let back = try? file.read(), back == secret else { fail() }
    let found = secret.withBytes { copies(of: UnsafeRawBufferPointer(rebasing: $0[64...])) }
    print(found)
    exit(withExtendedLifetime(back) { found == 2 } ? 0 : 1)
}

switch (arguments.dropFirst().first, arguments.count) {
case ("busy", 4): busy(arguments[2], seed: UInt64(arguments[3]) ?? 0)
case ("wipe", 4): wipe(arguments[2], second: arguments[3], dieAfter: nil)
case ("wipe", 5): wipe(arguments[2], second: arguments[3], dieAfter: arguments[4])
case ("residue", 3): residue(arguments[2])
case ("forget", 4): forget(arguments[2], second: arguments[3])
default: fail()
}

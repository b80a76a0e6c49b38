import Basics
import Crypto
import EventLoop
import Foundation
import TestSupport
import XCTest

@testable import Vault

let notes = VaultStore(number: 1, name: "notes", records: 100, bytes: 1 << 20)
let letters = VaultStore(number: 2, name: "letters", records: 100, bytes: 1 << 20)

/// A folder with a vault in it, in virtual time.
final class VaultHarness {
    let folder: String
    let loop = EmbeddedLoop()
    let key: SecretBytes
    private(set) var vault: Vault
    private let stores: [VaultStore]
    private let schema: Schema
    private(set) var file: VaultFile

    var path: String { folder + "/" + VaultFile.name }

    init(stores: [VaultStore] = [notes, letters], schema: Schema = .current, seed: UInt64 = 1) throws {
        folder = try makeFolder()
        var random = SeededRandom(seed: seed)
        key = MasterKey.generate(using: &random)
        self.stores = stores
        self.schema = schema
        file = VaultFile(folder + "/" + VaultFile.name, stores: stores, schema: schema)
        vault = Vault(
            file: file, masterKey: key, stores: stores, loop: loop, random: SeededRandom(seed: seed + 1))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The process dies: nothing more is written.
    func crash() { vault.abandon() }

    func reopen(key other: SecretBytes? = nil, stores: [VaultStore]? = nil, schema: Schema? = nil) {
        vault.abandon()
        file = VaultFile(path, stores: stores ?? self.stores, schema: schema ?? self.schema)
        vault = Vault(
            file: file, masterKey: other ?? key, stores: stores ?? self.stores, loop: loop,
            random: SystemRandomNumberGenerator())
    }

    /// Somebody else's hands on the file.
    func tamper(_ sql: String) throws {
        vault.close()
        let database = try Database(path)
        try database.execute(sql)
        database.close()
        reopen()
    }

    func put(_ text: String, _ key: String, in store: VaultStore = notes) {
        XCTAssertTrue(vault.put(Array(text.utf8), for: Array(key.utf8), in: store))
    }

    func text(_ key: String, in store: VaultStore = notes) -> String? {
        vault.value(for: Array(key.utf8), in: store).map { String(decoding: $0, as: UTF8.self) }
    }

    /// All bytes of the folder's files.
    var bytesOnDisk: Data { filesUnder(folder) }
}

func filesUnder(_ folder: String) -> Data {
    var all = Data()
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? [] {
        all += Data(name.utf8)
        all += FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
    }
    return all
}

import Basics
import Crypto
import EventLoop
import Glibc

/// The vault's file: opens it, whatever state it is in, and writes changes to it.
///
/// Settings and their reasons. `journal_mode = WAL` with `synchronous = FULL`: each written change is in the log and on
/// the disk when `write` returns; `NORMAL` would leave that to the kernel, which takes half a minute. `locking_mode =
/// EXCLUSIVE`: one process owns the file, and the shared index of the log stays in memory instead of a third file.
/// `secure_delete`: what was removed is overwritten, although it was sealed.
final class VaultFile {
    static let name = "vault.db"
    static let damagedSuffix = ".damaged"

    let isPersistent: Bool
    private(set) var trouble: VaultTrouble?
    private let path: String
    private let schema: Schema
    private let stores: [Int64]
    private(set) var database: Database?
    private var setAside = 0
    private var bytesWritten = 0
    private var pagesInLog: Int32 = 0

    /// - Parameter path: nil for a file in memory.
    init(_ path: String?, stores: [VaultStore], schema: Schema) {
        self.stores = stores.map(\.number)
        isPersistent = path != nil
        self.path = path ?? ":memory:"
        self.schema = schema
    }

    // MARK: Opening

    var isOpen: Bool { database != nil }

    /// Opens the file. A damaged one is set aside and a new one begun; where there can be none, `trouble` says why and
    /// nothing is read or written.
    /// - Parameters:
    ///   - mark: seals a mark by which the file of another key is told.
    ///   - nonce: for a new mark.
    func open(mark: StoreCipher, nonce: [UInt8]) {
        trouble = nil
        if attempt(mark, nonce) { return }
        if trouble == nil {
            moveAside()
            if attempt(mark, nonce) { return }
        }
        if trouble == nil { trouble = .diskFailing }
    }

    /// - Returns: false with `trouble` when the disk is to blame, without it when the file is.
    private func attempt(_ mark: StoreCipher, _ nonce: [UInt8]) -> Bool {
        do throws(DatabaseError) {
            if isPersistent { try makePrivate() }
            let database = try Database(path)
            self.database = database
            try prepare(database)
            try checkMark(in: database, mark, nonce)
            count(database)
            return true
        } catch {
            database?.abandon()
            database = nil
            if error.kind != .damaged { note(error) }
            return false
        }
    }

    private func makePrivate() throws(DatabaseError) {
        let raw = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else {
            throw DatabaseError(
                code: errno == ENOSPC || errno == EDQUOT ? DatabaseError.full : DatabaseError.unreachable,
                message: SystemError.last("open", subject: path).description)
        }
        FileDescriptor(owning: raw).close()
    }

    private func prepare(_ database: Database) throws(DatabaseError) {
        try database.execute(
            """
            PRAGMA page_size = \(VaultLimits.pageSize);
            PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA secure_delete = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA cell_size_check = ON;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -\(VaultLimits.cacheKibibytes);
            """)
        let verdict = try database.text("PRAGMA quick_check(1)")
        guard verdict == "ok" else { throw DatabaseError(code: DatabaseError.damaged, message: verdict ?? "") }
        try schema.migrate(database, stores: stores)
    }

    /// A file sealed under another key is of no use: its records would be set aside one by one.
    private func checkMark(in database: Database, _ mark: StoreCipher, _ nonce: [UInt8]) throws(DatabaseError) {
        let row = RowKey(high: 0, low: 0)
        let statement = try database.prepare("SELECT sealed FROM mark WHERE name = 'key'")
        if try statement.step() {
            guard mark.open(statement.bytes(0), row: row) != nil else {
                throw DatabaseError(code: DatabaseError.notOurs, message: "sealed under another key")
            }
        } else {
            try database.prepare("INSERT INTO mark (name, sealed) VALUES ('key', ?)").run(
                .bytes(mark.seal([], row: row, nonce: nonce)))
        }
    }

    /// One damaged file is kept for whoever wants to look into it; the log belongs to it.
    private func moveAside() {
        setAside += 1
        for suffix in ["", "-wal"] { rename(path + suffix, path + VaultFile.damagedSuffix + suffix) }
        unlink(path + "-shm")
    }

    // MARK: Reading

    /// Shows every row, each store's in order.
    /// - Returns: the highest row number.
    func scan(
        _ body: (_ id: Int64, _ store: Int64, _ row: RowKey, _ evictionClass: UInt8, _ size: Int) -> Void
    ) -> Int64 {
        var highest: Int64 = 0
        for store in stores {
            read("SELECT id, row, class, length(sealed) FROM \(Schema.table(of: store)) ORDER BY id") { row in
                highest = max(highest, row.integer(0))
                guard let key = row.withBytes(1, { RowKey($0) }) else { return }
                body(row.integer(0), store, key, UInt8(clamping: row.integer(2)), Int(clamping: row.integer(3)))
            }
        }
        return highest
    }

    func sealed(_ id: Int64, of store: Int64) -> [UInt8]? {
        var sealed: [UInt8]?
        read("SELECT sealed FROM \(Schema.table(of: store)) WHERE id = ?", id) { sealed = $0.bytes(0) }
        return sealed
    }

    func sealed(of store: Int64) -> [Int64: [UInt8]] {
        var sealed: [Int64: [UInt8]] = [:]
        read("SELECT id, sealed FROM \(Schema.table(of: store))") { sealed[$0.integer(0)] = $0.bytes(1) }
        return sealed
    }

    private func read(_ sql: String, _ parameter: Int64? = nil, _ body: (Statement) -> Void) {
        guard let database else { return }
        do throws(DatabaseError) {
            let statement = try database.prepare(sql)
            if let parameter { statement.bind(parameter, at: 1) }
            while try statement.step() { body(statement) }
        } catch {
            note(error)
        }
    }

    // MARK: Writing

    /// Writes changes, by row number, all or none.
    func write(_ changes: [Int64: Vault.Change]) -> Bool {
        guard let database else { return false }
        do throws(DatabaseError) {
            try database.transaction { () throws(DatabaseError) in
                for store in stores { try write(changes.filter { $0.value.store == store }, to: store, of: database) }
            }
            pagesInLog += count(database)
            trouble = nil
            if pagesInLog >= VaultLimits.logPages { tidy(database) }
            return true
        } catch {
            note(error)
            return false
        }
    }

    private func write(
        _ changes: [Int64: Vault.Change], to store: Int64, of database: Database
    ) throws(DatabaseError) {
        guard !changes.isEmpty else { return }
        let table = Schema.table(of: store)
        let put = try database.prepare(
            "INSERT OR REPLACE INTO \(table) (id, row, class, sealed) VALUES (?, ?, ?, ?)")
        let remove = try database.prepare("DELETE FROM \(table) WHERE id = ?")
        // The oldest first: what is removed leaves its pages to what is new.
        for (id, change) in changes.sorted(by: { $0.key < $1.key }) {
            switch change {
            case .remove: try remove.run(.integer(id))
            case .put(_, let row, let evictionClass, let sealed):
                try put.run(
                    .integer(id), .bytes(row.bytes), .integer(Int64(evictionClass)), .bytes(sealed))
            }
        }
    }

    private func tidy(_ database: Database) {
        do throws(DatabaseError) {
            bytesWritten += try database.checkpoint() * Int(VaultLimits.pageSize)
            pagesInLog = 0
        } catch {
            note(error)
        }
    }

    /// Moves a record that did not open out of the way.
    func quarantine(_ id: Int64, of store: Int64) {
        guard let database else { return }
        let table = Schema.table(of: store)
        do throws(DatabaseError) {
            try database.transaction { () throws(DatabaseError) in
                try database.prepare(
                    "INSERT OR REPLACE INTO quarantine SELECT id, \(store), row, sealed FROM \(table) WHERE id = ?"
                ).run(.integer(id))
                try database.prepare("DELETE FROM \(table) WHERE id = ?").run(.integer(id))
                try database.prepare(
                    "DELETE FROM quarantine WHERE id NOT IN (SELECT id FROM quarantine ORDER BY id DESC LIMIT ?)"
                ).run(.integer(VaultLimits.quarantined))
            }
            pagesInLog += count(database)
        } catch {
            note(error)
        }
    }

    func close() {
        database?.close()
        database = nil
    }

    func abandon() {
        database?.abandon()
        database = nil
    }

    // MARK: Telling

    func takeSetAside() -> Int {
        defer { setAside = 0 }
        return setAside
    }

    func takeBytesWritten() -> Int {
        defer { bytesWritten = 0 }
        return bytesWritten
    }

    /// Adds what was written to the log: each page with its head.
    @discardableResult
    private func count(_ database: Database) -> Int32 {
        let pages = database.takePagesWritten()
        if isPersistent { bytesWritten += pages * (Int(VaultLimits.pageSize) + 24) }
        return Int32(clamping: pages)
    }

    private func note(_ error: DatabaseError) {
        switch error.kind {
        case .full: trouble = .diskFull
        case .unreachable, .damaged: trouble = .diskFailing
        case .other: trouble = .refused
        }
    }
}

import Csqlite3

/// Why the database did not do something.
struct DatabaseError: Error, Equatable, CustomStringConvertible {
    enum Kind: String {
        case full
        case unreachable
        case damaged
        case other
    }

    let code: Int32
    /// The library's words; no content of records is in them.
    let message: String

    var kind: Kind {
        switch code & 0xff {
        case SQLITE_FULL: .full
        case SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_BUSY, SQLITE_LOCKED: .unreachable
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        default: .other
        }
    }

    var description: String { message }
}

/// One connection to an SQLite file: the only place that calls the library.
final class Database {
    private var handle: OpaquePointer?

    /// - Parameter path: a file, or `:memory:`.
    init(_ path: String) throws(DatabaseError) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        guard result == SQLITE_OK else {
            let error = failure(result)
            close()
            throw error
        }
    }

    deinit { close() }

    func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    /// Closes without tidying up: what is in the log stays there.
    func abandon() {
        if handle != nil { _ = csqlite3_leave_log_on_close(handle) }
        close()
    }

    func execute(_ sql: String) throws(DatabaseError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw failure(result) }
    }

    func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        var statement: OpaquePointer?
        let result = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard result == SQLITE_OK, let statement else { throw failure(result) }
        return Statement(statement, of: self)
    }

    /// The first column of the first row.
    func integer(_ sql: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    func text(_ sql: String) throws(DatabaseError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Runs `body` as one change: all of it happens or nothing.
    func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        try execute("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            try body()
            try execute("COMMIT")
        } catch {
            // Some errors end the transaction by themselves.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Pages written since the last call.
    func takePagesWritten() -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 1)
        return Int(current)
    }

    /// Moves what is in the log to where it belongs.
    /// - Returns: pages moved.
    func checkpoint() throws(DatabaseError) -> Int {
        var inLog: Int32 = 0
        var moved: Int32 = 0
        let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &inLog, &moved)
        guard result == SQLITE_OK else { throw failure(result) }
        return Int(max(0, moved))
    }

    fileprivate func failure(_ code: Int32) -> DatabaseError {
        let detail = sqlite3_extended_errcode(handle)
        let text = sqlite3_errmsg(handle) ?? sqlite3_errstr(code)
        return DatabaseError(
            code: handle != nil && detail != SQLITE_OK ? detail : code,
            message: text.map { String(cString: $0) } ?? "error \(code)")
    }
}

/// A prepared statement. Its columns are valid until the next step.
final class Statement {
    private let handle: OpaquePointer
    private let database: Database

    fileprivate init(_ handle: OpaquePointer, of database: Database) {
        self.handle = handle
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    /// True when there is a row.
    func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw database.failure(code)
        }
    }

    /// Runs a statement that yields no rows, with these parameters.
    func run(_ parameters: Parameter...) throws(DatabaseError) { try run(parameters[...], at: 1) }

    /// The bytes are bound in place, so they must lie still until the statement has run.
    private func run(_ parameters: ArraySlice<Parameter>, at index: Int32) throws(DatabaseError) {
        guard let first = parameters.first else {
            defer {
                sqlite3_reset(handle)
                sqlite3_clear_bindings(handle)
            }
            while try step() {}
            return
        }
        switch first {
        case .integer(let value):
            sqlite3_bind_int64(handle, index, value)
            try run(parameters.dropFirst(), at: index + 1)
        case .bytes(let bytes):
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(DatabaseError) in
                    sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(truncatingIfNeeded: bytes.count), nil)
                    try run(parameters.dropFirst(), at: index + 1)
                }
            }.get()
        }
    }

    enum Parameter {
        case integer(Int64)
        case bytes([UInt8])
    }

    /// Binds a number for `step`.
    func bind(_ value: Int64, at index: Int32) {
        sqlite3_reset(handle)
        sqlite3_bind_int64(handle, index, value)
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String? {
        sqlite3_column_text(handle, column).map { String(cString: $0) }
    }

    func withBytes<R>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let start = sqlite3_column_blob(handle, column)
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { [UInt8]($0) } }
}

extension DatabaseError {
    /// Error code for a file that is not a vault database.
    static let notOurs = SQLITE_NOTADB
    static let damaged = SQLITE_CORRUPT
    static let full = SQLITE_FULL
    static let unreachable = SQLITE_CANTOPEN
}

/// The tables, as the steps that led to them: a file of any earlier version is brought up to date step by step, each in
/// a transaction of its own.
struct Schema {
    /// Step `n` makes version `n + 1` of version `n`.
    let steps: [String]

    var version: Int64 { Int64(steps.count) }

    /// Rows are numbered in the order they came and found by an index in memory: an index on random hashes would
    /// rewrite a page here and there for every record.
    static let current = Schema(steps: [
        """
        CREATE TABLE record (
            id INTEGER PRIMARY KEY, store INTEGER NOT NULL, row BLOB NOT NULL, class INTEGER NOT NULL,
            sealed BLOB NOT NULL
        );
        CREATE TABLE quarantine (
            id INTEGER PRIMARY KEY, store INTEGER NOT NULL, row BLOB NOT NULL, sealed BLOB NOT NULL
        );
        CREATE TABLE mark (name TEXT PRIMARY KEY, sealed BLOB NOT NULL);
        """
    ])

    /// Brings the file to this version.
    /// - Throws: `.damaged` for a file of a later version: nobody here can read it.
    func migrate(_ database: Database) throws(DatabaseError) {
        let found = try database.integer("PRAGMA user_version") ?? 0
        guard found >= 0, found <= version else {
            throw DatabaseError(code: DatabaseError.notOurs, message: "the vault's file is of version \(found)")
        }
        for next in found..<version {
            try database.transaction { () throws(DatabaseError) in
                try database.execute(steps[Int(next)])
                try database.execute("PRAGMA user_version = \(next + 1)")
            }
        }
    }
}

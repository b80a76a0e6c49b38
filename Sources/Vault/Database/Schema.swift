/// The tables, as the steps that led to them: a file of any earlier version is brought up to date step by step, each in
/// a transaction of its own.
struct Schema {
    /// One step to the next version. In `eachStore` a `$` stands for the name of a store's table.
    struct Step {
        var once = ""
        var eachStore = ""
    }

    /// Step `n` makes version `n + 1` of version `n`.
    let steps: [Step]
    /// A store's table as the last step leaves it.
    let storeTable: String

    var version: Int64 { Int64(steps.count) }

    /// A table a store, its rows numbered in the order they came and found by an index in memory. So what comes
    /// together lies together and goes together, in few pages; an index on random hashes would rewrite a page here and
    /// there for every record.
    static let current = Schema(
        steps: [
            Step(
                once: """
                    CREATE TABLE quarantine (
                        id INTEGER PRIMARY KEY, store INTEGER NOT NULL, row BLOB NOT NULL, sealed BLOB NOT NULL
                    );
                    CREATE TABLE mark (name TEXT PRIMARY KEY, sealed BLOB NOT NULL);
                    """)
        ],
        storeTable: """
            CREATE TABLE IF NOT EXISTS $ (
                id INTEGER PRIMARY KEY, row BLOB NOT NULL, class INTEGER NOT NULL, sealed BLOB NOT NULL
            );
            """)

    static func table(of store: Int64) -> String { "record_\(store)" }

    /// Brings the file to this version, with a table for each of `stores`.
    /// - Throws: `.damaged` for a file of a later version: nobody here can read it.
    func migrate(_ database: Database, stores: [Int64]) throws(DatabaseError) {
        let found = try database.integer("PRAGMA user_version") ?? 0
        guard found >= 0, found <= version else {
            throw DatabaseError(code: DatabaseError.notOurs, message: "the vault's file is of version \(found)")
        }
        for next in found..<version {
            try database.transaction { () throws(DatabaseError) in
                let step = steps[Int(next)]
                try database.execute(step.once)
                for table in try storeTables(in: database) {
                    try database.execute(Schema.expand(step.eachStore, table))
                }
                try database.execute("PRAGMA user_version = \(next + 1)")
            }
        }
        for store in stores { try database.execute(Schema.expand(storeTable, Schema.table(of: store))) }
    }

    private func storeTables(in database: Database) throws(DatabaseError) -> [String] {
        let statement = try database.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'record_[0-9]*'")
        var names: [String] = []
        while try statement.step() { statement.text(0).map { names.append($0) } }
        return names
    }

    private static func expand(_ sql: String, _ table: String) -> String {
        sql.split(separator: "$", omittingEmptySubsequences: false).joined(separator: table)
    }
}

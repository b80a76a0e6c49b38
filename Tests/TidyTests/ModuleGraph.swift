import Foundation
import XCTest

/// Which module may import which, by `Package.swift`, and for the fuzz targets by `deploy/fuzz`, which builds them.
struct ModuleGraph {
    /// What each target declares.
    let dependencies: [String: Set<String>]
    private let root: URL

    /// One row of the table in docs/architecture.md.
    struct Row {
        var modules: Set<String>
        var libraries: Set<String>
        /// Set where the row says "everything", with what it leaves out.
        var everythingBut: [String]?
        var isPure: Bool
    }

    /// The documentation's word for a system library and the module it is imported by.
    private static let libraries = [
        "libsodium": "Clibsodium", "zlib": "Czlib", "libsecp256k1": "Csecp256k1", "libm": "Clibm",
        "libevent": "Clibevent", "Bluetooth headers": "Cbluetooth", "wslay": "Cwslay", "OpenSSL": "Copenssl",
        "libgpiod": "CPanelLines", "SQLite": "Csqlite3", "LZ4": "Clz4",
    ]
    /// The toolchain's own modules, which no package declares.
    private static let synchronized: Set = ["Wire", "Crypto"]
    private static let usesNoSystem: Set = [
        "Basics", "Wire", "Crypto", "Mesh", "Nostr", "Gateway", "Messenger", "Simulation",
    ]

    init(root: URL) throws {
        self.root = root
        let package = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        var dependencies: [String: Set<String>] = [:]
        let target = #/\.(?:target|executableTarget)\(\s*name: "(\w+)"(?:,\s*dependencies: \[([^\]]*)\])?/#
        for match in package.matches(of: target) {
            let list = match.2.map { $0.matches(of: #/"(\w+)"/#).map { String($0.1) } } ?? []
            dependencies[String(match.1)] = Set(list)
        }
        let fuzz = try String(contentsOf: root.appendingPathComponent("deploy/fuzz"), encoding: .utf8)
        let built = try XCTUnwrap(fuzz.firstMatch(of: #/\nmodules=\(([^)]*)\)/#), "deploy/fuzz lists no modules")
        dependencies["fuzz"] = Set(built.1.split(separator: " ").map(String.init))
        for name in ["TestSupport", "VaultDriver"] { dependencies[name] = nil }
        self.dependencies = dependencies
    }

    func systemModules(of module: String) -> Set<String> {
        if Self.synchronized.contains(module) { return ["Synchronization"] }
        return Self.usesNoSystem.contains(module) ? [] : ["Glibc"]
    }

    /// These modules and all they stand on.
    func closure(_ modules: Set<String>) -> Set<String> {
        var all = modules
        var waiting = Array(modules)
        while let module = waiting.popLast() {
            for below in dependencies[module] ?? [] where all.insert(below).inserted { waiting.append(below) }
        }
        return all
    }

    /// The table's rows by module.
    func documented() throws -> [String: Row] {
        let text = try String(contentsOf: root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        let lines = text.split(separator: "\n").drop { !$0.hasPrefix("| module | owns | imports | pure |") }
        var rows: [String: Row] = [:]
        for line in lines.dropFirst(2).prefix(while: { $0.hasPrefix("|") }) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count >= 4 else { throw CocoaError(.fileReadCorruptFile) }
            let name = cells[0].filter { $0 != "`" }
            let named = cells[2].matches(of: #/`(\w+)`/#).map { String($0.1) }
            let modules = named.filter { $0 != "Synchronization" }
            XCTAssertEqual(named.count > modules.count, Self.synchronized.contains(name), name)
            let isEverything = cells[2].hasPrefix("everything")
            rows[name] = Row(
                modules: isEverything ? [] : Set(modules),
                libraries: Set(Self.libraries.filter { cells[2].contains($0.key) }.values),
                everythingBut: isEverything ? modules : nil, isPure: cells[3] == "yes")
        }
        return rows
    }
}

import Foundation
import TestSupport
import XCTest

/// The code's own form, tested: what reviewers would otherwise have to watch for.
final class TidyTests: XCTestCase {
    /// What each module may import, itself the import rule of docs/architecture.md. A module not listed here fails.
    private static let allowedImports: [String: Set<String>] = [
        "Basics": ["Clibsodium"],
        "Wire": ["Basics", "Czlib", "Synchronization"],
        "Crypto": ["Basics", "Wire", "Clibsodium", "Csecp256k1", "Synchronization"],
        "Mesh": ["Basics", "Wire", "Crypto"],
        "Nostr": ["Basics", "Wire", "Crypto", "Clibm"],
        "Gateway": ["Basics", "Wire", "Crypto", "Nostr"],
        "Messenger": ["Basics", "Wire", "Crypto"],
        "Simulation": ["Basics", "Wire", "Crypto", "Mesh", "Nostr", "Gateway", "Messenger"],
        "EventLoop": ["Basics", "Clibevent", "Glibc"],
        "Vault": ["Basics", "Crypto", "EventLoop", "Csqlite3", "Clz4", "Glibc"],
        "Panel": ["Basics", "EventLoop", "CPanelLines", "Glibc"],
        "Radio": ["Basics", "Wire", "EventLoop", "Glibc", "Cbluetooth"],
        "Uplink": ["Basics", "EventLoop", "Cwslay", "Copenssl", "Glibc"],
        "Station": [
            "Basics", "Wire", "Crypto", "Mesh", "Nostr", "Gateway", "Messenger", "EventLoop", "Radio", "Uplink",
            "Panel", "Vault", "CToml", "Ctimex", "Csystemd", "Glibc",
        ],
        "bitgated": ["Station", "Basics", "EventLoop", "Glibc"],
        "bitgate": ["Station", "Panel", "Simulation", "Basics", "EventLoop", "Clibedit", "Cqrencode", "Glibc"],
        "bench": [
            "Basics", "Wire", "Crypto", "Mesh", "Nostr", "EventLoop", "Uplink", "Vault", "Clibsodium", "Csecp256k1",
            "Czlib", "Copenssl", "CAllocationCount", "Glibc",
        ],
        "fuzz": ["Basics", "Wire", "Crypto", "Nostr", "Messenger", "EventLoop", "Radio", "Uplink", "Glibc"],
    ]

    private static let pureModules = [
        "Basics", "Wire", "Crypto", "Mesh", "Nostr", "Gateway", "Messenger", "Simulation",
    ]

    /// Clocks, randomness, files, threads: what a pure engine must be given instead of taking it.
    private static let forbiddenInPureModules = [
        "clock_gettime", "gettimeofday", "ContinuousClock", "SuspendingClock", "Date(", "time(nil", "DispatchQueue",
        "Thread", "SystemRandomNumberGenerator", "randombytes", "arc4random", "getrandom", "fopen(", "FileHandle",
        "FileManager", "getenv(", "ProcessInfo", "print(", "debugPrint(", "dump(", "async ", "await ", "Task {",
        "actor ",
        "@unchecked Sendable", "nonisolated(unsafe)",
    ]

    /// Where one of these cannot be avoided; the file says why.
    private static let exceptions: [String: Set<String>] = [
        "Sources/Crypto/SecretBytes.swift": ["@unchecked Sendable"]
    ]

    private static let forbiddenInSources = ["try!", "as!", "fatalError(", "XXX", "HACK", "unsafeBitCast"]
    private static let longestLine = 120
    private static let longestSource = 500
    private static let longestTest = 600

    private let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func swiftFiles(under folder: String) -> [(path: String, text: String)] {
        let base = root.appendingPathComponent(folder)
        let names = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
            guard let text = try? String(contentsOf: base.appendingPathComponent(name), encoding: .utf8) else {
                return nil
            }
            return (folder + "/" + name, text)
        }
    }

    /// The line without its comment and without string literals, so that prose about a forbidden thing is allowed.
    private func code(_ line: Substring) -> String {
        var code = ""
        var inString = false
        var previous: Character = " "
        for character in line {
            if character == "\"", previous != "\\" { inString.toggle() }
            if !inString, character == "/", previous == "/" {
                code.removeLast()
                break
            }
            if !inString { code.append(character) }
            previous = character
        }
        return code
    }

    func testModulesImportOnlyWhatStandsBelowThem() throws {
        let modules = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
        for module in modules.sorted() where module != "System" && !module.hasPrefix("C") || module == "Crypto" {
            guard let allowed = TidyTests.allowedImports[module] else {
                XCTFail("module \(module) has no import rule")
                continue
            }
            for (path, text) in swiftFiles(under: "Sources/" + module) {
                for line in text.split(separator: "\n") where line.contains("import ") {
                    let words = line.split(separator: " ")
                    guard let at = words.firstIndex(of: "import"), words[..<at].allSatisfy({ $0.hasPrefix("@") }) else {
                        continue
                    }
                    let name = String(words[words.count - 1].prefix { $0 != "." })
                    XCTAssertTrue(allowed.contains(name), "\(path): \(module) must not import \(name)")
                }
            }
        }
    }

    /// The table of docs/architecture.md names what a module imports, without what that imports again.
    func testTheTableOfModulesSaysWhatMayBeImported() throws {
        let page = try String(contentsOf: root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        var named: [String: Set<String>] = [:]
        var pure: Set<String> = []
        for line in page.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard cells.count == 6 else { continue }
            let module = cells[1].filter(\.isLetter)
            named[module] = Set(cells[3].split(separator: "`").map(String.init)).intersection(
                TidyTests.allowedImports.keys)
            if cells[4].contains("yes") { pure.insert(module) }
        }
        XCTAssertEqual(pure, Set(TidyTests.pureModules))
        func below(_ module: String) -> Set<String> {
            (named[module] ?? []).reduce(into: []) { $0.formUnion(below($1).union([$1])) }
        }
        XCTAssertEqual(named.count, 14)
        for (module, imports) in named where module != "Station" {
            let allowed = (TidyTests.allowedImports[module] ?? []).intersection(named.keys)
            XCTAssertTrue(imports.isSubset(of: allowed), "\(module) is said to import \(imports)")
            XCTAssertTrue(allowed.isSubset(of: below(module)), "\(module) may import \(allowed)")
        }
    }

    func testPureModulesTakeNoClockNoRandomnessAndNoFiles() {
        for module in TidyTests.pureModules {
            for (path, text) in swiftFiles(under: "Sources/" + module) {
                for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                    // A call to print is forbidden, not the word fingerprint.
                    let code = code(line).replacingOccurrences(of: "ngerprint(", with: "")
                    let exceptions = TidyTests.exceptions[path] ?? []
                    for word in TidyTests.forbiddenInPureModules
                    where code.contains(word) && !exceptions.contains(word) {
                        XCTFail("\(path):\(number + 1): \(word) in a pure module")
                    }
                    if code.contains(".random("), !code.contains("using:") {
                        XCTFail("\(path):\(number + 1): randomness that is not injected")
                    }
                }
            }
        }
    }

    func testSourcesHaveNoTrapsAndNoLooseEnds() {
        for (path, text) in swiftFiles(under: "Sources") {
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                for word in TidyTests.forbiddenInSources where code(line).contains(word) {
                    XCTFail("\(path):\(number + 1): \(word)")
                }
            }
        }
        for (path, text) in swiftFiles(under: "Sources") + swiftFiles(under: "Tests") where !path.contains("TidyTests")
        {
            for word in ["TODO", "FIXME"] where text.contains(word) { XCTFail("\(path): \(word)") }
        }
    }

    func testFilesAndLinesStayShort() {
        for folder in ["Sources", "Tests"] {
            let longest = folder == "Sources" ? TidyTests.longestSource : TidyTests.longestTest
            for (path, text) in swiftFiles(under: folder) {
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                XCTAssertLessThanOrEqual(lines.count, longest + 1, "\(path) is too long")
                for (number, line) in lines.enumerated() where line.count > TidyTests.longestLine {
                    XCTFail("\(path):\(number + 1): \(line.count) characters")
                }
            }
        }
    }

    func testEveryTestTargetHasTests() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Tests").path)
        for folder in folders.sorted() where folder.hasSuffix("Tests") {
            let tests = swiftFiles(under: "Tests/" + folder).filter { $0.text.contains("func test") }
            XCTAssertFalse(tests.isEmpty, "Tests/\(folder) tests nothing")
        }
    }

    func testWhoeverIsSaidToCheckAKindOfVectorsNamesIt() {
        let tests = swiftFiles(under: "Tests")
        for (vectors, claims) in SharedVectors.tests {
            for (claimed, kinds) in claims {
                let parts = claimed.split(separator: ".")
                let test = tests.first { path, _ in
                    path.hasPrefix("Tests/\(parts[0])/") && path.hasSuffix("/\(parts[1]).swift")
                }
                for name in kinds.union([vectors]) {
                    XCTAssertTrue(test?.text.contains("\"\(name)\"") ?? false, "\(claimed) does not name \(name)")
                }
            }
        }
    }

    func testEveryLineOfTheTestListOfChapterSixIsATestOfThatName() throws {
        var tests: [String: Int] = [:]
        for (path, text) in swiftFiles(under: "Tests") where !path.contains("TidyTests") {
            for line in text.split(separator: "\n") where line.hasPrefix("    func test") {
                tests[String(line.dropFirst(9).prefix { $0 != "(" }), default: 0] += 1
            }
        }
        let lines = Dictionary(grouping: ChapterSixLines.all) { ChapterSixLines.name(of: $0) }
        for (name, lines) in lines { XCTAssertEqual(tests[name] ?? 0, lines.count, "\(lines[0]): \(name)") }
    }

    func testFormatting() throws {
        let format = Process()
        format.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        format.arguments = ["swift", "format", "lint", "--strict", "--recursive", "--parallel", "Sources", "Tests"]
        format.currentDirectoryURL = root
        let output = Pipe()
        format.standardError = output
        format.standardOutput = output
        try format.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        format.waitUntilExit()
        if text.contains("unable to invoke subcommand") || text.contains("No such file") {
            throw XCTSkip("this toolchain has no swift-format")
        }
        XCTAssertEqual(format.terminationStatus, 0, String(text.prefix(4_000)))
    }
}

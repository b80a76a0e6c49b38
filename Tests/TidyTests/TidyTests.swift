import Foundation
import TestSupport
import XCTest

/// The code's own form, tested: what reviewers would otherwise have to watch for.
final class TidyTests: XCTestCase {
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

    /// A folder that is missing, unreadable or without Swift is a fault, not a tree in which every rule holds.
    private func swiftFiles(under folder: String) throws -> [(path: String, text: String)] {
        let base = root.appendingPathComponent(folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { $0.hasSuffix(".swift") }
        guard !names.isEmpty else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: base.path]) }
        return try names.sorted().map { name in
            (folder + "/" + name, try String(contentsOf: base.appendingPathComponent(name), encoding: .utf8))
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

    func testModulesImportOnlyWhatThePackageDeclares() throws {
        let graph = try ModuleGraph(root: root)
        let modules = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
        XCTAssertGreaterThan(graph.dependencies.count, 10)
        for module in modules.sorted() where module != "System" && !module.hasPrefix("C") || module == "Crypto" {
            guard let declared = graph.dependencies[module] else {
                XCTFail("module \(module) has no import rule")
                continue
            }
            let allowed = declared.union(graph.systemModules(of: module))
            for (path, text) in try swiftFiles(under: "Sources/" + module) {
                for line in text.split(separator: "\n") {
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

    func testTheTableOfModulesInTheDocumentationIsThePackages() throws {
        let graph = try ModuleGraph(root: root)
        let rows = try graph.documented()
        XCTAssertEqual(
            Set(rows.keys),
            Set(graph.dependencies.keys).subtracting(["bitgated", "bitgate", "bench", "fuzz"])
                .filter { !$0.hasPrefix("C") || $0 == "Crypto" })
        for (module, row) in rows {
            let declared = graph.dependencies[module] ?? []
            if let exceptions = row.everythingBut {
                let below = Set(rows.keys).subtracting(exceptions + [module])
                XCTAssertEqual(declared.filter(rows.keys.contains), below, module)
                continue
            }
            XCTAssertEqual(graph.closure(row.modules), graph.closure(declared.filter(rows.keys.contains)), module)
            XCTAssertEqual(row.libraries, declared.filter { !rows.keys.contains($0) }, module)
        }
        XCTAssertEqual(Set(rows.filter(\.value.isPure).keys), Set(TidyTests.pureModules))
    }

    func testPureModulesTakeNoClockNoRandomnessAndNoFiles() throws {
        for module in TidyTests.pureModules {
            for (path, text) in try swiftFiles(under: "Sources/" + module) {
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

    func testSourcesHaveNoTrapsAndNoLooseEnds() throws {
        for (path, text) in try swiftFiles(under: "Sources") {
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                for word in TidyTests.forbiddenInSources where code(line).contains(word) {
                    XCTFail("\(path):\(number + 1): \(word)")
                }
            }
        }
        for (path, text) in try swiftFiles(under: "Sources") + swiftFiles(under: "Tests")
        where !path.contains("TidyTests") {
            for word in ["TODO", "FIXME"] where text.contains(word) { XCTFail("\(path): \(word)") }
        }
    }

    func testFilesAndLinesStayShort() throws {
        for folder in ["Sources", "Tests"] {
            let longest = folder == "Sources" ? TidyTests.longestSource : TidyTests.longestTest
            for (path, text) in try swiftFiles(under: folder) {
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
            let tests = try swiftFiles(under: "Tests/" + folder).filter { $0.text.contains("func test") }
            XCTAssertFalse(tests.isEmpty, "Tests/\(folder) tests nothing")
        }
    }

    func testWhoeverIsSaidToCheckAKindOfVectorsNamesIt() throws {
        let tests = try swiftFiles(under: "Tests")
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
        for (path, text) in try swiftFiles(under: "Tests") where !path.contains("TidyTests") {
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

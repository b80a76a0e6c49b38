import Foundation
import TestSupport
import XCTest

/// Runs this package's programs and scripts as an operator would.
enum Programs {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Where the build put the executables.
    static var folder: URL { Bundle.main.bundleURL }

    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Starts a program; its outputs go to files in the scratch folder.
    /// - Parameters:
    ///   - input: Its standard input, empty by default.
    ///   - folder: Where it runs, the package's by default.
    static func start(
        _ path: String, _ arguments: [String], in scratch: Scratch, environment: [String: String] = [:],
        input: Pipe? = nil, folder: String? = nil
    ) throws -> Running {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = folder.map { URL(fileURLWithPath: $0) } ?? root
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input ?? FileHandle.nullDevice
        let running = Running(process: process, output: try scratch.file(), errors: try scratch.file())
        process.standardOutput = running.output.handle
        process.standardError = running.errors.handle
        try process.run()
        return running
    }

    /// Runs one of the executables to its end.
    static func run(_ name: String, _ arguments: String..., in scratch: Scratch) throws -> Outcome {
        try start(folder.appendingPathComponent(name).path, arguments, in: scratch).wait()
    }

    struct Running {
        let process: Process
        let output: Scratch.File
        let errors: Scratch.File

        func wait() -> Outcome {
            process.waitUntilExit()
            return Outcome(status: process.terminationStatus, output: output.text, errors: errors.text)
        }

        func stop(_ signal: Int32 = SIGTERM) -> Outcome {
            kill(process.processIdentifier, signal)
            return wait()
        }
    }

    /// Polls until `condition` holds; false after ten seconds.
    static func eventually(within seconds: Int = 10, _ condition: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<(20 * seconds) {
            if try condition() { return true }
            usleep(50_000)
        }
        return false
    }
}

/// A folder that goes with the test.
final class Scratch {
    struct File {
        let path: String
        let handle: FileHandle
        var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
    }

    let path: String
    private var files = 0

    init() throws {
        path = try makeFolder()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file() throws -> File {
        files += 1
        let file = path + "/out-\(files)"
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        return File(path: file, handle: try FileHandle(forWritingTo: URL(fileURLWithPath: file)))
    }

    func write(_ text: String, as name: String) throws -> String {
        try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
        return path + "/" + name
    }
}

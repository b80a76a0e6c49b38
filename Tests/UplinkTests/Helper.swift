import Foundation
import XCTest

/// One of the programs of Tests/Netlab, or another that says `ready … PORT` on its standard output.
final class Helper {
    private let process = Process()
    private let output = Pipe()
    private var buffered = ""
    /// By the words between `ready` and the port.
    private(set) var ports: [String: UInt16] = [:]

    /// Returns once it has said `ready` so many times.
    init(_ program: String, _ arguments: [String], ready: Int = 1, python: String = "python3") throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, program] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        for _ in 0..<ready {
            guard let line = nextLine() else { throw XCTSkip("\(program) does not run here") }
            let words = line.split(whereSeparator: { $0 == " " || $0 == ":" || $0 == "/" })
            guard words.first == "ready", let port = words.last.flatMap({ UInt16($0) }) else {
                throw XCTSkip("\(program): \(line)")
            }
            ports[words.dropFirst().dropLast().joined(separator: " ")] = port
        }
    }

    convenience init(netlab program: String, _ arguments: [String], ready: Int = 1) throws {
        try self.init(Certificates.netlab.appendingPathComponent(program).path, arguments, ready: ready)
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// Waits for one more line; nil at the end.
    func nextLine() -> String? {
        while true {
            if let end = buffered.firstIndex(of: "\n") {
                let line = String(buffered[..<end])
                buffered.removeSubrange(...end)
                return line
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            buffered += String(decoding: data, as: UTF8.self)
        }
    }
}

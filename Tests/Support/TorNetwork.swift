import Foundation
import XCTest

/// A whole Tor network on the loopback interface, started by Tests/Netlab/tornet.sh: one for all tests of a run, since
/// it takes half a minute to come up. It ends with the process, however that ends.
public final class TorNetwork {
    public let socks: String
    public let control: String
    public let controlSocket: String
    public let cookie: String
    public let onion: String
    /// What `onion` leads to, on this machine; nobody listens there until a test does.
    public let onionTarget: Int
    private let folder: String

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Netlab/tornet.sh").path
    nonisolated(unsafe) private static var network: Result<TorNetwork, any Error>?
    /// The script ends the network when this is closed.
    nonisolated(unsafe) private static var lifeline: Pipe?

    /// The network, up and reachable. Skips the test where tor is not installed, except in continuous integration.
    public static func shared() throws -> TorNetwork {
        guard ["/usr/sbin/tor", "/usr/bin/tor"].contains(where: FileManager.default.isExecutableFile(atPath:)) else {
            if ProcessInfo.processInfo.environment["CI"] == "true" { throw Problem("tor is missing: run deploy/setup") }
            throw XCTSkip("tor is missing: run deploy/setup")
        }
        if let network { return try network.get() }
        let started = Result { try TorNetwork() }
        network = started
        return try started.get()
    }

    public struct Problem: Error, CustomStringConvertible {
        public let description: String
        init(_ description: String) { self.description = description }
    }

    private init() throws {
        folder = try makeFolder(for: "tor")
        onionTarget = try TorNetwork.freePort()
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        let errors = Pipe()
        for pipe in [input, output, errors] { TorNetwork.keepFromChildren(pipe) }
        process.executableURL = URL(fileURLWithPath: TorNetwork.script)
        process.arguments = ["run", folder, "--onion", "80:\(onionTarget)"]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        TorNetwork.lifeline = input
        try process.run()
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        var text = ""
        while !text.contains("READY\n") {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else {
                let why = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                throw Problem("the Tor network did not come up:\n\(why)")
            }
            text += String(decoding: piece, as: UTF8.self)
        }
        var values: [Substring: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = String(parts[1]) }
        }
        socks = values["SOCKS"] ?? ""
        control = values["CONTROL"] ?? ""
        controlSocket = values["CONTROL_SOCKET"] ?? ""
        cookie = values["COOKIE"] ?? ""
        onion = values["ONION"] ?? ""
    }

    /// Inherited by what is started, and by what that leaves running, a pipe would never end.
    private static func keepFromChildren(_ pipe: Pipe) {
        for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    /// Does something to a node: see Tests/Netlab/tornet.sh.
    public func node(_ name: String, _ action: String) throws { _ = try run(["node", folder, name, action]) }

    /// Asks the client's control port; the reply's lines.
    public func ask(_ command: String) throws -> [String] {
        try run(["ctl", folder, command]).split(separator: "\n").map(String.init)
    }

    private func run(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        TorNetwork.keepFromChildren(output)
        process.executableURL = URL(fileURLWithPath: TorNetwork.script)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        try output.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Problem("tornet.sh \(arguments) failed: \(text)") }
        return text
    }

    /// A port of this machine nobody listens on now.
    public static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard status == 0 else { throw POSIXError(.EIO) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

import Foundation
import XCTest

/// A program run under strace, and what it said to the kernel about the network: every socket, connection, datagram and
/// every look at the files of name resolution, children included.
struct NetworkTrace {
    private static let strace = "/usr/bin/strace"

    static func requireTracer() throws {
        guard FileManager.default.isExecutableFile(atPath: strace) else {
            if ProcessInfo.processInfo.environment["CI"] == "true" {
                XCTFail("strace is missing: run deploy/setup")
            }
            throw XCTSkip("strace is missing: run deploy/setup")
        }
    }

    /// Starts a program whose trace goes to `file`. Signals reach the program itself.
    static func start(
        _ program: String, _ arguments: [String], to file: String, in scratch: Scratch,
        environment: [String: String] = [:]
    ) throws -> Programs.Running {
        try Programs.start(
            strace,
            ["-D", "-f", "-q", "-s", "96", "-o", file, "-e", "trace=%network,openat", "-e", "signal=none", program]
                + arguments, in: scratch, environment: environment)
    }

    /// The trace of a program that has ended: the tracer, another process, writes the last of it later.
    static func ended(
        _ file: String, allowing allowed: Set<String>, _ folders: [String]
    ) throws -> NetworkTrace {
        let isWhole = Programs.eventually {
            (try? String(contentsOfFile: file, encoding: .utf8))?.contains("+++ exited with") ?? false
        }
        XCTAssertTrue(isWhole, "the trace has no end")
        return try NetworkTrace(file, allowing: allowed, folders)
    }

    /// TCP connections begun, by destination: `127.0.0.1:9050`.
    private(set) var connections: [String: Int] = [:]
    /// Calls that reach, or could reach, anything but the destinations and Unix sockets allowed.
    private(set) var violations: [String] = []

    /// - Parameters:
    ///   - allowed: destinations of TCP connections.
    ///   - folders: where Unix sockets may lie; there are resolvers and message buses behind others.
    init(_ file: String, allowing allowed: Set<String>, _ folders: [String]) throws {
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            // "1234  call(arguments) = result"; what was interrupted begins with "<...".
            let call = line.drop { $0.isNumber || $0 == " " }
            let name = call.prefix { $0 != "(" }
            if let path = NetworkTrace.value(after: "sun_path=\"", until: "\"", in: call), name != "accept4",
                !folders.contains(where: { path.hasPrefix($0) })
            {
                violations.append(String(call))
            }
            switch name {
            case "socket":
                let isLocal = call.contains("(AF_UNIX,")
                let isStream = call.contains("(AF_INET, SOCK_STREAM")
                if !isLocal && !isStream { violations.append(String(call)) }
            case "connect":
                guard !call.contains("sa_family=AF_UNIX") else { continue }
                let destination = NetworkTrace.destination(in: call)
                connections[destination, default: 0] += 1
                if !allowed.contains(destination) { violations.append(String(call)) }
            case "sendto", "sendmsg", "sendmmsg", "bind", "listen", "accept", "accept4":
                if call.contains("sa_family=AF_INET") || call.contains("sa_family=AF_NETLINK") {
                    violations.append(String(call))
                }
            case "openat":
                let isResolver = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "libnss_", "libresolv"]
                    .contains { call.contains($0) }
                if isResolver && !call.contains("ENOENT") { violations.append(String(call)) }
            default: break
            }
        }
    }

    private static func destination(in call: Substring) -> String {
        guard let port = value(after: "htons(", until: ")", in: call),
            let host = value(after: "inet_addr(\"", until: "\"", in: call)
        else { return String(call) }
        return "\(host):\(port)"
    }

    private static func value(after mark: String, until end: Character, in call: Substring) -> Substring? {
        call.range(of: mark).map { call[$0.upperBound...].prefix { $0 != end } }
    }
}

import Foundation
import TestSupport
import XCTest

/// What a test with Tor plays on: the private network, two real relays — one behind TLS on the clear net, one behind an
/// onion service — and a daemon whose every network call is written down.
final class TorStage {
    let network: TorNetwork
    let scratch: Scratch
    /// By clear-net name through an exit, and by onion name.
    let relays: [String]
    let authority: String
    private var crew: [Programs.Running] = []
    private var listeners: [Programs.Running] = []
    private(set) var daemon: Programs.Running?
    private var traces: [String] = []

    init() throws {
        try NetworkTrace.requireTracer()
        network = try TorNetwork.shared()
        scratch = try Scratch()
        let folder = scratch.path + "/certificates"
        let front = try TorNetwork.freePort()
        let netlab = Programs.root.appendingPathComponent("Tests/Netlab").path
        let made = try Programs.start(netlab + "/tls.sh", [folder], in: scratch).wait()
        guard made.status == 0 else { throw TorStage.problem("no certificates: \(made.errors)") }
        authority = folder + "/ca.pem"
        relays = ["wss://relay.test:\(front)", "ws://\(network.onion)"]
        let clear = try startRelay(port: 0)
        let hidden = try startRelay(port: network.onionTarget)
        XCTAssertEqual(try self.front(of: "\(clear)", at: front), front)
        for port in [clear, hidden] { try listen(to: port) }
    }

    deinit {
        for running in [daemon].compactMap({ $0 }) + listeners + crew where running.process.isRunning {
            _ = running.stop()
        }
    }

    private static func problem(_ text: String) -> NSError {
        NSError(domain: "TorStage", code: 1, userInfo: [NSLocalizedDescriptionKey: text])
    }

    static var python: String {
        let environment = ProcessInfo.processInfo.environment
        return (environment["BITGATE_VENV"] ?? Programs.root.appendingPathComponent(".venv").path) + "/bin/python"
    }

    /// Skips where the relays are not installed, except in continuous integration.
    static func requireRelays() throws {
        guard FileManager.default.isExecutableFile(atPath: python) else {
            if ProcessInfo.processInfo.environment["CI"] == "true" { XCTFail("no relays: run deploy/setup") }
            throw XCTSkip("no relays: run deploy/setup")
        }
    }

    private func startRelay(port: Int) throws -> Int {
        let relay = try Programs.start(TorStage.python, ["deploy/lib/relay.py", "rust", "\(port)"], in: scratch)
        crew.append(relay)
        guard Programs.eventually({ relay.output.text.contains("ready") }),
            let found = relay.output.text.split(separator: ":").last.flatMap({ Int($0.prefix { $0.isNumber }) })
        else { throw TorStage.problem("the relay did not start: \(relay.errors.text)") }
        return found
    }

    private func listen(to port: Int) throws {
        let listener = try Programs.start(
            TorStage.python, ["deploy/lib/listen.py", "ws://127.0.0.1:\(port)"], in: scratch)
        listeners.append(listener)
        guard Programs.eventually({ listener.output.text.contains("listening") }) else {
            throw TorStage.problem("nobody listens: \(listener.errors.text)")
        }
    }

    // MARK: The daemon

    /// Starts the daemon with Tor required.
    /// - Parameter directory: the list of relays in a file, and where a newer one is fetched.
    func startDaemon(
        socks: String? = nil, control: String? = nil, cookie: String? = nil, relays: [String]? = nil,
        directory: (file: String, url: String)? = nil
    ) throws {
        let names = (relays ?? self.relays).map { "\"\($0)\"" }.joined(separator: ", ")
        let file = try scratch.write(
            """
            nickname = "gate"
            state_directory = "\(scratch.path)/state"
            control_socket = "\(scratch.path)/control"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            location.cell = "u4pruy"
            nostr.relays = [\(names)]
            nostr.use_builtin_relays = \(directory != nil)
            \(directory.map { "nostr.directory = \"\($0.file)\"\nnostr.directory_url = \"\($0.url)\"" } ?? "")
            network.socks = "\(socks ?? network.socks)"
            network.control = "\(control ?? network.controlSocket)"
            \(cookie.map { "network.control_cookie = \"\($0)\"" } ?? "")
            clock.trust_system = true
            """, as: "gate.toml")
        let trace = scratch.path + "/trace-\(traces.count)"
        traces.append(trace)
        daemon = try NetworkTrace.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], to: trace, in: scratch,
            environment: ["SSL_CERT_FILE": authority])
    }

    /// Stops the daemon and looks at all it has said to the kernel.
    func endDaemon() throws -> NetworkTrace {
        let end = daemon?.stop()
        daemon = nil
        XCTAssertEqual(end?.status, 0, end?.errors ?? "")
        return try NetworkTrace.ended(
            traces.last ?? "", allowing: [network.socks], [scratch.path, network.controlSocket])
    }

    /// Serves a folder of the scratch folder over HTTPS as `relay.test`, which only exits know.
    /// - Returns: the port.
    func serve(_ folder: String) throws -> Int {
        let files = try Programs.start(
            "/usr/bin/env",
            ["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder], in: scratch)
        crew.append(files)
        guard Programs.eventually({ files.output.text.contains(" port ") }),
            let port = files.output.text.components(separatedBy: " port ").last?.prefix(while: \.isNumber)
        else { throw TorStage.problem("no server for files: \(files.errors.text)") }
        return try front(of: String(port), at: 0)
    }

    /// TLS in front of a server; returns its port.
    private func front(of target: String, at place: Int) throws -> Int {
        let serve = try Programs.start(
            "/usr/bin/env",
            [
                "python3", Programs.root.appendingPathComponent("Tests/Netlab/tlsfront.py").path,
                scratch.path + "/certificates", target, "\(place):good",
            ], in: scratch)
        crew.append(serve)
        guard Programs.eventually({ serve.output.text.contains("ready good ") }),
            let port = serve.output.text.split(whereSeparator: \.isWhitespace).dropFirst(2).first.flatMap({ Int($0) })
        else { throw TorStage.problem("no TLS front: \(serve.errors.text)") }
        return port
    }

    struct Status {
        let top: [String: Any]
        var network: [String: Any] { top["network"] as? [String: Any] ?? [:] }
        var route: [String: Any] { network["route"] as? [String: Any] ?? [:] }
        var bootstrap: [String: Any] { route["bootstrap"] as? [String: Any] ?? [:] }
        var directory: [String: Any] { network["directory"] as? [String: Any] ?? [:] }
        var state: String { route["state"] as? String ?? "" }
        var progress: Int { bootstrap["progress"] as? Int ?? -1 }
        var steps: [Int] { (route["steps"] as? [[String: Any]] ?? []).compactMap { $0["progress"] as? Int } }
        var attention: [String] { (top["attention"] as? [[String: Any]] ?? []).compactMap { $0["code"] as? String } }
        var connected: [String] {
            (network["relays"] as? [[String: Any]] ?? []).filter { $0["state"] as? String == "connected" }
                .compactMap { $0["url"] as? String }
        }
    }

    func status() throws -> Status? {
        let answer = try Programs.run("bitgate", "status", "--json", "--socket", scratch.path + "/control", in: scratch)
        guard answer.status == 0 else { return nil }
        let top = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        return (top?["status"] as? [String: Any]).map(Status.init)
    }

    func statusText() throws -> String {
        try Programs.run("bitgate", "status", "--socket", scratch.path + "/control", in: scratch).output
    }

    /// Polls the status until `condition` holds; the last status otherwise is in the failure.
    func wait(
        _ what: String, within seconds: Int = 60, file: StaticString = #filePath, line: UInt = #line,
        until condition: (Status) -> Bool
    ) throws {
        var last: Status?
        for _ in 0..<(seconds * 4) {
            last = try status()
            if let last, condition(last) { return }
            usleep(250_000)
        }
        XCTFail("\(what): \(last?.top ?? [:]) \(daemon?.errors.text ?? "")", file: file, line: line)
    }

    // MARK: People

    /// Somebody in the daemon's room, who says things in a location channel.
    final class Speaker {
        let running: Programs.Running
        private let input = Pipe()

        fileprivate init(_ name: String, in scratch: Scratch) throws {
            running = try Programs.start(
                Programs.folder.appendingPathComponent("bitgate").path,
                ["chat", "--room", scratch.path + "/room", "--name", name], in: scratch, input: input)
        }

        func types(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }
    }

    func speaker() throws -> Speaker {
        let speaker = try Speaker("anna", in: scratch)
        crew.append(speaker.running)
        guard Programs.eventually({ speaker.running.output.text.contains("gate came") }) else {
            throw TorStage.problem("no gateway in the room: \(speaker.running.output.text)")
        }
        speaker.types("/j u4pruydqqv")
        guard Programs.eventually({ speaker.running.output.text.contains("you are in #u4pruydqqv") }) else {
            throw TorStage.problem("no channel: \(speaker.running.output.text)")
        }
        return speaker
    }

    /// How often each relay has seen an event that holds `text`.
    func sightings(of text: String) -> [Int] {
        listeners.map { listener in
            listener.output.text.split(separator: "\n").count { $0.contains("\"\(text)\"") }
        }
    }
}

import Basics
import EventLoop
import Foundation
import XCTest

@testable import Uplink

/// TLS, SOCKS5 and WebSocket together, with other people's implementations at the other end.
final class NetlabTests: XCTestCase {
    private var loop: LibeventLoop!
    private var server: RawServer!

    override func setUpWithError() throws {
        loop = try LibeventLoop()
        server = try RawServer(loop)
        loop.schedule(after: .seconds(60)) { [weak loop] in
            XCTFail("the conversation hung")
            loop?.stop()
        }
    }

    override func tearDown() {
        server.hangUp()
        server.stopListening()
        (server, loop) = (nil, nil)
    }

    private func dialer(_ policy: NetworkPolicy) throws -> NetworkDialer {
        let dialer = NetworkDialer(
            loop: loop, policy: policy, trust: try Certificates.trust(), time: { SystemClock.wall })
        dialer.readiness = { .open }
        return dialer
    }

    private var direct: NetworkDialer {
        get throws { try dialer(.direct(SystemResolver(loop: loop))) }
    }

    /// Dials, lets `act` handle what happens, and returns when the socket is closed.
    @discardableResult
    private func converse(
        _ url: String, _ dialer: NetworkDialer, isolation: StreamIsolation = .test,
        _ act: @escaping (WebSocketClient, SocketLog.Event) -> Void = { socket, event in
            if event == .opened { socket.close() }
        }
    ) throws -> SocketLog {
        let log = SocketLog()
        let client = WebSocketClient(
            loop: loop, address: try WebSocketAddress(parsing: url), dialer: dialer, isolation: isolation)
        client.delegate = log
        log.onEvent = { [loop] event in
            act(client, event)
            if case .closed = event { loop?.stop() }
        }
        client.open()
        loop.run()
        return log
    }

    private func fronts(_ specs: [String]) throws -> Helper {
        let arguments = [try Certificates.folder(), "\(server.port)"] + specs.map { "0:" + $0 }
        return try Helper(netlab: "tlsfront.py", arguments, ready: specs.count)
    }

    private func closesPolitely() {
        server.onReceived = { server in
            guard let frames = ServerFrame.parse(server.received), frames.last?.frame.opcode == 8 else { return }
            server.send(ServerFrame.close(1_000).bytes())
        }
    }

    func testFrontsAreAcceptedOrRefusedAsTheirCertificatesDeserve() throws {
        let verdicts: [(String, String?)] = [
            ("good", nil), ("rsa", nil), ("good,tls12", nil), ("good,tls13", nil),
            ("nochain", "its certificate's issuer is not trusted here, or a certificate between is missing"),
            ("otherca", "its certificate's issuer is not trusted here, or a certificate between is missing"),
            ("wronghost", "its certificate is for other host names: other.example"),
            ("cnonly", "its certificate is not for this host name, nor for any other"),
            ("expired", "its certificate expired on"), ("future", "its certificate is valid from"),
            ("selfsigned", "its certificate is self-signed, so anybody may have made it"),
            ("usage", "its certificate is not meant for a server"),
        ]
        let fronts = try fronts(verdicts.map(\.0))
        closesPolitely()
        for (kind, reason) in verdicts {
            let port = try XCTUnwrap(fronts.ports[kind])
            let log = try converse("wss://localhost:\(port)", direct)
            guard let reason else {
                XCTAssertEqual(log.events, [.opened, .closed(.closedByUs)], kind)
                continue
            }
            guard case .closed(.tlsFailed(let failure))? = log.events.first else {
                return XCTFail("\(kind): \(log.events)")
            }
            XCTAssertTrue(failure.description.hasPrefix(reason), "\(kind): \(failure)")
        }
    }

    func testFrontThatCutsOrAbortsIsToldFromOneThatEnds() throws {
        let fronts = try fronts(["good,cut=200", "good,abort"])
        server.onUpgraded = { $0.send(ServerFrame(opcode: 1, payload: [UInt8](repeating: 0x61, count: 1_000)).bytes()) }
        let cut = try converse("wss://localhost:\(fronts.ports["good,cut=200"] ?? 0)", direct) { _, _ in }
        XCTAssertEqual(cut.events.first, .opened)
        guard case .connectionLost? = cut.closed else { return XCTFail("\(cut.events)") }
        server.onUpgraded = { server in
            server.send(ServerFrame.text("bye").bytes())
            server.hangUp()
        }
        let aborted = try converse("wss://localhost:\(fronts.ports["good,abort"] ?? 0)", direct) { _, _ in }
        XCTAssertEqual(aborted.messages, [.text(Array("bye".utf8))])
        XCTAssertEqual(aborted.closed, .connectionLost("the TLS connection was cut off"))
    }

    func testServerNameAndVersionReachTheFront() throws {
        let fronts = try fronts(["good,tls12", "good,tls13"])
        closesPolitely()
        for (kind, version) in [("good,tls12", "TLSv1.2"), ("good,tls13", "TLSv1.3")] {
            let port = try XCTUnwrap(fronts.ports[kind])
            try converse("wss://localhost:\(port)", direct)
            XCTAssertEqual(fronts.nextLine(), "\(port) \(version) localhost")
        }
    }

    func testProxyGetsNamesAndCredentialsAndNothingIsLookedUpHere() throws {
        let fronts = try fronts(["good"])
        let proxy = try Helper(netlab: "socks.py", [])
        let dialer = try dialer(.proxied(try XCTUnwrap(LocalEndpoint("127.0.0.1:\(proxy.ports[""] ?? 0)"))))
        var outcomes: [ProxyOutcome] = []
        dialer.onProxyOutcome = { outcomes.append($0) }
        closesPolitely()
        let port = try XCTUnwrap(fronts.ports["good"])
        let isolation = IsolationKeys().isolation(.relay, "wss://relay.test:\(port)")
        // A name that exists nowhere: only the proxy can have made something of it.
        let log = try converse("wss://relay.test:\(port)", dialer, isolation: isolation)
        XCTAssertEqual(log.events, [.opened, .closed(.closedByUs)])
        XCTAssertEqual(proxy.nextLine(), "relay \(isolation.password) relay.test \(port)")
        XCTAssertEqual(outcomes, [.connected])

        let refused = try converse("wss://relay.test:1", dialer)
        XCTAssertEqual(refused.events, [.closed(.connectFailed("it refused the connection (SOCKS5 reply 0x05)"))])
        proxy.stop()
        let down = try converse("wss://relay.test:\(port)", dialer)
        guard case .closed(.routeUnavailable)? = down.events.first else { return XCTFail("\(down.events)") }
        XCTAssertEqual(outcomes.count, 3)
    }

    func testFileIsFetchedThroughProxyAndTLS() throws {
        let folder = NSTemporaryDirectory() + "bitgate-files-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let content = String(repeating: "relay.example,1.0,2.0\n", count: 20_000)
        try content.write(toFile: folder + "/relays.csv", atomically: true, encoding: .utf8)
        let files = try Helper("-u", ["-c", NetlabTests.fileServer, folder])
        let front = try Helper(
            netlab: "tlsfront.py", [Certificates.folder(), "\(files.ports[""] ?? 0)", "0:good"])
        let proxy = try Helper(netlab: "socks.py", [])
        let dialer = try dialer(.proxied(try XCTUnwrap(LocalEndpoint("127.0.0.1:\(proxy.ports[""] ?? 0)"))))
        for (path, limit, expected) in [
            ("relays.csv", 500_000, "\(content.utf8.count)"), ("relays.csv", 400_000, "longer than"),
            ("none", 10, "404"),
        ] {
            var outcome: HTTPRequest.Outcome?
            let request = HTTPRequest(
                loop: loop,
                address: try WebSocketAddress(parsingHTTP: "https://relay.test:\(front.ports["good"] ?? 0)/\(path)"),
                dialer: dialer, isolation: .test, bodyLimit: limit, timeout: .seconds(15)
            ) { [loop] in
                outcome = $0
                loop?.stop()
            }
            request.start()
            loop.run()
            switch outcome?.result {
            case .success(let response)?: XCTAssertEqual("\(response.body.count)", expected)
            case .failure(let failure)?: XCTAssertTrue("\(failure)".contains(expected), "\(failure)")
            case nil: XCTFail("no outcome")
            }
            XCTAssertLessThan(outcome?.date?.date.distance(to: SystemClock.wall) ?? .max, 120_000)
        }
    }

    private static let fileServer = """
        import functools, http.server, sys
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        print("ready", server.server_address[1], flush=True)
        server.serve_forever()
        """

    func testBothRelaysAnswerBehindTLSAndTheProxy() throws {
        let root = Certificates.netlab.deletingLastPathComponent().deletingLastPathComponent()
        let folder = ProcessInfo.processInfo.environment["BITGATE_VENV"] ?? root.appendingPathComponent(".venv").path
        guard FileManager.default.isExecutableFile(atPath: folder + "/bin/python") else {
            throw XCTSkip("no relays are installed: run deploy/setup, or set BITGATE_VENV")
        }
        let proxy = try Helper(netlab: "socks.py", [])
        let dialer = try dialer(.proxied(try XCTUnwrap(LocalEndpoint("127.0.0.1:\(proxy.ports[""] ?? 0)"))))
        for flavour in ["rust", "python"] {
            let relay = try Helper(
                root.appendingPathComponent("deploy/lib/relay.py").path, [flavour, "0"], python: folder + "/bin/python")
            let front = try Helper(
                netlab: "tlsfront.py", [Certificates.folder(), "\(relay.ports.values.first ?? 0)", "0:good"])
            let log = try converse("wss://relay.test:\(front.ports["good"] ?? 0)", dialer) { socket, event in
                switch event {
                case .opened: socket.send(text: Array(#"["REQ","s",{"kinds":[20000],"limit":1}]"#.utf8))
                case .message(.text(let text)) where String(decoding: text, as: UTF8.self).contains("EOSE"):
                    socket.close()
                default: break
                }
            }
            XCTAssertEqual(log.closed, .closedByUs, flavour)
            XCTAssertTrue(log.events.contains(.opened), flavour)
            XCTAssertTrue(log.messages.contains(.text(Array(#"["EOSE","s"]"#.utf8))), "\(flavour): \(log.messages)")
        }
    }
}

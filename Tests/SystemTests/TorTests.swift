import Foundation
import TestSupport
import XCTest

/// The daemon behind a real Tor network, with every network call of it written down.
final class TorTests: XCTestCase {
    private var stage: TorStage!

    override func setUpWithError() throws {
        try TorStage.requireRelays()
        stage = try TorStage()
    }

    override func tearDown() { stage = nil }

    private func assertNothingLeft(_ trace: NetworkTrace, reached: Bool = true, line: UInt = #line) {
        XCTAssertEqual(trace.violations, [], line: line)
        XCTAssertEqual(trace.connections[stage.network.socks] != nil, reached, "\(trace.connections)", line: line)
    }

    func testABootstrapIsShownStepByStepAndRelaysAreReachedOnCircuitsOfTheirOwn() throws {
        try stage.network.node("c1", "stop")
        try stage.network.node("c1", "reset")
        try stage.startDaemon()
        try stage.wait("tor is away", within: 10) {
            $0.state == "unreachable" && $0.attention.contains("tor_unreachable")
        }
        try stage.network.node("a1", "pause")
        try stage.network.node("a2", "pause")
        try stage.network.node("a3", "pause")
        try stage.network.node("c1", "start")
        try stage.wait("a bootstrap is under way", within: 40) {
            $0.state == "bootstrapping" && (5..<100).contains($0.progress)
        }
        XCTAssertTrue(try stage.statusText().contains("% after"))
        for node in ["a1", "a2", "a3"] { try stage.network.node(node, "resume") }
        try stage.wait("the way is open") { $0.state == "ready" }
        try stage.wait("both relays are connected") { $0.connected.sorted() == stage.relays.sorted() }
        let status = try XCTUnwrap(try stage.status())
        XCTAssertEqual(status.steps, status.steps.sorted())
        XCTAssertEqual(status.steps.last, 100)
        XCTAssertGreaterThan(status.steps.count, 3, "\(status.steps)")
        XCTAssertEqual(status.route["control"] as? String, "connected")
        XCTAssertEqual(status.attention.filter { $0.hasPrefix("tor") }, [])

        let circuits = try Circuits(stage.network)
        XCTAssertEqual(circuits.credentials(of: "relay").count, 2, "\(circuits)")
        XCTAssertTrue(circuits.areSeparate, "\(circuits)")

        let anna = try stage.speaker()
        anna.types("is anybody there")
        XCTAssertTrue(Programs.eventually { stage.sightings(of: "is anybody there") == [1, 1] })
        assertNothingLeft(try stage.endDaemon())
    }

    func testATorKilledInTheMiddleOfTalkLosesNothingAndNothingGoesElsewhere() throws {
        try stage.startDaemon()
        try stage.wait("both relays are connected") { $0.connected.count == 2 }
        let anna = try stage.speaker()
        // Fewer than a gateway takes from one neighbour in a minute.
        let lines = (1...8).map { "line number \($0)." }
        for (index, line) in lines.enumerated() {
            if index == 3 { try stage.network.node("c1", "kill") }
            if index == 6 {
                try stage.wait("it is noticed", within: 10) { $0.state == "unreachable" }
                try stage.network.node("c1", "start")
            }
            anna.types(line)
            usleep(500_000)
        }
        try stage.wait("the way is open again") { $0.state == "ready" && $0.connected.count == 2 }
        for line in lines {
            XCTAssertTrue(
                Programs.eventually { stage.sightings(of: line) == [1, 1] }, "\(line): \(stage.sightings(of: line))")
        }
        assertNothingLeft(try stage.endDaemon())
    }

    func testTheListOfRelaysIsRenewedThroughTorAndItsRelaysHaveCircuitsOfTheirOwn() throws {
        let folder = stage.scratch.path + "/public"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let front = try XCTUnwrap(stage.relays[0].split(separator: ":").last)
        func list(_ relays: [(name: String, places: ClosedRange<Int>)]) -> String {
            let lines = relays.flatMap { relay in
                relay.places.map { "\(relay.name)\($0).relay.test:\(front),57.\($0),10.4\n" }
            }
            return "relay url,latitude,longitude\n" + lines.joined()
        }
        let file = try stage.scratch.write(list([("old", 10...69)]), as: "installed.csv")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_780_000_000)], ofItemAtPath: file)
        try list([("old", 10...59), ("new", 641...660)]).write(
            toFile: folder + "/relays.csv", atomically: true, encoding: .utf8)
        let port = try stage.serve(folder)

        try stage.startDaemon(directory: (file, "https://relay.test:\(port)/relays.csv"))
        try stage.wait("the list is renewed") {
            $0.directory["source"] as? String == "fetched" && $0.directory["relays"] as? Int == 70
        }
        try stage.wait("five of the new list are connected, and the onion service") {
            $0.connected.count { $0.hasPrefix("wss://new") } >= 5
                && $0.connected.contains(self.stage.relays[1])
        }
        let anna = try stage.speaker()
        anna.types("by the new list")
        // One relay stands behind all five names, and passes on what each connection brings.
        try stage.wait("each of the five has it") { _ in self.stage.sightings(of: "by the new list").first == 5 }
        let circuits = try Circuits(stage.network)
        XCTAssertGreaterThanOrEqual(circuits.credentials(of: "relay").count, 6, "\(circuits)")
        XCTAssertTrue(circuits.areSeparate, "\(circuits)")
        assertNothingLeft(try stage.endDaemon())
    }

    func testAFrozenTorIsNoticedAndWaitedFor() throws {
        try stage.startDaemon()
        try stage.wait("both relays are connected") { $0.connected.count == 2 }
        try stage.network.node("c1", "pause")
        try stage.wait("it is noticed", within: 45) { ["degraded", "unreachable"].contains($0.state) }
        let anna = try stage.speaker()
        anna.types("said meanwhile")
        try stage.network.node("c1", "resume")
        try stage.wait("the way is open again") { $0.state == "ready" && $0.connected.count == 2 }
        XCTAssertTrue(Programs.eventually { stage.sightings(of: "said meanwhile") == [1, 1] })
        assertNothingLeft(try stage.endDaemon())
    }

    func testWhatIsConfiguredWronglyReachesNobody() throws {
        let nobody = "127.0.0.1:\(try TorNetwork.freePort())"
        let cookie = try scratchFile(String(repeating: "x", count: 32))
        for (socks, control, state, attention) in [
            (nobody, nil, "unreachable", "tor_unreachable"),
            // The control port does not speak SOCKS.
            (stage.network.control, nil, "unreachable", "tor_unreachable"),
            (nil, stage.network.socks, "ready", "tor_control"),
            (nil, "/nonexistent/control", "ready", "tor_control"),
        ] as [(String?, String?, String, String)] {
            try stage.startDaemon(socks: socks, control: control)
            try stage.wait("\(socks ?? "") \(control ?? "")", within: 30) {
                $0.state == state && $0.attention.contains(attention)
            }
            let trace = try stage.endDaemon()
            let places = Set([socks ?? stage.network.socks, control ?? ""])
            XCTAssertTrue(Set(trace.connections.keys).isSubset(of: places), "\(trace.connections)")
        }
        try stage.startDaemon(cookie: cookie)
        try stage.wait("a wrong cookie", within: 30) { $0.state == "ready" && $0.attention.contains("tor_control") }
        assertNothingLeft(try stage.endDaemon())
    }

    func testAClientThatReachesNobodyKeepsEverythingAndSaysWhy() throws {
        for node in ["a1", "a2", "a3"] { try stage.network.node(node, "kill") }
        defer {
            for node in ["a1", "a2", "a3"] { try? stage.network.node(node, "start") }
            // They held the onion service's announcement; started anew, it makes another at once.
            for action in ["stop", "start"] { try? stage.network.node("hs", action) }
        }
        try stage.network.node("c1", "stop")
        try stage.network.node("c1", "reset")
        try stage.network.node("c1", "start")
        try stage.startDaemon()
        try stage.wait("tor's warning is shown", within: 30) {
            $0.state == "bootstrapping" && $0.bootstrap["warning"] as? String == "Connection refused"
        }
        for node in ["a1", "a2", "a3"] { try stage.network.node(node, "start") }
        try stage.wait("tor comes up by itself") { $0.state == "ready" && $0.connected.contains(stage.relays[0]) }
        assertNothingLeft(try stage.endDaemon())
    }

    /// The witness itself: a daemon that goes directly is caught.
    func testTheTraceSeesWhatGoesAroundTor() throws {
        let file = try stage.scratch.write(
            """
            state_directory = "\(stage.scratch.path)/direct"
            control_socket = "\(stage.scratch.path)/direct.socket"
            radio.kind = "air"
            air.room = "\(stage.scratch.path)/direct-room"
            nostr.relays = ["ws://127.0.0.1:\(stage.network.onionTarget)", "wss://relay.invalid"]
            nostr.use_builtin_relays = false
            network.tor = "off"
            clock.trust_system = true
            """, as: "direct.toml")
        let trace = stage.scratch.path + "/direct-trace"
        let daemon = try NetworkTrace.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], to: trace, in: stage.scratch)
        XCTAssertTrue(Programs.eventually { daemon.errors.text.contains("a relay is connected") }, daemon.errors.text)
        XCTAssertEqual(daemon.stop().status, 0)
        let found = try NetworkTrace.ended(trace, allowing: [stage.network.socks], [stage.scratch.path]).violations
        XCTAssertTrue(found.contains { $0.hasPrefix("connect(") && $0.contains("htons(\(stage.network.onionTarget))") })
        XCTAssertTrue(found.contains { $0.hasPrefix("openat(") && $0.contains("/etc/resolv.conf") }, "\(found)")
    }

    private func scratchFile(_ text: String) throws -> String { try stage.scratch.write(text, as: "cookie") }
}

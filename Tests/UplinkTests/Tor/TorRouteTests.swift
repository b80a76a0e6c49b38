import Basics
import EventLoop
import Foundation
import XCTest

@testable import Uplink

/// The whole way against sockets: control port, SOCKS port, probes and streams.
final class TorRouteTests: XCTestCase {
    private var loop: EmbeddedLoop!
    private var tor: FakeTor!
    private var route: TorRoute!
    private let isolation = StreamIsolation(user: "relay", password: "one")

    override func setUpWithError() throws {
        loop = EmbeddedLoop()
        tor = try FakeTor(loop)
        route = try makeRoute(tor.configuration)
    }

    override func tearDown() {
        route?.stop()
        (route, tor, loop) = (nil, nil, nil)
    }

    private func makeRoute(_ configuration: TorRoute.Configuration) throws -> TorRoute {
        let route = TorRoute(
            loop: loop, configuration: configuration, trust: try TLSTrust(), time: { [loop] in loop!.now.wall })
        route.setTimeProven(true)
        return route
    }

    private func address(_ text: String) throws -> WebSocketAddress { try WebSocketAddress(parsing: text) }

    private func makeReady(with target: String? = nil) throws {
        if let target {
            let address = try address(target)
            route.targets = { [isolation] in [(address, isolation)] }
        }
        route.start()
        tor.run()
        XCTAssertEqual(route.stage, .ready)
        XCTAssertEqual(route.access, .open)
    }

    private func assertMakesNoStream(line: UInt = #line) throws {
        let address = try address("wss://relay.example.com")
        XCTAssertThrowsError(try route.makeStream(to: address, isolation: isolation), line: line) {
            guard case .routeUnavailable? = $0 as? StreamFailure else { return XCTFail("\($0)", line: line) }
        }
    }

    func testTheWayOpensAfterOneConnectionToAConfiguredRelay() throws {
        try assertMakesNoStream()
        var changes = 0
        route.onChange = { changes += 1 }
        try makeReady(with: "wss://relay.example.com")
        XCTAssertGreaterThan(changes, 0)
        XCTAssertEqual(tor.connects.map(\.host), ["relay.example.com"])
        XCTAssertEqual(tor.connects.map(\.port), [443])
        XCTAssertEqual(tor.connects.map(\.user), ["relay"])
        XCTAssertEqual(tor.connects.map(\.password), ["one"])
        XCTAssertEqual(route.report.version, "0.4.9.11")
        XCTAssertEqual(route.report.control, .connected)
        tor.run(for: .minutes(2))
        XCTAssertEqual(tor.connects.count, 1, "a proven way is not asked again")
    }

    func testWithoutAnyRelayNobodyIsAskedForAConnection() throws {
        try makeReady()
        XCTAssertEqual(tor.connects.count, 0)
    }

    func testOnlyReadingIsAskedOfTor() throws {
        try makeReady()
        tor.run(for: .minutes(2))
        XCTAssertEqual(Set(tor.asked), ["PROTOCOLINFO", "AUTHCHALLENGE", "AUTHENTICATE", "SETEVENTS", "GETINFO"])
    }

    func testTheBootstrapIsFollowedStepByStepAndNobodyIsDialledDuringIt() throws {
        tor.phase = #"NOTICE BOOTSTRAP PROGRESS=0 TAG=starting SUMMARY="Starting""#
        let target = try address("wss://relay.example.com")
        route.targets = { [isolation] in [(target, isolation)] }
        route.start()
        tor.run(for: .seconds(20))
        XCTAssertEqual(route.stage, .bootstrapping)
        tor.tell(#"650 STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=45 TAG=x SUMMARY="Asking""#)
        XCTAssertEqual(route.report.bootstrap?.progress, 45)
        XCTAssertEqual(route.report.steps.map(\.progress), [0, 45])
        try assertMakesNoStream()
        XCTAssertEqual(tor.connects.count, 0)
        tor.tell(#"650 STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done""#)
        XCTAssertEqual(route.stage, .ready)
        XCTAssertEqual(tor.connects.count, 1)
    }

    func testATorThatIsKilledClosesTheWayAtOnceAndOneThatComesBackOpensIt() throws {
        try makeReady(with: "wss://relay.example.com")
        tor.stop()
        tor.run()
        XCTAssertEqual(route.access, .waiting)
        try assertMakesNoStream()
        tor.run(for: .minutes(5))
        XCTAssertEqual(route.stage, .unreachable)
        guard case .lost(.absent)? = route?.report.control else { return XCTFail("\(route.report.control)") }
        try tor.start()
        tor.run(for: TorLimits.slowestReconnect)
        XCTAssertEqual(route.stage, .ready)
    }

    func testAFrozenTorIsNoticedWithoutAnyTraffic() throws {
        try makeReady(with: "wss://relay.example.com")
        tor.isFrozen = true
        tor.run(for: TorLimits.heartbeat + TorLimits.answerTimeout)
        XCTAssertEqual(route.access, .waiting)
        tor.run(for: UplinkLimits.greetingTimeout + .seconds(1))
        XCTAssertEqual(route.stage, .unreachable)
        tor.isFrozen = false
        tor.run(for: .minutes(1))
        XCTAssertEqual(route.stage, .ready)
    }

    func testTwoFailuresInARowPutTheWayInDoubtAndAnswersDoNot() throws {
        try makeReady(with: "wss://relay.example.com")
        let address = try address("wss://other.example.com")
        for (reply, doubts) in [(UInt8(4), false), (5, false), (1, false), (6, true)] {
            tor.reply = reply
            for attempt in 0..<2 {
                guard route.isProven else { break }
                if attempt > 0 { tor.run(for: TorLimits.failureSpacing) }
                let stream = try route.makeStream(to: address, isolation: isolation)
                stream.open()
                tor.run()
                stream.close()
            }
            XCTAssertEqual(route.access, doubts ? .waiting : .open, "reply \(reply)")
        }
        XCTAssertEqual(route.stage, .degraded)
        tor.reply = 0
        tor.run(for: .seconds(6))
        XCTAssertEqual(route.stage, .ready)
    }

    func testConnectionsThatFallSilentCountAsFailures() throws {
        try makeReady(with: "ws://abc.onion")
        let streams = try (0..<TorLimits.failuresForDoubt).map { _ in
            try route.makeStream(to: try address("ws://abc.onion"), isolation: isolation)
        }
        for stream in streams { stream.open() }
        tor.run(for: TorLimits.silence - .seconds(1))
        streams.first?.close()
        XCTAssertEqual(route.access, .open, "closed for another reason")
        let more = try route.makeStream(to: try address("ws://abc.onion"), isolation: isolation)
        more.open()
        tor.run(for: TorLimits.silence)
        tor.reply = nil
        for stream in streams + [more] { stream.close() }
        tor.run()
        XCTAssertEqual(route.access, .waiting)
    }

    func testClearTextAndThisMachineAreRefusedEvenWhenTheWayIsOpen() throws {
        try makeReady()
        for text in ["ws://relay.example.com", "ws://127.0.0.1:1", "wss://127.0.0.1:1", "wss://localhost"] {
            XCTAssertThrowsError(try route.makeStream(to: try address(text), isolation: isolation), text) {
                guard case .unsupported? = $0 as? StreamFailure else { return XCTFail("\(text): \($0)") }
            }
        }
    }

    func testAnUnreadableCookieIsNamedAndConnectionsDecide() throws {
        chmod(tor.cookiePath, 0)
        // Root reads everything, so that it has to be nobody, who has to get that far.
        chmod(tor.folder, 0o755)
        chmod(tor.controlPath, 0o777)
        let user = geteuid()
        if user == 0 { XCTAssertEqual(seteuid(65_534), 0) }
        defer { seteuid(user) }
        try makeReady(with: "wss://relay.example.com")
        XCTAssertEqual(route.report.control, .lost(.cookieForbidden(tor.cookiePath)))
    }

    func testAWrongCookieIsNamedAndConnectionsDecide() throws {
        try Data([UInt8](repeating: 9, count: 32)).write(to: URL(fileURLWithPath: tor.cookiePath))
        try makeReady(with: "wss://relay.example.com")
        XCTAssertEqual(route.report.control, .lost(.refused("it does not know its own cookie")))
        try Data([1]).write(to: URL(fileURLWithPath: tor.cookiePath))
        tor.run(for: TorLimits.slowestReconnect)
        guard case .lost(.cookieUnusable)? = route?.report.control else { return XCTFail("\(route.report.control)") }
        try FileManager.default.removeItem(atPath: tor.cookiePath)
        tor.run(for: TorLimits.slowestReconnect)
        XCTAssertEqual(route.report.control, .lost(.cookieAbsent(tor.cookiePath)))
    }

    func testAStoppedRouteHasNothingOpenAndMakesNothing() throws {
        try makeReady(with: "wss://relay.example.com")
        route.stop()
        XCTAssertEqual(loop.watchedDescriptors, [])
        XCTAssertEqual(loop.pendingTimers, 0)
        XCTAssertEqual(route.access, .closed)
        try assertMakesNoStream()
        tor.run(for: .minutes(5))
        XCTAssertEqual(loop.watchedDescriptors, [])
    }

    func testThroughASocketTheWayOpensIsLostAndComesBack() throws {
        tor = try FakeTor(loop, usesSocket: true)
        route = try makeRoute(tor.configuration)
        try makeReady(with: "wss://relay.example.com")
        XCTAssertEqual(tor.connects.map(\.host), ["relay.example.com"])
        tor.stop()
        tor.run(for: .minutes(10))
        XCTAssertEqual(route.stage, .unreachable)
        try assertMakesNoStream()
        try tor.start()
        tor.run(for: .minutes(6))
        XCTAssertEqual(route.stage, .ready)
    }

    func testAPlaceIsWrittenInOneWayHoweverItWasRead() {
        XCTAssertEqual(LocalEndpoint("unix:/run/tor/socks"), LocalEndpoint("/run/tor/socks"))
        XCTAssertEqual(LocalEndpoint("unix:/run/tor/socks")?.description, "/run/tor/socks")
        XCTAssertEqual(LocalEndpoint("[::1]:9050")?.description, "[::1]:9050")
        XCTAssertEqual(LocalEndpoint("unix:/run/tor/socks"), .torSOCKS)
    }

    func testPlacesOutsideThisMachineCannotBeNamed() {
        for text in [
            "192.0.2.1:9050", "localhost:9050", "tor.example.com:9050", "0.0.0.0:9050", "127.0.0.1", "127.0.0.1:0",
            "127.0.0.1:65536", "::1:9050", "[::1]", "", "127.0.0.1:+1", "[fe80::1]:1", "relative/path", "unix:",
            "unix:socks",
        ] {
            XCTAssertNil(IPEndpoint(loopback: text), text)
            XCTAssertNil(LocalEndpoint(text), text)
        }
        for text in ["127.0.0.1:9050", "[::1]:9050", "127.9.9.9:1"] {
            XCTAssertNotNil(IPEndpoint(loopback: text), text)
        }
        XCTAssertNotNil(LocalEndpoint("/run/tor/control"))
        XCTAssertNil(LocalEndpoint("/" + String(repeating: "x", count: 108)))
    }
}

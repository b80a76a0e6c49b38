import Basics
import Crypto
import EventLoop
import Uplink
import XCTest

@testable import Gateway
@testable import Nostr
@testable import Station

final class RelayUplinkTests: XCTestCase {
    private let loop = EmbeddedLoop()

    private func direct() throws -> any NetworkRoute {
        var network = Configuration.Network()
        network.tor = .off
        return try network.route(on: loop, resolver: SystemResolver(loop: loop), time: { [loop] in loop.now.wall })
    }

    private func uplink(_ urls: String..., route: any NetworkRoute, usesTor: Bool = false) -> RelayUplink {
        let uplink = RelayUplink(
            loop: loop, relays: RelayChoice(defaults: urls.compactMap { NostrRelayURL($0) }, directory: nil),
            route: route, usesTor: usesTor)
        route.start()
        uplink.onActivity = { [loop, unowned uplink] input in
            input(loop.now)
            while uplink.nextInput(at: loop.now) != nil {}
        }
        return uplink
    }

    private func trustClock(_ uplink: RelayUplink) {
        uplink.onActivity? { uplink.setClockTrusted(true, at: $0) }
        loop.advance(by: .seconds(1))
    }

    func testARelayThatCannotBeReachedIsShownWithTheReason() throws {
        let uplink = uplink("wss://relay.example.com", "ws://relay.onion", route: try direct())
        trustClock(uplink)
        let problems = uplink.problems.mapValues(\.description)
        XCTAssertEqual(Array(problems.values), ["relay.example.com cannot be looked up: no name servers"])
        let states = uplink.client.relays(at: loop.now)
        XCTAssertFalse(states.contains { $0.isConnected || $0.state == .dialling })
    }

    func testNothingIsDialledUntilTheWayIsOpenAndWhatWaitedGoesThen() throws {
        let route = ManualRoute()
        let uplink = uplink("wss://a.example.com", route: route, usesTor: true)
        trustClock(uplink)
        route.set(.waiting, in: loop)
        let event = try note()
        uplink.onActivity? { uplink.publish(event, geohash: "u4pruy", at: $0) }
        loop.advance(by: .minutes(10))
        XCTAssertEqual(route.dialled, [])
        XCTAssertEqual(uplink.client.gate, .waitingForRoute)
        XCTAssertEqual(uplink.client.relays(at: loop.now).map(\.pendingEvents), [1])
        route.set(.open, in: loop)
        XCTAssertEqual(route.dialled, ["a.example.com"])
        XCTAssertEqual(uplink.client.relays(at: loop.now).map(\.pendingEvents), [1], "until it is connected")
    }

    func testARelayRemovedWhileTheWayWasClosedIsNotDialledWhenItOpens() throws {
        let route = ManualRoute()
        let uplink = uplink("wss://a.example.com", "wss://b.example.com", route: route, usesTor: true)
        trustClock(uplink)
        route.set(.waiting, in: loop)
        let event = try note()
        uplink.onActivity? { uplink.publish(event, geohash: "u4pruy", at: $0) }
        let kept = try XCTUnwrap(NostrRelayURL("wss://b.example.com"))
        uplink.onActivity? { uplink.use(RelayChoice(defaults: [kept], directory: nil), at: $0) }
        XCTAssertEqual(uplink.targets.map(\.address.host), ["b.example.com"], "nor is it asked whether Tor works")
        route.set(.open, in: loop)
        loop.advance(by: .minutes(10))
        XCTAssertEqual(Set(route.dialled), ["b.example.com"])
    }

    func testEveryRelayHasCredentialsOfItsOwnAndKeepsThemOverARedial() {
        let route = ManualRoute()
        let uplink = uplink("wss://a.example.com", "wss://b.example.com", route: route, usesTor: true)
        trustClock(uplink)
        route.set(.open, in: loop)
        for _ in 0..<5 {
            loop.advance(by: .seconds(30))
            uplink.onActivity? { uplink.timeout(at: $0) }
        }
        let byHost = Dictionary(grouping: zip(route.dialled, route.isolations), by: \.0).mapValues { $0.map(\.1) }
        XCTAssertGreaterThan(byHost["a.example.com"]?.count ?? 0, 2)
        for isolations in byHost.values { XCTAssertEqual(Set(isolations).count, 1) }
        XCTAssertEqual(Set(route.isolations).count, 2)
        XCTAssertEqual(Set(uplink.targets.map(\.isolation)), Set(route.isolations), "a probe builds their circuits")
    }

    func testReasonsAreKeptForTheRelaysThatAreKnownAlone() throws {
        let uplink = uplink(route: try direct())
        trustClock(uplink)
        for round in 0..<100 {
            let relay = try XCTUnwrap(NostrRelayURL("wss://r\(round).example.com"))
            uplink.onActivity? { uplink.use(RelayChoice(defaults: [relay], directory: nil), at: $0) }
            loop.advance(by: .seconds(1))
            XCTAssertNotNil(uplink.problems[relay])
            XCTAssertLessThanOrEqual(uplink.problems.count, NostrLimits.relays)
        }
    }

    func testTheDirectWayOpensWhicheverComesFirstItsStartOrTheTime() throws {
        for startsFirst in [true, false] {
            let route = try direct()
            let uplink = RelayUplink(
                loop: loop, relays: RelayChoice(defaults: [], directory: nil), route: route, usesTor: false)
            uplink.onActivity = { [loop] input in input(loop.now) }
            if startsFirst { route.start() }
            uplink.onActivity? { uplink.setClockTrusted(true, at: $0) }
            if !startsFirst {
                XCTAssertEqual(uplink.client.gate, .closed)
                route.start()
            }
            XCTAssertEqual(uplink.client.gate, .open)
        }
    }

    func testWithTorThisMachinesOwnRelaysAreNamedAndNotDialled() throws {
        let route = ManualRoute()
        let uplink = uplink("ws://127.0.0.1:1", "ws://abc.onion", route: route, usesTor: true)
        trustClock(uplink)
        route.set(.open, in: loop)
        loop.advance(by: .seconds(1))
        XCTAssertEqual(Set(route.dialled), ["abc.onion"])
        XCTAssertEqual(uplink.skippedRelays.map(\.relay.text), ["ws://127.0.0.1:1"])
        let direct = self.uplink("ws://abc.onion", route: try direct())
        XCTAssertEqual(direct.skippedRelays.map(\.relay.text), ["ws://abc.onion"])
    }

    private func note() throws -> VerifiedEvent {
        var random = SeededRandom(seed: 1)
        let key = NostrSecretKey.generate(using: &random)
        return try XCTUnwrap(
            VerifiedEvent.signed(
                kind: 1, tags: [["g", "u4pruy"]], content: "x", createdAt: loop.now.wall.unixSeconds, key: key,
                using: &random))
    }

    func testNothingIsDialledBeforeTheClockIsTrusted() throws {
        let uplink = uplink("ws://127.0.0.1:1", route: try direct())
        uplink.onActivity? { uplink.setClockTrusted(false, at: $0) }
        loop.advance(by: .minutes(5))
        XCTAssertEqual(uplink.problems, [:])
        XCTAssertEqual(uplink.client.gate, .closed)
    }

    func testOnlyWhatRetryingCannotMendIsPermanent() {
        let permanent: [WebSocketCloseReason] = [
            .nameUnusable(""), .unsupported(""), .upgradeRefused(status: 403), .upgradeInvalid(""),
        ]
        let passing: [WebSocketCloseReason] = [
            .closedByUs, .closedByServer(code: 1_001, text: ""), .routeUnavailable(""), .connectFailed(""),
            .tlsFailed(.selfSigned), .invalidResponse(""), .openTimedOut(""),
            .connectionLost(""), .unresponsive, .protocolError, .invalidText, .messageTooLarge,
        ]
        for reason in permanent { XCTAssertTrue(RelayFailure(reason).isPermanent, "\(reason)") }
        for reason in passing { XCTAssertFalse(RelayFailure(reason).isPermanent, "\(reason)") }
    }

    func testANewDirectoryIsAskedAsFarBackAsTheOldOneWas() throws {
        func directory(_ host: String) throws -> GeoRelayDirectory {
            try GeoRelayDirectory(csv: Array("relay url,latitude,longitude\n\(host),57.6,10.4\n".utf8))
        }
        let uplink = uplink("wss://a.example.com", route: ManualRoute(), usesTor: true)
        let own = uplink.choice.defaults
        let start = loop.now.wall.unixSeconds
        let subscription = GatewaySubscription(
            id: "geo-u4pru", filter: NostrFilter(kinds: [20_000], tags: ["g": ["u4pru"]], since: start - 3_600),
            geohash: "u4pru", fallsBackToDefaultRelays: false)
        let old = try directory("old.example.com")
        uplink.onActivity? {
            uplink.use(RelayChoice(defaults: own, directory: old), at: $0)
            uplink.subscribe(subscription, at: $0)
        }
        var since: Int64? { uplink.client.subscriptions.first?.filter.since }
        let week = Interval.hours(24 * 7)
        loop.advance(by: week)
        uplink.onActivity? { uplink.use(RelayChoice(defaults: own, directory: old), at: $0) }
        XCTAssertEqual(since, start - 3_600, "nothing is asked anew where nothing changed")
        let new = try directory("new.example.com")
        uplink.onActivity? { uplink.use(RelayChoice(defaults: own, directory: new), at: $0) }
        XCTAssertEqual(since, start - 3_600 + 7 * 86_400)
        loop.advance(by: week)
        uplink.onActivity? { uplink.use(RelayChoice(defaults: own, directory: old), at: $0) }
        XCTAssertEqual(since, start - 3_600 + 14 * 86_400)
    }

    /// Every copy of a letter reaches built-in relays, which the addressee's devices ask, and the operator's own.
    func testACopyOfALetterGoesToBuiltInAndOwnRelaysAlike() throws {
        let own = ["wss://a.example.com", "wss://b.example.com"].compactMap { NostrRelayURL($0) }
        var random = SeededRandom(seed: 3)
        var reached: Set<NostrRelayURL> = []
        for _ in 0..<20 {
            let order = RelayChoice.letterOrder(RelaySet.builtIn + own, using: &random)
            XCTAssertEqual(Set(order), Set(RelaySet.builtIn + own))
            let copy = order.prefix(4)
            XCTAssertEqual(copy.filter { own.contains($0) }.count, 2)
            reached.formUnion(copy)
        }
        XCTAssertEqual(reached, Set(RelaySet.builtIn + own))
        XCTAssertEqual(RelayChoice.letterOrder([], using: &random), [])
        XCTAssertEqual(Set(RelayChoice.letterOrder(own, using: &random)), Set(own))
    }

    func testOwnRelaysCarryEverythingWhereThereIsNoDirectory() throws {
        let own = try XCTUnwrap(NostrRelayURL("ws://127.0.0.1:1"))
        XCTAssertEqual(RelayChoice(defaults: [own], directory: nil).relays(of: "u4pruy"), [own])
        XCTAssertEqual(RelayChoice(defaults: [own], directory: .empty).relays(of: "u4pruy"), [])
        let directory = try GeoRelayDirectory(
            csv: Array("relay url,latitude,longitude\nnear.example.com,57.6,10.4\n".utf8))
        XCTAssertEqual(
            RelayChoice(defaults: [own], directory: directory).relays(of: "u4pruy").map(\.text),
            ["wss://near.example.com"])
    }
}

/// A route whose state is the test's.
private final class ManualRoute: NetworkRoute {
    var onChange: (() -> Void)?
    private(set) var access = RouteAccess.closed
    var isProven: Bool { access == .open }
    private(set) var dialled: [String] = []
    private(set) var isolations: [StreamIsolation] = []

    func set(_ access: RouteAccess, in loop: EmbeddedLoop) {
        self.access = access
        onChange?()
        loop.settle()
    }

    func start() {}
    func stop() { access = .closed }
    func setTimeProven(_ isProven: Bool) {}

    func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream {
        dialled.append(address.host)
        isolations.append(isolation)
        throw .failed("nobody is there")
    }
}

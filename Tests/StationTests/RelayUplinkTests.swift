import Basics
import EventLoop
import Nostr
import Uplink
import XCTest

@testable import Station

final class RelayUplinkTests: XCTestCase {
    private let loop = EmbeddedLoop()

    private func uplink(_ urls: String..., isAllowed: Bool = true) -> RelayUplink {
        let uplink = RelayUplink(
            loop: loop, relays: RelayChoice(defaults: urls.compactMap { NostrRelayURL($0) }, directory: nil),
            isAllowed: isAllowed, dialer: LoopbackDialer(loop: loop))
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

    func testARelayThisVersionCannotReachIsShownWithWhatItNeeds() {
        let uplink = uplink("wss://relay.example.com", "ws://relay.onion")
        trustClock(uplink)
        let problems = uplink.problems.mapValues(\.description)
        XCTAssertTrue(problems.values.contains { $0.contains("TLS") }, "\(problems)")
        let states = uplink.client.relays(at: loop.now)
        XCTAssertFalse(states.contains { $0.isConnected || $0.state == .dialling })
    }

    func testNothingIsDialledWhileTorIsRequired() {
        let uplink = uplink("ws://127.0.0.1:1", isAllowed: false)
        trustClock(uplink)
        XCTAssertEqual(uplink.problems, [:])
        XCTAssertEqual(uplink.client.gate, .closed)
        XCTAssertFalse(uplink.client.relays(at: loop.now).contains { $0.state != .idle })
    }

    func testNothingIsDialledBeforeTheClockIsTrusted() {
        let uplink = uplink("ws://127.0.0.1:1")
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

import Basics
import EventLoop
import Foundation
import Nostr
import Uplink
import XCTest

@testable import Station

/// Relays that mean harm, in a process of their own, before the whole of the box's relay side. How long the loop was
/// held up is printed, not judged: the machine may be busy, and this build is not the one that is installed.
final class HostileRelayTests: XCTestCase {
    /// What each does without end, and how much of it is taken at most before the relay is left for ten minutes.
    private static let modes: [(mode: String, reason: NostrDrop, limit: UInt64)] = [
        ("foreign", .eventOutsideFilter, 20), ("json", .frameMalformed, 300), ("deep", .frameMalformed, 300),
        ("ends", .endOfStoredUnmatched, 300), ("notices", .notice, 300), ("answers", .answerUnmatched, 300),
        ("challenges", .authIgnored, 300), ("binary", .frameBinary, 300),
    ]

    private var scratch: Scratch!
    private var servers: Programs.Running?

    override func setUpWithError() throws { scratch = try Scratch() }

    override func tearDown() {
        _ = servers?.stop()
        scratch = nil
    }

    func testEachIsLeftForWhatItDoesAndTheLoopGoesOn() throws {
        let modes = HostileRelayTests.modes
        let servers = try Programs.start(
            "/usr/bin/env", ["python3", "Tests/Netlab/hostile.py"] + modes.map(\.mode), in: scratch)
        self.servers = servers
        XCTAssertTrue(
            Programs.eventually { servers.output.text.split(separator: "\n").count == modes.count },
            servers.errors.text)
        for (mode, reason, limit) in modes {
            let line = servers.output.text.split(separator: "\n").first { $0.hasPrefix("ready \(mode) ") }
            let port = try XCTUnwrap(line?.split(separator: " ").last)
            let visit = try visit("ws://127.0.0.1:\(port)")
            let status = try XCTUnwrap(visit.client.relays(at: SystemClock.now).first)
            XCTAssertEqual(status.lastFailure, .misbehaving, mode)
            XCTAssertEqual(status.state, .failed, mode)
            XCTAssertEqual(visit.client.activity[.dialled], 1, mode)
            XCTAssertGreaterThan(visit.client.drops[reason], 0, mode)
            XCTAssertLessThanOrEqual(visit.client.drops[reason], limit, mode)
            XCTAssertEqual(visit.client.activity[.signatureChecked], 0, mode)
            print(
                "hostile relay \(mode): left after \(visit.client.activity[.frameReceived]) messages, loop held up for",
                "\(Double(visit.longestWait.nanoseconds / 10_000) / 100) ms at most")
        }
    }

    /// Asks a relay for a channel until it is left, and a second more, with a timer beside it that should fire every
    /// millisecond.
    private func visit(_ url: String) throws -> (client: NostrClient, longestWait: Interval) {
        let loop = try LibeventLoop()
        var network = Configuration.Network()
        network.tor = .off
        let route = try network.route(on: loop, resolver: SystemResolver(loop: loop), time: { SystemClock.wall })
        let relay = try XCTUnwrap(NostrRelayURL(url))
        let uplink = RelayUplink(
            loop: loop, relays: RelayChoice(defaults: [relay], directory: nil), route: route, usesTor: false)
        uplink.onActivity = { [unowned uplink] input in
            input(loop.now)
            while uplink.nextInput(at: loop.now) != nil {}
        }
        var longestWait = Interval.zero
        func beat() {
            let armed = loop.now.monotonic
            loop.schedule(after: .milliseconds(1)) {
                longestWait = max(longestWait, loop.now.monotonic - armed - .milliseconds(1))
                uplink.onActivity? { uplink.timeout(at: $0) }
                beat()
            }
        }
        beat()
        var left = 200
        func look() {
            left -= 1
            let isLeft = uplink.client.failures[.misbehaving] > 0
            if isLeft || left == 0 {
                loop.schedule(after: .seconds(1)) { loop.stop() }
            } else {
                loop.schedule(after: .milliseconds(100)) { look() }
            }
        }
        look()
        route.start()
        uplink.onActivity? { now in
            uplink.setClockTrusted(true, at: now)
            let filter = NostrFilter(kinds: [20_000, 20_001], tags: ["g": ["u4pruy"]], since: 1_700_000_000)
            uplink.client.subscribe("s", filter, to: .defaultSet, at: now)
        }
        loop.run()
        uplink.stop()
        return (uplink.client, longestWait)
    }
}

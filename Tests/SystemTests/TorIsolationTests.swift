import Basics
import Crypto
import EventLoop
import Foundation
import Nostr
import TestSupport
import Uplink
import XCTest

@testable import Station

/// Who shares a circuit, by tor's own account: the relay client of the daemon on a real Tor network.
final class TorIsolationTests: XCTestCase {
    private var stage: TorStage!
    private var loop: LibeventLoop!
    private var random = SeededRandom(seed: 11)

    override func setUpWithError() throws {
        try TorStage.requireRelays()
        stage = try TorStage()
        loop = try LibeventLoop()
    }

    override func tearDown() { (stage, loop) = (nil, nil) }

    /// Turns the loop until `condition` holds; false after half a minute.
    private func turn(_ uplink: RelayUplink, until condition: @escaping () -> Bool) -> Bool {
        var isMet = false
        var left = 300
        func check() {
            uplink.onActivity? { uplink.timeout(at: $0) }
            isMet = condition()
            left -= 1
            if isMet || left == 0 { loop.stop() } else { loop.schedule(after: .milliseconds(100)) { check() } }
        }
        check()
        if !isMet { loop.run() }
        return isMet
    }

    func testEveryRelayAndEveryIsolatedPublicationHasACircuitOfItsOwn() throws {
        let network = stage.network
        let route = TorRoute(
            loop: loop,
            configuration: TorRoute.Configuration(
                socks: try XCTUnwrap(LocalEndpoint(network.socks)), control: LocalEndpoint(network.control),
                cookie: network.cookie), trust: try TLSTrust(.file(stage.authority)), time: { [loop] in loop!.now.wall }
        )
        let relays = stage.relays.compactMap { NostrRelayURL($0) }
        let uplink = RelayUplink(
            loop: loop, relays: RelayChoice(defaults: relays, directory: nil), route: route, usesTor: true)
        uplink.onActivity = { [loop, unowned uplink] input in
            input(loop!.now)
            while uplink.nextInput(at: loop!.now) != nil {}
        }
        route.targets = { [unowned uplink] in uplink.targets }
        route.start()
        uplink.onActivity? { uplink.setClockTrusted(true, at: $0) }
        XCTAssertTrue(turn(uplink) { uplink.client.relays(at: self.loop.now).filter(\.isConnected).count == 2 })
        XCTAssertEqual(route.stage, .ready)

        let key = NostrSecretKey.generate(using: &random)
        for number in 1...4 {
            let event = try XCTUnwrap(
                VerifiedEvent.signed(
                    kind: 20_000, tags: [["g", "u4pruy"]], content: "apart \(number)",
                    createdAt: loop.now.wall.unixSeconds, key: key, using: &random))
            uplink.onActivity? { _ = uplink.client.publishIsolated(event, to: [relays[0]], at: $0) }
        }
        let scene = stage
        XCTAssertTrue(turn(uplink) { (1...4).allSatisfy { scene?.sightings(of: "apart \($0)").first == 1 } })

        let circuits = try Circuits(network)
        XCTAssertTrue(circuits.areSeparate, "\(circuits)")
        XCTAssertEqual(circuits.credentials(of: "publication").count, 4, "\(circuits)")
        XCTAssertGreaterThanOrEqual(circuits.credentials(of: "relay").count, 2, "\(circuits)")
        uplink.stop()
    }
}

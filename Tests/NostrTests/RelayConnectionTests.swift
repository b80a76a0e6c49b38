import Basics
import XCTest

@testable import Nostr

/// Chapter 05 §6.1–6.3: dialling, backoff, permanent failures and their decay, liveness, generations.
final class RelayConnectionTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB

    private func connected(_ relays: [NostrRelayURL], seed: UInt64 = 1) -> ClientHarness {
        let harness = ClientHarness(defaults: relays, seed: seed)
        for relay in relays { harness.open(relay) }
        return harness
    }

    func testWantedRelaysAreDialledWhenTheGateOpensAndNotBefore() {
        let harness = ClientHarness(defaults: [a], gate: .closed)
        harness.subscribe("s", to: b)
        harness.advance(.hours(1))
        XCTAssertTrue(harness.dials.isEmpty)
        harness.perform { $0.setGate(.waitingForRoute, at: $1) }
        harness.advance(.hours(1))
        XCTAssertTrue(harness.dials.isEmpty)
        harness.perform { $0.setGate(.open, at: $1) }
        XCTAssertEqual(harness.dials.map(\.relay), [a, b])
        harness.open(a)
        XCTAssertEqual(harness.status(a)?.state, .connected)
        XCTAssertEqual(harness.states.count, 1)
    }

    func testRedialsComeAfter1To256SecondsWithinAFifthAndThenStop() {
        for seed in 0..<20 as Range<UInt64> {
            let harness = ClientHarness(defaults: [a], seed: seed)
            var delays: [Double] = []
            for _ in 0..<9 {
                harness.fail(a)
                let failedAt = harness.now.monotonic
                delays.append((harness.advanceToDial(a) - failedAt).seconds)
            }
            for (delay, base) in zip(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256] as [Double]) {
                XCTAssertGreaterThanOrEqual(delay, base * 0.8 - 1e-6)
                XCTAssertLessThanOrEqual(delay, base * 1.2 + 1e-6)
            }
            XCTAssertGreaterThan(Set(delays.map { $0 / $0.rounded() }).count, 1, "there is jitter")
            harness.dials.removeAll()
            harness.fail(a)
            XCTAssertEqual(harness.status(a)?.attempts, 10)
            XCTAssertEqual(harness.status(a)?.state, .failed)
            harness.advance(.seconds(599))
            XCTAssertTrue(harness.dials.isEmpty, "failed relays are left alone")
            harness.advance(.seconds(61))
            XCTAssertEqual(harness.dials.count, 1, "the reconcile tick dials once after the decay")
            harness.fail(a)
            harness.dials.removeAll()
            harness.advance(.seconds(599))
            XCTAssertTrue(harness.dials.isEmpty)
        }
    }

    func testUnusableNamesAndRefusedUpgradesFailAtOnceAndDecay() {
        for failure in [RelayFailure.nameUnusable, .upgradeRefused] {
            let harness = ClientHarness(defaults: [a])
            harness.dials.removeAll()
            harness.fail(a, failure)
            XCTAssertEqual(harness.status(a)?.state, .failed)
            XCTAssertEqual(harness.status(a)?.lastFailure, failure)
            harness.perform { $0.publish(harness.event(), to: [a], at: $1) }
            harness.subscribe("s", to: a)
            harness.advance(.seconds(590))
            XCTAssertTrue(harness.dials.isEmpty, "no trigger dials a failed relay")
            harness.advance(.seconds(70))
            XCTAssertEqual(harness.dials.count, 1)
            harness.open(a)
            XCTAssertEqual(harness.status(a)?.attempts, 0)
            XCTAssertNil(harness.status(a)?.lastFailure)
            XCTAssertEqual(harness.status(a)?.failures[failure], 1)
        }
    }

    func testARedialInBackoffIsNotHastenedByOtherTriggers() {
        let harness = ClientHarness(defaults: [a])
        for _ in 0..<6 {
            harness.fail(a)
            _ = harness.advanceToDial(a)
        }
        harness.fail(a)
        harness.dials.removeAll()
        XCTAssertEqual(harness.status(a)?.state, .waiting)
        harness.advance(.seconds(50))
        harness.perform { $0.publish(harness.event(), to: [a], at: $1) }
        XCTAssertTrue(harness.dials.isEmpty, "64 s are due")
    }

    func testAProxyThatIsDownBurnsNobodysAttempts() {
        let harness = ClientHarness(defaults: [a, b])
        var delays: [Int64] = []
        for _ in 0..<8 {
            let failedAt = harness.now.monotonic
            harness.fail(a, .routeUnavailable)
            harness.fail(b, .routeUnavailable)
            delays.append((harness.advanceToDial(a, b) - failedAt).milliseconds / 1_000)
        }
        XCTAssertEqual(delays, [5, 10, 20, 40, 80, 160, 300, 300])
        XCTAssertEqual(harness.status(a)?.attempts, 0)
        XCTAssertEqual(harness.status(a)?.lastFailure, .routeUnavailable)
    }

    func testARouteThatComesBackIsUsedAtOnce() {
        let harness = ClientHarness(defaults: [a])
        for _ in 0..<6 {
            harness.fail(a, .routeUnavailable)
            _ = harness.advanceToDial(a)
        }
        harness.fail(a, .routeUnavailable)
        harness.perform { $0.setGate(.waitingForRoute, at: $1) }
        harness.dials.removeAll()
        harness.perform { $0.setGate(.open, at: $1) }
        XCTAssertEqual(harness.dials.map(\.relay), [a])
    }

    func testARedialThatNobodyWantsAnyMoreIsForgotten() {
        let harness = ClientHarness()
        harness.subscribe("s", to: a)
        harness.fail(a)
        harness.perform { $0.unsubscribe("s", at: $1) }
        harness.dials.removeAll()
        harness.advance(.seconds(10))
        XCTAssertTrue(harness.dials.isEmpty)
        harness.advance(.seconds(60))
        XCTAssertNil(harness.status(a))
    }

    func testADialThatIsNeverAnsweredEnds() {
        let harness = ClientHarness(defaults: [a])
        harness.advance(.seconds(179))
        XCTAssertTrue(harness.closes.isEmpty)
        harness.advance(.seconds(1))
        XCTAssertEqual(harness.closes.count, 1)
        XCTAssertEqual(harness.status(a)?.lastFailure, .timedOut)
    }

    func testSilenceIsAskedAfter45SecondsAndEndsTheConnection30SecondsLater() {
        let harness = connected([a])
        harness.answersPings = false
        harness.advance(.seconds(44))
        XCTAssertTrue(harness.pings.isEmpty)
        harness.advance(.seconds(1))
        XCTAssertEqual(harness.pings, [a])
        harness.advance(.seconds(29))
        if let socket = harness.socket(a) { harness.perform { $0.heard(on: socket, at: $1) } }
        harness.advance(.seconds(44))
        XCTAssertEqual(harness.pings.count, 1)
        harness.advance(.seconds(1))
        XCTAssertEqual(harness.pings.count, 2)
        XCTAssertTrue(harness.closes.isEmpty)
        harness.advance(.seconds(30))
        XCTAssertEqual(harness.closes.map(\.relay), [a])
        XCTAssertEqual(harness.status(a)?.lastFailure, .unresponsive)
        XCTAssertEqual(harness.states.last?.isConnected, false)
    }

    func testAnyMessageCountsAsLife() {
        let harness = connected([a])
        for _ in 0..<10 {
            harness.advance(.seconds(40))
            harness.say("[\"NOTICE\",\"x\"]", from: a)
        }
        XCTAssertTrue(harness.pings.isEmpty)
    }

    func testReportsOfReplacedSocketsAreIgnored() throws {
        let harness = connected([a])
        let old = try XCTUnwrap(harness.socket(a))
        harness.reconnect()
        let new = try XCTUnwrap(harness.socket(a))
        XCTAssertNotEqual(old, new)
        harness.perform { client, now in
            client.relayClosed(old, .closedByRelay, at: now)
            client.relayOpened(old, at: now)
            client.received([UInt8]("[\"NOTICE\",\"x\"]".utf8), on: old, at: now)
            client.heard(on: old, at: now)
        }
        XCTAssertEqual(harness.status(a)?.state, .dialling)
        XCTAssertEqual(harness.client.drops[.staleSocket], 4)
        XCTAssertEqual(harness.client.drops[.notice], 0)
        harness.open(a)
        XCTAssertEqual(harness.status(a)?.state, .connected)
    }

    func testARelayThatAcceptsAndHangsUpAtOnceIsBackedOffFromToo() {
        let harness = ClientHarness(defaults: [a])
        for attempt in 1...9 {
            harness.open(a)
            harness.fail(a, .closedByRelay)
            XCTAssertEqual(harness.status(a)?.attempts, attempt)
            _ = harness.advanceToDial(a)
        }
        harness.open(a)
        harness.advance(.seconds(30))
        harness.fail(a, .closedByRelay)
        XCTAssertEqual(harness.status(a)?.attempts, 1, "one that held proves itself")
    }

    func testClosingTheGateVoidsRedialsAndClosesSockets() {
        let harness = connected([a, b])
        harness.fail(b)
        harness.dials.removeAll()
        harness.perform { $0.setGate(.closed, at: $1) }
        XCTAssertEqual(harness.closes.map(\.code), [1_001])
        harness.advance(.hours(2))
        XCTAssertTrue(harness.dials.isEmpty)
        harness.perform { $0.setGate(.open, at: $1) }
        XCTAssertEqual(harness.dials.map(\.relay), [a, b])
    }

    func testLosingTheRouteKeepsOpenSocketsButDialsNothing() {
        let harness = connected([a, b])
        harness.dials.removeAll()
        harness.perform { $0.setGate(.waitingForRoute, at: $1) }
        XCTAssertTrue(harness.closes.isEmpty)
        harness.fail(a, .closedByRelay)
        harness.advance(.seconds(100))
        XCTAssertTrue(harness.dials.isEmpty)
        XCTAssertEqual(harness.status(b)?.state, .connected)
    }

    func testRelaysTakenOffTheListAreClosedAndForgottenEvenWhileDialling() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(b)
        harness.perform { $0.publish(harness.event(), to: [a], at: $1) }
        harness.perform { $0.setDefaultRelays([b], at: $1) }
        XCTAssertEqual(harness.closes.map(\.relay), [a])
        XCTAssertNil(harness.status(a))
        XCTAssertEqual(harness.client.drops[.publicationRelayRemoved], 1)
        harness.dials.removeAll()
        harness.advance(.hours(1))
        XCTAssertFalse(harness.dials.contains { $0.relay == a })
        harness.perform { $0.setDefaultRelays([b, a], at: $1) }
        XCTAssertEqual(harness.dials.last?.relay, a, "added relays are dialled at once")
        harness.open(a)
        XCTAssertEqual(harness.takeSent(to: a), [], "what it was owed is gone")
    }

    func testConnectionsNobodyWantsAnyMoreAreLetGo() {
        let harness = ClientHarness()
        harness.perform { $0.publish(harness.event(), to: [a], at: $1) }
        harness.open(a)
        XCTAssertEqual(harness.takeSent(to: a).count, 1)
        harness.advance(.seconds(59))
        XCTAssertEqual(harness.status(a)?.state, .connected)
        harness.advance(.seconds(130))
        XCTAssertEqual(harness.closes.map(\.relay), [a])
        XCTAssertNil(harness.status(a))
    }

    func testAddressesAgainstThePolicyAreNeverDialled() {
        let onion = ClientHarness.url("ws://abcdefgh.onion")
        let plain = ClientHarness.url("ws://plain.example.com")
        for (reachesOnions, reached) in [(true, [onion, a]), (false, [a])] {
            let harness = ClientHarness(
                defaults: [onion, plain, a], configuration: .init(reachesOnions: reachesOnions))
            XCTAssertEqual(harness.dials.map(\.relay), reached, "without Tor an onion is skipped, not resolved")
            harness.perform { $0.publish(harness.event(), to: [plain], at: $1) }
            XCTAssertEqual(harness.client.drops[.publicationWithoutRelay], 1)
            harness.advance(.hours(1))
            XCTAssertEqual(Set(harness.dials.map(\.relay)), Set(reached))
        }
    }

    func testTheNumberOfRelaysIsBounded() {
        let harness = ClientHarness()
        let many = (0..<100).map { ClientHarness.url("wss://r\($0).example.com") }
        harness.perform { $0.publish(harness.event(), to: many, at: $1) }
        XCTAssertEqual(harness.dials.count, NostrLimits.relays)
        XCTAssertEqual(harness.client.relays(at: harness.now).count, NostrLimits.relays)
    }

    func testTheOperatorsRetryDialsWhateverFailedAndLeavesWhatIsConnected() {
        for failure in RelayFailure.allCases {
            let harness = ClientHarness(defaults: [a, b])
            harness.fail(a, failure)
            harness.open(b)
            harness.dials.removeAll()
            harness.perform { $0.retry(at: $1) }
            XCTAssertEqual(harness.dials.map(\.relay), [a], "\(failure)")
            XCTAssertTrue(harness.closes.isEmpty)
            harness.fail(a)
            XCTAssertEqual(harness.status(a)?.attempts, 1, "from the beginning")
        }
    }

    func testAnOutageOfTheRouteTakesTheFailuresOfRelaysWithIt() {
        for (isOut, seconds) in [(false, 29), (true, 30)] {
            for failure in RelayFailure.allCases where failure != .routeUnavailable {
                let harness = ClientHarness(defaults: [a, b])
                harness.fail(a, failure)
                harness.fail(b, .timedOut)
                for _ in 0..<7 {
                    _ = harness.advanceToDial(b)
                    harness.fail(b, .timedOut)
                }
                harness.perform { $0.setGate(.waitingForRoute, at: $1) }
                harness.advance(.seconds(seconds))
                harness.dials.removeAll()
                harness.perform { $0.setGate(.open, at: $1) }
                XCTAssertEqual(harness.dials.contains { $0.relay == b }, isOut)
                guard isOut, failure.isPermanent else { continue }
                XCTAssertEqual(harness.dials.contains { $0.relay == a }, failure != .misbehaving, "\(failure)")
            }
        }
    }

    func testARouteThatComesAndGoesWithFailingRelaysDoesNotHurryTheirRedials() {
        let harness = connected([a])
        let dead = ClientHarness.url("wss://dead.example.com")
        harness.perform { $0.setDefaultRelays([a, dead], at: $1) }
        harness.fail(dead)
        harness.dials.removeAll()
        for _ in 0..<120 {
            harness.perform { $0.setGate(.waitingForRoute, at: $1) }
            harness.advance(.seconds(2))
            harness.perform { $0.setGate(.open, at: $1) }
            harness.advance(.seconds(3))
            if harness.socket(dead) != nil { harness.fail(dead) }
        }
        XCTAssertLessThan(harness.dials.filter { $0.relay == dead }.count, 12)
    }
}

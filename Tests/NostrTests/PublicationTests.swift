import Basics
import XCTest

@testable import Nostr

/// Chapter 05 §6.4, §6.8 and §6.11: the pending queue, confirmed publication, pace.
final class PublicationTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB

    private func connected(_ relays: NostrRelayURL...) -> ClientHarness {
        let harness = ClientHarness(defaults: relays)
        for relay in relays { harness.open(relay) }
        return harness
    }

    private func frame(_ event: VerifiedEvent) -> String {
        "[\"EVENT\",\(String(decoding: event.json(), as: UTF8.self))]"
    }

    // MARK: Queue

    func testEventsWaitForTheirRelaysAndGoOldestFirstBeforeTheSubscriptions() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        harness.subscribe("s", to: b)
        let events = (0..<3).map { harness.event("\($0)") }
        for event in events { harness.perform { $0.publish(event, to: [a, b], at: $1) } }
        XCTAssertEqual(harness.takeSent(to: a), events.map(frame))
        XCTAssertEqual(harness.takeSent(to: b), [])
        harness.open(b)
        let sent = harness.takeSent(to: b)
        XCTAssertEqual(Array(sent.prefix(3)), events.map(frame))
        XCTAssertTrue(sent.last?.hasPrefix("[\"REQ\"") ?? false)
        harness.fail(b, .closedByRelay)
        _ = harness.advanceToDial(b)
        harness.open(b)
        XCTAssertEqual(harness.takeSent(to: b).count, 1, "nothing is sent twice")
    }

    func testARelayOutsideTheDefaultSetIsDialledForAnEvent() {
        let harness = ClientHarness()
        harness.perform { $0.publish(harness.event(), to: [a], at: $1) }
        XCTAssertEqual(harness.dials.map(\.relay), [a])
        harness.open(a)
        XCTAssertEqual(harness.takeSent().count, 1)
    }

    func testTheOldestOf201WaitingEventsIsDropped() {
        let harness = ClientHarness(defaults: [a])
        let events = (0..<201).map { harness.event("\($0)", kind: 1) }
        for event in events { harness.perform { $0.publish(event, to: [a], at: $1) } }
        XCTAssertEqual(harness.client.drops[.publicationOverflow], 1)
        XCTAssertEqual(harness.status(a)?.pendingEvents, 200)
        harness.open(a)
        harness.advance(.seconds(80))
        XCTAssertEqual(harness.takeSent(), events.dropFirst().map(frame))
    }

    func testTheQueueIsBoundedInBytesToo() {
        let harness = ClientHarness(defaults: [a])
        let text = String(repeating: "x", count: 200_000)
        for _ in 0..<30 { harness.perform { $0.publish(harness.event(text, kind: 1), to: [a], at: $1) } }
        XCTAssertLessThanOrEqual((harness.status(a)?.pendingEvents ?? 0) * 200_000, NostrLimits.pendingBytes)
        XCTAssertGreaterThan(harness.client.drops[.publicationOverflow], 0)
        let huge = harness.event(String(repeating: "x", count: 262_144), kind: 1)
        harness.perform { $0.publish(huge, to: [a], at: $1) }
        XCTAssertEqual(harness.client.drops[.publicationOversized], 1)
    }

    func testQueuedEphemeralEventsOlderThanAMinuteAreNotSentAnyMore() {
        let harness = ClientHarness(defaults: [a])
        let old = harness.event("old")
        let stored = harness.event("stored", kind: 1)
        harness.perform { $0.publish(old, to: [a], at: $1) }
        harness.perform { $0.publish(stored, to: [a], at: $1) }
        harness.advance(.seconds(30))
        let young = harness.event("young")
        harness.perform { $0.publish(young, to: [a], at: $1) }
        harness.advance(.seconds(31))
        harness.open(a)
        XCTAssertEqual(harness.takeSent(), [stored, young].map(frame))
        XCTAssertEqual(harness.client.drops[.publicationTooOld], 1)
    }

    func testAnOldEphemeralEventGoesToARelayThatIsConnected() {
        let harness = connected(a)
        let event = harness.event(age: 300)
        harness.perform { $0.publish(event, to: [a], at: $1) }
        XCTAssertEqual(harness.takeSent(), [frame(event)], "that relay may take it; the owner knows the age")
    }

    func testNothingIsQueuedWhileTheGateIsClosedButBehindAnUnreadyRouteItIs() {
        let harness = ClientHarness(defaults: [a], gate: .closed)
        harness.perform { $0.publish(harness.event(), to: [a], at: $1) }
        XCTAssertEqual(harness.client.drops[.publicationGateClosed], 1)
        harness.perform { $0.setGate(.waitingForRoute, at: $1) }
        harness.perform { $0.publish(harness.event(), to: [a], at: $1) }
        harness.perform { $0.setGate(.open, at: $1) }
        harness.open(a)
        XCTAssertEqual(harness.takeSent().count, 1)
    }

    // MARK: Pace

    func testNoMoreThanThreeEventsASecondAreBegunAndEachGoesToAllItsRelaysAtOnce() {
        let harness = connected(a, b)
        for index in 0..<6 { harness.perform { $0.publish(harness.event("\(index)"), to: [a, b], at: $1) } }
        let start = harness.now.monotonic
        harness.advance(.seconds(5))
        for relay in [a, b] {
            let times = harness.sent.filter { $0.relay == relay }.map { ($0.at - start).milliseconds }
            XCTAssertEqual(times, [0, 0, 0, 1_000, 1_000, 1_000])
        }
    }

    func testTheLimitIsForTheWholeProcessAndARelayThatWasAwayIsNotFlooded() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        for index in 0..<9 {
            harness.perform { $0.publish(harness.event("\(index)", kind: 1), to: [index < 6 ? a : b, b], at: $1) }
        }
        harness.advance(.seconds(10))
        XCTAssertEqual(harness.takeSent(to: a).count, 6)
        harness.open(b)
        harness.perform { $0.publish(harness.event("last", kind: 1), to: [a], at: $1) }
        harness.advance(.seconds(10))
        let sent = harness.sent.map(\.at)
        XCTAssertEqual(sent.count, 10)
        for start in sent {
            XCTAssertLessThanOrEqual(
                harness.sent.count { $0.relay == b && $0.at >= start && $0.at <= start + .seconds(1) }, 3)
        }
    }

    func testIsolatedPublicationsShareTheLimit() {
        let harness = connected(a)
        for index in 0..<3 { harness.perform { $0.publish(harness.event("\(index)"), to: [a], at: $1) } }
        let client = harness.client
        let drop = harness.event("drop", kind: 1_401)
        let id = client.publishIsolated(drop, to: [b], at: harness.now)
        guard case .dial(let socket)? = client.nextEffect() else { return XCTFail("dialled") }
        client.relayOpened(socket, at: harness.now)
        XCTAssertNil(client.nextEffect())
        let due = harness.now.monotonic + .seconds(1) + Interval(nanoseconds: 1)
        XCTAssertEqual(client.nextDeadline, due)
        harness.move(to: due)
        client.timeout(at: harness.now)
        XCTAssertEqual(client.nextEffect(), .send([UInt8](frame(drop).utf8), on: socket))
        client.received([UInt8]("[\"OK\",\"\(drop.id.hex)\",true,\"\"]".utf8), on: socket, at: harness.now)
        XCTAssertEqual(client.nextEffect(), .close(socket, code: 1_001))
        XCTAssertEqual(client.nextEffect(), .published(id, .accepted(by: b)))
    }

    func testWhatWaitedForItsTurnWhenARelayLeftIsTooOldWhenItReturns() {
        let harness = connected(a)
        for index in 0..<4 { harness.perform { $0.publish(harness.event("\(index)"), to: [a], at: $1) } }
        XCTAssertEqual(harness.takeSent().count, 3)
        harness.fail(a, .closedByRelay)
        harness.advance(.seconds(62))
        harness.open(a)
        XCTAssertEqual(harness.takeSent(), [])
        XCTAssertEqual(harness.client.drops[.publicationTooOld], 1)
    }

    func testARelayThatSaysRateLimitedIsLeftInPeaceForLongerEachTime() {
        let harness = connected(a)
        var pauses: [Int64] = []
        for _ in 0..<7 {
            harness.advance(.seconds(3))
            let event = harness.event(kind: 1)
            harness.perform { $0.publish(event, to: [a], at: $1) }
            harness.sent.removeAll()
            let limitedAt = harness.now.monotonic
            harness.answer(event, false, "rate-limited: slow down", from: a)
            harness.perform { $0.publish(harness.event(kind: 1), to: [a], at: $1) }
            XCTAssertTrue(harness.sent.isEmpty)
            harness.advance(.seconds(700))
            pauses.append(((harness.sent.first?.at ?? .zero) - limitedAt).milliseconds / 1_000)
        }
        XCTAssertEqual(pauses, [30, 60, 120, 240, 480, 600, 600])
        XCTAssertEqual(harness.status(a)?.answers[.rateLimited], 7)
    }

    // MARK: Confirmed

    func testTheFirstAcceptanceIsTheOutcomeAndComesOnce() {
        let harness = connected(a, b)
        let event = harness.event(kind: 1_401)
        var id: PublicationID?
        harness.perform { id = $0.publishConfirmed(event, to: [a, b], at: $1) }
        XCTAssertEqual(harness.sent.map(\.relay), [a, b])
        XCTAssertTrue(harness.published.isEmpty, "a write is no success")
        harness.answer(event, false, "blocked: no", from: a)
        XCTAssertTrue(harness.published.isEmpty)
        harness.answer(event, true, from: b)
        harness.answer(event, true, from: b)
        harness.advance(.seconds(20))
        XCTAssertEqual(harness.published.map(\.id), [id])
        XCTAssertEqual(harness.published.first?.outcome, .accepted(by: b))
        XCTAssertEqual(harness.status(a)?.answers[.blocked], 1)
        XCTAssertEqual(harness.status(b)?.answers[.accepted], 1, "what it says again is no answer")
        XCTAssertEqual(harness.status(b)?.lastAccepted != nil, true)
    }

    /// What `status` shows of a relay is what it did for us, not what it says it did.
    func testAnOKForWhatWasNeverWrittenEarnsARelayNothing() {
        let harness = connected(a, b)
        let event = harness.event()
        harness.perform { $0.publish(event, to: [self.b], at: $1) }
        harness.answer(event, true, from: a)
        harness.answer(harness.event("other"), true, from: b)
        for relay in [a, b] {
            XCTAssertNil(harness.status(relay)?.lastAccepted)
            XCTAssertEqual(harness.status(relay)?.answers[.accepted], 0)
        }
        XCTAssertEqual(harness.client.answers[.accepted], 0)
        XCTAssertEqual(harness.client.drops[.answerUnmatched], 2)
        harness.answer(event, true, from: b)
        XCTAssertNotNil(harness.status(b)?.lastAccepted)
    }

    /// Chapter 05 §6.8: success is a true flag, whatever is said behind it.
    func testADuplicateIsSuccessByItsFlagOnly() {
        let expected: [(flag: Bool, outcome: PublicationOutcome, counted: RelayAnswer)] = [
            (true, .accepted(by: a), .duplicate), (false, .failed(.rejected), .other),
        ]
        for (flag, outcome, counted) in expected {
            let harness = connected(a)
            let event = harness.event(kind: 1_401)
            harness.perform { _ = $0.publishConfirmed(event, to: [a], at: $1) }
            harness.answer(event, flag, "duplicate: exists", from: a)
            XCTAssertEqual(harness.published.first?.outcome, outcome)
            XCTAssertEqual(harness.status(a)?.answers[counted], 1)
            XCTAssertEqual(harness.status(a)?.lastAccepted != nil, flag)
        }
    }

    func testItFailsWhenEveryRelayRefusesOrGoes() {
        let harness = connected(a, b)
        let event = harness.event(kind: 1_401)
        harness.perform { _ = $0.publishConfirmed(event, to: [a, b], at: $1) }
        harness.answer(event, false, "invalid: bad", from: a)
        harness.fail(b, .closedByRelay)
        XCTAssertEqual(harness.published.map(\.outcome), [.failed(.rejected)])
    }

    func testItFailsAfter10SecondsAndLateAnswersAreIgnored() {
        let harness = connected(a)
        let event = harness.event(kind: 1_401)
        harness.perform { _ = $0.publishConfirmed(event, to: [a], at: $1) }
        harness.say("[\"OK\",\"\",false,\"invalid: no id\"]", from: a)
        harness.advance(.milliseconds(9_999))
        XCTAssertTrue(harness.published.isEmpty)
        harness.advance(.milliseconds(1))
        XCTAssertEqual(harness.published.map(\.outcome), [.failed(.timedOut)])
        harness.answer(event, true, from: a)
        XCTAssertEqual(harness.published.count, 1)
        XCTAssertEqual(harness.client.drops[.answerUnmatched], 1, "the answer without an id")
    }

    func testItFailsAtOnceWithoutAConnectedRelayOrAnOpenGateAndQueuesNothing() {
        let harness = ClientHarness(defaults: [a])
        harness.perform { _ = $0.publishConfirmed(harness.event(kind: 1_401), to: [a], at: $1) }
        XCTAssertEqual(harness.published.map(\.outcome), [.failed(.notConnected)])
        harness.open(a)
        XCTAssertEqual(harness.takeSent(), [])
        harness.perform { $0.setGate(.waitingForRoute, at: $1) }
        harness.perform { _ = $0.publishConfirmed(harness.event(kind: 1_401), to: [a], at: $1) }
        XCTAssertEqual(harness.published.last?.outcome, .failed(.notConnected))
        XCTAssertEqual(harness.status(a)?.pendingEvents, 0)
    }

    func testANewerAttemptFailsTheOlderOneOfTheSameEvent() {
        let harness = connected(a)
        let event = harness.event(kind: 1_401)
        var ids: [PublicationID] = []
        for _ in 0..<2 { harness.perform { ids.append($0.publishConfirmed(event, to: [a], at: $1)) } }
        XCTAssertEqual(harness.published.map(\.id), [ids[0]])
        XCTAssertEqual(harness.published.first?.outcome, .failed(.superseded))
        harness.answer(event, true, from: a)
        XCTAssertEqual(harness.published.map(\.id), ids)
        XCTAssertEqual(harness.published.last?.outcome, .accepted(by: a))
    }

    func testAnAnswerToWhatWasNotWrittenYetIsNoAnswer() {
        let harness = connected(a)
        for index in 0..<3 { harness.perform { $0.publish(harness.event("\(index)"), to: [a], at: $1) } }
        let event = harness.event(kind: 1_401)
        harness.perform { _ = $0.publishConfirmed(event, to: [a], at: $1) }
        harness.answer(event, true, from: a)
        XCTAssertTrue(harness.published.isEmpty)
        harness.advance(.milliseconds(1_001))
        harness.answer(event, true, from: a)
        XCTAssertEqual(harness.published.count, 1)
    }

    func testAnAnswerFromARelayNotAskedIsNoAnswer() {
        let harness = connected(a, b)
        let event = harness.event(kind: 1_401)
        harness.perform { _ = $0.publishConfirmed(event, to: [a], at: $1) }
        harness.answer(event, true, from: b)
        XCTAssertTrue(harness.published.isEmpty)
    }

    func testWhatWasNotWrittenWhenTheRelayLeftIsNotSentWhenItReturns() {
        let harness = connected(a, b)
        for index in 0..<3 { harness.perform { $0.publish(harness.event("\(index)"), to: [a, b], at: $1) } }
        let event = harness.event(kind: 1_401)
        harness.perform { _ = $0.publishConfirmed(event, to: [a, b], at: $1) }
        harness.fail(a, .closedByRelay)
        harness.sent.removeAll()
        _ = harness.advanceToDial(a)
        harness.open(a)
        XCTAssertEqual(harness.takeSent(to: a), [])
    }

    func testTheNumberOfUnconfirmedPublicationsIsBounded() {
        let harness = connected(a)
        for index in 0..<33 {
            harness.perform { _ = $0.publishConfirmed(harness.event("\(index)", kind: 1_401), to: [a], at: $1) }
        }
        XCTAssertEqual(harness.published.map(\.outcome), [.failed(.busy)])
        harness.advance(.seconds(11))
        XCTAssertEqual(harness.published.count, 33)
        XCTAssertEqual(harness.status(a)?.pendingEvents, 0)
    }

    func testClosingTheGateFailsWhatWaits() {
        let harness = connected(a)
        harness.perform { _ = $0.publishConfirmed(harness.event(kind: 1_401), to: [a], at: $1) }
        harness.perform { $0.setGate(.closed, at: $1) }
        XCTAssertEqual(harness.published.map(\.outcome), [.failed(.rejected)])
    }
}

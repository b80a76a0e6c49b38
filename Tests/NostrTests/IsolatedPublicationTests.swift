import Basics
import XCTest

@testable import Nostr

/// Publications that must not be linkable to the rest of the box's traffic: one socket each, used for nothing else.
final class IsolatedPublicationTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB

    private struct Run {
        let client: NostrClient
        var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_700_000_000_000))
        var effects: [NostrEffect] = []
        var id: PublicationID?

        init() {
            client = NostrClient(random: SeededRandom(seed: 1))
            client.setGate(.open, at: now)
        }

        mutating func drain() {
            effects.removeAll()
            while let effect = client.nextEffect() { effects.append(effect) }
        }

        var dialled: [NostrSocketID] {
            effects.compactMap { if case .dial(let socket) = $0 { socket } else { nil } }
        }
        var closed: [NostrSocketID] {
            effects.compactMap { if case .close(let socket, _) = $0 { socket } else { nil } }
        }
        var outcomes: [PublicationOutcome] {
            effects.compactMap { if case .published(_, let outcome) = $0 { outcome } else { nil } }
        }
    }

    private func drop() -> VerifiedEvent { ClientHarness().event(kind: EventKind.courierDrop) }

    /// The event on its way to both relays, each of which is being dialled.
    private func publishing(_ event: VerifiedEvent) -> Run {
        var run = Run()
        run.id = run.client.publishIsolated(event, to: [a, b], at: run.now)
        run.drain()
        return run
    }

    private func ok(_ event: VerifiedEvent, _ isAccepted: Bool, _ message: String = "") -> [UInt8] {
        [UInt8]("[\"OK\",\"\(event.id.hex)\",\(isAccepted),\"\(message)\"]".utf8)
    }

    func testEachRelayIsDialledApartAndGivenItThoughAnotherSaysFirstThatItTookIt() {
        let event = drop()
        var run = publishing(event)
        let sockets = run.dialled
        XCTAssertEqual(sockets.map(\.relay), [a, b])
        XCTAssertEqual(sockets.map(\.isolation), [run.id, run.id])
        XCTAssertEqual(Set(sockets.map(\.generation)).count, 2)
        run.client.relayOpened(sockets[0], at: run.now)
        run.drain()
        let frame = [UInt8]("[\"EVENT\",".utf8) + event.json() + [UInt8]("]".utf8)
        XCTAssertEqual(run.effects, [.send(frame, on: sockets[0])])
        run.client.received(ok(event, true), on: sockets[0], at: run.now)
        run.drain()
        XCTAssertEqual(run.closed, [sockets[0]])
        XCTAssertEqual(run.outcomes, [])
        run.client.relayOpened(sockets[1], at: run.now)
        run.drain()
        XCTAssertEqual(run.effects, [.send(frame, on: sockets[1])], "the first may have lied")
        run.client.received(ok(event, true), on: sockets[1], at: run.now)
        run.drain()
        XCTAssertEqual(run.closed, [sockets[1]])
        XCTAssertEqual(run.outcomes, [.accepted(by: a)], "once")
        run.client.relayOpened(sockets[1], at: run.now)
        run.client.received(ok(event, true), on: sockets[1], at: run.now)
        run.client.relayClosed(sockets[1], .unreachable, at: run.now)
        run.drain()
        XCTAssertEqual(run.effects, [], "reports of closed sockets are ignored")
        XCTAssertEqual(run.client.relays(at: run.now).count, 0, "no lasting connection is made")
    }

    func testARelayThatDoesNotAnswerHoldsUpWhatAnotherTookForTenSecondsOnly() {
        let event = drop()
        var run = publishing(event)
        let sockets = run.dialled
        run.client.relayOpened(sockets[0], at: run.now)
        run.client.received(ok(event, true), on: sockets[0], at: run.now)
        run.now = run.now.advanced(by: .milliseconds(9_999))
        run.client.timeout(at: run.now)
        run.drain()
        XCTAssertEqual(run.outcomes, [])
        run.now = run.now.advanced(by: .milliseconds(1))
        run.client.timeout(at: run.now)
        run.drain()
        XCTAssertEqual(run.closed, [sockets[1]])
        XCTAssertEqual(run.outcomes, [.accepted(by: a)])
    }

    func testAnEventIsChargedOnceWhateverTheFirstRelayAnswered() {
        for isAccepted in [true, false] {
            var run = Run()
            // As many as may be written in a second.
            for _ in 0..<3 {
                let event = drop()
                _ = run.client.publishIsolated(event, to: [a, b], at: run.now)
                run.drain()
                for socket in run.dialled {
                    run.client.relayOpened(socket, at: run.now)
                    run.drain()
                    let frame = [UInt8]("[\"EVENT\",".utf8) + event.json() + [UInt8]("]".utf8)
                    XCTAssertTrue(run.effects.contains(.send(frame, on: socket)))
                    run.client.received(ok(event, isAccepted), on: socket, at: run.now)
                }
                run.drain()
                XCTAssertEqual(run.outcomes.count, 1)
            }
        }
    }

    func testItFailsWhenEveryRelayRefusesOrCannotBeReached() {
        let event = drop()
        var run = publishing(event)
        let sockets = run.dialled
        run.client.relayClosed(sockets[0], .unreachable, at: run.now)
        run.client.relayOpened(sockets[1], at: run.now)
        run.client.received(ok(event, false, "blocked: kind"), on: sockets[1], at: run.now)
        run.drain()
        XCTAssertEqual(run.closed, [sockets[1]])
        XCTAssertEqual(run.outcomes, [.failed(.rejected)])
    }

    func testItFailsTenSecondsAfterTheWriteOrWhenTheDialIsNotAnswered() {
        var run = Run()
        _ = run.client.publishIsolated(drop(), to: [a], at: run.now)
        run.drain()
        run.client.relayOpened(run.dialled[0], at: run.now)
        run.now = run.now.advanced(by: .milliseconds(9_999))
        run.client.timeout(at: run.now)
        run.drain()
        XCTAssertEqual(run.outcomes, [])
        run.now = run.now.advanced(by: .milliseconds(1))
        run.client.timeout(at: run.now)
        run.drain()
        XCTAssertEqual(run.outcomes, [.failed(.timedOut)])

        _ = run.client.publishIsolated(drop(), to: [a], at: run.now)
        run.now = run.now.advanced(by: .seconds(180))
        run.client.timeout(at: run.now)
        run.drain()
        XCTAssertEqual(run.outcomes, [.failed(.timedOut)])
        XCTAssertEqual(run.closed.count, 1)
    }

    func testARelayThatTalksInsteadOfAnsweringIsLeft() {
        var run = Run()
        let event = drop()
        _ = run.client.publishIsolated(event, to: [a], at: run.now)
        run.drain()
        let socket = run.dialled[0]
        run.client.received(ok(event, true), on: socket, at: run.now)
        run.drain()
        XCTAssertEqual(run.effects, [], "nothing was written yet")
        run.client.relayOpened(socket, at: run.now)
        for _ in 0..<16 { run.client.received([UInt8]("[\"NOTICE\",\"hi\"]".utf8), on: socket, at: run.now) }
        run.drain()
        XCTAssertEqual(run.outcomes, [.failed(.rejected)])
    }

    func testBoundsAndTheGate() {
        var run = Run()
        let many = (0..<6).map { ClientHarness.url("wss://r\($0).example.com") }
        for _ in 0..<5 { _ = run.client.publishIsolated(drop(), to: many, at: run.now) }
        run.drain()
        XCTAssertEqual(run.dialled.count, 16)
        XCTAssertEqual(run.outcomes, [.failed(.busy)])
        run.client.setGate(.closed, at: run.now)
        run.drain()
        XCTAssertEqual(run.closed.count, 16)
        XCTAssertEqual(run.outcomes, Array(repeating: .failed(.rejected), count: 4))
        _ = run.client.publishIsolated(drop(), to: many, at: run.now)
        run.drain()
        XCTAssertEqual(run.effects.count, 1)
        XCTAssertEqual(run.outcomes, [.failed(.notConnected)])
    }
}

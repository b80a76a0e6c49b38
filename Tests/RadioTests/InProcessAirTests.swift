import Basics
import EventLoop
import Wire
import XCTest

@testable import Radio

final class InProcessAirTests: XCTestCase {
    private let loop = EmbeddedLoop()
    private lazy var air = InProcessAir(loop: loop)

    private func makeNode(_ name: String, mtu: Int = 517, impairment: Impairment = .none) -> (InProcessPort, LinkLog) {
        let port = air.makePort(name: name, mtu: mtu, impairment: impairment)
        let log = LinkLog()
        port.delegate = log
        port.start()
        return (port, log)
    }

    func testLinkedRadiosExchangeFramesInOrder() throws {
        let (a, logA) = makeNode("a")
        let (b, logB) = makeNode("b", mtu: 185)
        air.link(a, to: b)
        air.link(a, to: b)
        XCTAssertEqual(logA.events, [], "no call comes from inside link")
        loop.settle()
        XCTAssertEqual(logA.ups.map(\.role), [.outgoing])
        XCTAssertEqual(logB.ups.map(\.role), [.incoming])
        XCTAssertEqual(logA.ups.map(\.limit), [182])
        let toB = try XCTUnwrap(logA.link(.outgoing))
        let toA = try XCTUnwrap(logB.link(.incoming))
        XCTAssertNotEqual(toA, toB)
        for fill in 0..<20 { a.send(makeFrame(UInt8(fill)), on: toB, priority: .high) }
        b.send(makeFrame(99), on: toA, priority: .high)
        XCTAssertEqual(logB.frames, [])
        XCTAssertEqual(a.snapshot.map(\.queuedBytes), [20 * 22])
        loop.settle()
        XCTAssertEqual(logB.frames, (0..<20).map { makeFrame(UInt8($0)) })
        XCTAssertEqual(logA.frames, [makeFrame(99)])
        a.send(makeFrame(1, size: 183), on: toB, priority: .high)
        a.send(makeFrame(1), on: toA, priority: .high)
        loop.settle()
        XCTAssertEqual(logB.frames.count, 20)
        XCTAssertEqual(a.drops[.frameTooLong], 1)
    }

    func testUnlinkEndsBothDirectionsAndWhatIsUnderway() throws {
        let (a, logA) = makeNode("a")
        let (b, logB) = makeNode("b", impairment: Impairment(delay: .seconds(1) ... .seconds(1)))
        air.link(a, to: b)
        air.link(b, to: a)
        loop.settle()
        a.send(makeFrame(1), on: try XCTUnwrap(logA.link(.outgoing)), priority: .high)
        air.unlink(b, a)
        loop.advance(by: .seconds(2))
        XCTAssertEqual(logA.downs.count, 2)
        XCTAssertEqual(logB.downs.count, 2)
        XCTAssertEqual(logB.frames, [])
        XCTAssertEqual(a.snapshot, [])
        air.link(a, to: b)
        loop.settle()
        XCTAssertNotNil(logA.link(.outgoing))
        XCTAssertEqual(Set(logA.ups.map(\.link)).count, 3, "every connection has an ID of its own")
    }

    func testStopAndStartBringLinksDownAndUpAgain() {
        let (a, logA) = makeNode("a")
        let (b, logB) = makeNode("b")
        air.link(a, to: b)
        loop.settle()
        a.stop()
        loop.settle()
        XCTAssertEqual(logA.downs, [], "no call follows stop")
        XCTAssertEqual(logB.downs.count, 1)
        a.start()
        loop.settle()
        XCTAssertNotNil(logA.link(.outgoing))
        XCTAssertNotNil(logB.link(.incoming))
        withExtendedLifetime(b) {}
    }

    func testClosedLinkStaysClosedUntilLinkedAgain() throws {
        let (a, logA) = makeNode("a")
        let (b, logB) = makeNode("b")
        air.link(a, to: b)
        loop.settle()
        b.close(try XCTUnwrap(logB.link(.incoming)))
        XCTAssertEqual(logB.downs, [])
        loop.advance(by: .hours(1))
        XCTAssertEqual(logA.downs.count, 1)
        XCTAssertEqual(logB.downs.count, 1)
        air.link(a, to: b)
        loop.settle()
        XCTAssertEqual(logA.ups.count, 2)
    }

    func testLinkClosedBeforeItCameUpIsNeverReported() {
        let (a, logA) = makeNode("a")
        let (b, logB) = makeNode("b")
        air.link(a, to: b)
        air.unlink(a, b)
        loop.settle()
        XCTAssertEqual(logA.events + logB.events, [])
    }

    func testForgottenRadioTakesItsLinksAlong() {
        let (a, logA) = makeNode("a")
        func visit() {
            let (b, _) = makeNode("b")
            air.link(a, to: b)
            air.link(b, to: a)
            loop.settle()
            XCTAssertEqual(logA.ups.count, 2)
        }
        visit()
        loop.settle()
        XCTAssertEqual(logA.downs.count, 2)
        XCTAssertTrue(loop.isIdle)
    }

    func testFramesUnderwayAreBounded() throws {
        let (a, logA) = makeNode("a")
        let (b, logB) = makeNode("b", impairment: Impairment(delay: .seconds(60) ... .seconds(60)))
        air.link(a, to: b)
        loop.settle()
        let link = try XCTUnwrap(logA.link(.outgoing))
        for _ in 0..<2_001 { a.send(makeFrame(1, size: 500), on: link, priority: .high) }
        XCTAssertEqual(a.drops[.queueOverflow], 1)
        loop.advance(by: .seconds(60))
        XCTAssertEqual(logB.frames.count, 2_000)
    }

    /// A ring that passes every frame on, with loss and delay: the whole history must depend on the seeds alone.
    private func runRing(seed: UInt64) -> [String] {
        let loop = EmbeddedLoop()
        let air = InProcessAir(loop: loop)
        var history: [String] = []
        var nodes: [(port: InProcessPort, log: LinkLog)] = []
        for index in 0..<30 {
            let impairment = Impairment(
                loss: 0.1, delay: .milliseconds(5) ... .milliseconds(50), seed: seed &+ UInt64(index))
            let port = air.makePort(name: "n\(index)", impairment: impairment)
            let log = LinkLog()
            port.delegate = log
            log.onEvent = { [weak port, weak log] event in
                guard case .frame(let bytes, let link) = event, let port, let log else { return }
                history.append("\(loop.now.monotonic.nanoseconds) n\(index) \(bytes[14]) \(link)")
                guard bytes[2] > 0 else { return }
                var next = bytes
                next[2] -= 1
                for up in log.ups where up.link != link { port.send(next, on: up.link, priority: .high) }
            }
            port.start()
            nodes.append((port, log))
        }
        for index in 0..<30 { air.link(nodes[index].port, to: nodes[(index + 1) % 30].port) }
        loop.settle()
        for (index, node) in nodes.enumerated() {
            for up in node.log.ups { node.port.send(makeFrame(UInt8(index)), on: up.link, priority: .high) }
        }
        loop.run()
        history.append("lost \(nodes.reduce(0) { $0 + $1.port.drops[.impairedLoss] })")
        return history
    }

    func testSameSeedSameHistory() {
        let first = runRing(seed: 42)
        XCTAssertGreaterThan(first.count, 300)
        XCTAssertEqual(first, runRing(seed: 42))
        XCTAssertNotEqual(first, runRing(seed: 43))
    }
}

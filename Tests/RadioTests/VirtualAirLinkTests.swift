import Basics
import EventLoop
import Glibc
import Wire
import XCTest

@testable import Radio

final class VirtualAirLinkTests: XCTestCase {
    private func greetedCentral(
        _ world: AirWorld, of name: String, as own: String = "raw", mtu: Int = 517
    ) throws -> RawPeer {
        let peer = try world.dial(name)
        peer.send("AIR1 \(own) \(mtu)")
        world.pump()
        XCTAssertTrue(peer.receiveText()?.hasPrefix("AIR1 \(name) ") ?? false)
        return peer
    }

    func testTwoNodesLinkInBothDirectionsAndExchangeFrames() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let b = try world.join("b")
        world.advance(by: .milliseconds(1_100))
        XCTAssertEqual(Set(a.log.ups.map(\.role)), [.outgoing, .incoming])
        XCTAssertEqual(Set(b.log.ups.map(\.role)), [.outgoing, .incoming])
        XCTAssertTrue((a.log.ups + b.log.ups).allSatisfy { $0.limit == 512 })
        for (role, fill) in [(LinkRole.outgoing, UInt8(1)), (.incoming, 2)] {
            a.air.send(makeFrame(fill), on: try XCTUnwrap(a.log.link(role)), priority: .high)
        }
        world.pump()
        XCTAssertEqual(Set(b.log.frames), [makeFrame(1), makeFrame(2)])
        XCTAssertEqual(b.air.snapshot.map(\.remoteName), ["a", "a"])
        XCTAssertEqual(b.air.snapshot.compactMap(\.lastReceived).count, 2)
        XCTAssertEqual(a.air.snapshot.compactMap(\.lastSent).count, 2)
        world.advance(by: .seconds(30))
        XCTAssertEqual(a.log.ups.count, 2, "one link per role and neighbour")
    }

    func testTheyMeetOnTheRealLoopToo() throws {
        let world = try AirWorld()
        let loop = try LibeventLoop()
        loop.schedule(after: .seconds(20)) {
            XCTFail("they never met")
            loop.stop()
        }
        func make(_ name: String) throws -> (VirtualAir, LinkLog) {
            let air = VirtualAir(
                loop: loop,
                configuration: VirtualAirConfiguration(room: world.room, name: try XCTUnwrap(AirName(name))))
            let log = LinkLog()
            air.delegate = log
            try air.start()
            return (air, log)
        }
        let (a, logA) = try make("a")
        let (b, logB) = try make("b")
        logB.onEvent = { if case .up(let link, .outgoing, _) = $0 { b.send(makeFrame(5), on: link, priority: .high) } }
        logA.onEvent = {
            guard case .frame(let bytes, let link) = $0 else { return }
            XCTAssertEqual(bytes, makeFrame(5))
            a.close(link)
        }
        logB.onEvent = { [onUp = logB.onEvent] event in
            onUp?(event)
            if case .down = event { loop.stop() }
        }
        loop.run()
        XCTAssertEqual(logA.frames.count, 1)
        a.stop()
        b.stop()
        XCTAssertEqual(world.files, [])
    }

    func testForeignCentralIsGreetedAndHeard() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peer = try world.dial("a")
        world.pump()
        XCTAssertEqual(peer.receive(), .nothing, "the central speaks first")
        peer.send("AIR1 phone-1 185")
        world.pump()
        XCTAssertEqual(peer.receiveText(), "AIR1 a 517")
        let link = try XCTUnwrap(a.log.link(.incoming))
        XCTAssertEqual(a.log.events, [.up(link, .incoming, 182)])
        peer.send(makeFrame(9))
        a.air.send(makeFrame(8), on: link, priority: .high)
        world.pump()
        XCTAssertEqual(a.log.frames, [makeFrame(9)])
        XCTAssertEqual(peer.drain(), [makeFrame(8)])
        XCTAssertEqual(a.air.snapshot.map(\.remoteName), ["phone-1"])
    }

    func testForeignPeripheralIsDialledAndHeard() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "phone")
        let a = try world.join("a", mtu: 185)
        let peer = RawPeer(try XCTUnwrap(try listening.accept()))
        XCTAssertEqual(peer.receiveText(), "AIR1 a 185")
        XCTAssertEqual(a.log.events, [])
        peer.send("AIR1 phone 517")
        world.pump()
        let link = try XCTUnwrap(a.log.link(.outgoing))
        XCTAssertEqual(a.log.events, [.up(link, .outgoing, 182)])
        peer.send(makeFrame(9))
        a.air.send(makeFrame(8), on: link, priority: .high)
        world.pump()
        XCTAssertEqual(a.log.frames, [makeFrame(9)])
        XCTAssertEqual(peer.drain(), [makeFrame(8)])
    }

    func testNotifiedFramesMaySpanMessagesAndWrittenOnesMayNot() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "phone")
        let a = try world.join("a")
        let peripheral = RawPeer(try XCTUnwrap(try listening.accept()))
        peripheral.send("AIR1 phone 517")
        let central = try greetedCentral(world, of: "a")
        let frame = makeFrame(5, size: 300)
        for peer in [peripheral, central] {
            peer.send(Array(frame.prefix(200)))
            peer.send(Array(frame.dropFirst(200)))
        }
        world.pump()
        XCTAssertEqual(a.log.frames.filter { $0 == frame }.count, 1)
        XCTAssertEqual(a.log.frames.map(\.count).sorted(), [100, 200, 300])
    }

    func testNotificationThatIsNoFrameIsCountedAndTheLinkStays() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "phone")
        let a = try world.join("a")
        let peer = RawPeer(try XCTUnwrap(try listening.accept()))
        peer.send("AIR1 phone 517")
        peer.send([UInt8](repeating: 0x99, count: 100))
        peer.send(makeFrame(1))
        world.pump()
        XCTAssertEqual(a.log.frames, [makeFrame(1)])
        XCTAssertGreaterThan(a.air.drops[.undecodableStream], 0)
        XCTAssertEqual(a.log.downs, [])
    }

    func testLinkClosedFromADeliveryGetsNoFurtherFrameOfTheSameMessage() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "phone")
        let a = try world.join("a")
        a.log.onEvent = { if case .frame(_, let link) = $0 { a.air.close(link) } }
        let peer = RawPeer(try XCTUnwrap(try listening.accept()))
        peer.send("AIR1 phone 517")
        peer.send(makeFrame(1) + makeFrame(2))
        world.pump()
        XCTAssertEqual(a.log.frames, [makeFrame(1)])
    }

    func testFrameLimitIsTheSmallerMTULessThreeAndNeverAbove512() throws {
        for (ours, theirs, limit) in [
            (517, 517, 512), (517, 515, 512), (516, 517, 512), (514, 517, 511), (23, 517, 20), (517, 23, 20),
        ] {
            let world = try AirWorld()
            let a = try world.join("a", mtu: ours)
            let peer = try world.dial("a")
            peer.send("AIR1 raw \(theirs)")
            world.pump()
            XCTAssertEqual(a.log.ups.map(\.limit), [limit], "\(ours) and \(theirs)")
        }
    }

    func testAnythingButTheExactGreetingClosesTheLink() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let bad = [
            "", "AIR1", "AIR1 b", "AIR1 b 22", "AIR1 b 518", "AIR1 b 0517", "AIR1 b +517", "AIR1 b 517 ", "AIR1  b 517",
            "AIR1 B 517", "AIR1 b_c 517", "AIR2 b 517", "air1 b 517", "AIR1 b 517\n", "AIR1 b 5170", "AIR1 b ５１７",
            "AIR1 \(String(repeating: "x", count: 33)) 517", String(repeating: "A", count: 600),
        ]
        for text in bad {
            let peer = try world.dial("a")
            peer.send(text)
            world.pump()
            XCTAssertEqual(peer.receive(), .end, "\(text) must close the link")
        }
        XCTAssertEqual(a.air.drops[.badHello], UInt64(bad.count))
        XCTAssertEqual(a.log.events, [])
    }

    func testPeripheralGreetingUnderAnotherNameIsRefused() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "phone")
        let a = try world.join("a")
        let peer = RawPeer(try XCTUnwrap(try listening.accept()))
        peer.send("AIR1 other 517")
        world.pump()
        XCTAssertEqual(a.log.events, [])
        XCTAssertEqual(a.air.drops[.badHello], 1)
        XCTAssertEqual(peer.drain(), [Array("AIR1 a 517".utf8)])
        XCTAssertEqual(peer.receive(), .end)
    }

    func testLinkWithoutGreetingIsClosedAfterFiveSeconds() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "mute")
        let a = try world.join("a")
        let central = try world.dial("a")
        let peripheral = RawPeer(try XCTUnwrap(try listening.accept()))
        world.pump()
        XCTAssertEqual(peripheral.drain().count, 1)
        world.advance(by: .milliseconds(4_950))
        XCTAssertEqual(central.receive(), .nothing)
        XCTAssertEqual(peripheral.receive(), .nothing)
        world.advance(by: .milliseconds(50))
        XCTAssertEqual(central.receive(), .end)
        XCTAssertEqual(peripheral.receive(), .end)
        XCTAssertEqual(a.air.drops[.helloTimeout], 2)
        XCTAssertEqual(a.log.events, [])
        world.advance(by: .milliseconds(14_950))
        XCTAssertNil(try listening.accept(), "a neighbour that timed out is left alone for 15 s")
        world.advance(by: .milliseconds(100))
        XCTAssertNotNil(try listening.accept())
    }

    func testOversizeAndEmptyMessagesAreDroppedAndCountedAndTheLinkStays() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peer = try greetedCentral(world, of: "a", mtu: 100)
        peer.send([UInt8](repeating: 1, count: 98))
        peer.send([])
        peer.send([UInt8](repeating: 1, count: 3_000))
        peer.send([UInt8](repeating: 2, count: 97))
        world.pump()
        XCTAssertEqual(a.log.frames, [[UInt8](repeating: 2, count: 97)])
        XCTAssertEqual(a.air.drops[.valueTooLong], 2)
        XCTAssertEqual(a.air.drops[.valueEmpty], 1)
        XCTAssertEqual(a.log.downs, [])
    }

    func testEveryFrameIsOneMessageNeverSplitNorCoalesced() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peer = try greetedCentral(world, of: "a")
        let link = try XCTUnwrap(a.log.link(.incoming))
        let frames = [makeFrame(1), makeFrame(2, size: 512), makeFrame(3, size: 23), [7]]
        for frame in frames { a.air.send(frame, on: link, priority: .high) }
        a.air.send(makeFrame(4, size: 513), on: link, priority: .high)
        a.air.send([], on: link, priority: .high)
        world.pump()
        XCTAssertEqual(peer.drain(), frames)
        XCTAssertEqual(a.air.drops[.frameTooLong], 2)
    }

    func testFullSocketHoldsFramesBackAndUrgentOnesOvertake() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peer = try greetedCentral(world, of: "a")
        let link = try XCTUnwrap(a.log.link(.incoming))
        for index in 0..<40 { a.air.send(makeFrame(UInt8(index), size: 500), on: link, priority: .file) }
        let held = try XCTUnwrap(a.air.snapshot.first)
        XCTAssertGreaterThanOrEqual(held.queuedFrames, 30, "only a few frames may leave the queue early")
        XCTAssertEqual(held.queuedBytes, held.queuedFrames * 500)
        a.air.send(makeFrame(200), on: link, priority: .fragment(total: 9))
        a.air.send(makeFrame(201), on: link, priority: .fragment(total: 2))
        a.air.send(makeFrame(202), on: link, priority: .high)
        a.air.send(makeFrame(203), on: link, priority: .fragment(total: 2))
        var received: [[UInt8]] = []
        for _ in 0..<100 {
            received += peer.drain()
            world.pump()
        }
        let sentEarly = 40 - held.queuedFrames
        let expected =
            (0..<sentEarly).map { makeFrame(UInt8($0), size: 500) }
            + [202, 201, 203, 200].map { makeFrame($0) }
            + (sentEarly..<40).map { makeFrame(UInt8($0), size: 500) }
        XCTAssertEqual(received, expected)
        XCTAssertEqual(a.air.snapshot.map(\.queuedFrames), [0])
    }

    func testQueueOverflowTrimsTheLeastUrgentAndIsCounted() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peer = try greetedCentral(world, of: "a")
        let link = try XCTUnwrap(a.log.link(.incoming))
        for _ in 0..<2_100 { a.air.send(makeFrame(1, size: 500), on: link, priority: .file) }
        let full = try XCTUnwrap(a.air.snapshot.first)
        XCTAssertEqual(full.queuedBytes, 1_000_000)
        let early = 2_100 - full.queuedFrames - Int(a.air.drops[.queueOverflow])
        XCTAssertTrue((1...20).contains(early))
        a.air.send(makeFrame(2, size: 500), on: link, priority: .high)
        XCTAssertEqual(a.air.snapshot.first?.queuedBytes, 1_000_000)
        var received: [[UInt8]] = []
        for _ in 0..<2_100 {
            let messages = peer.drain()
            if messages.isEmpty { break }
            received += messages
            world.pump()
        }
        XCTAssertEqual(received.count, early + 2_000)
        XCTAssertEqual(received[early], makeFrame(2, size: 500))
    }

    func testClosingReportsTheLinkDownLaterAndLeavesTheNeighbourAloneForAMinute() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "phone")
        let a = try world.join("a")
        let peer = RawPeer(try XCTUnwrap(try listening.accept()))
        peer.send("AIR1 phone 517")
        world.pump()
        let link = try XCTUnwrap(a.log.link(.outgoing))
        a.air.close(link)
        XCTAssertEqual(a.log.downs, [], "no call comes from inside close")
        a.air.send(makeFrame(1), on: link, priority: .high)
        world.pump()
        XCTAssertEqual(a.log.downs, [link])
        _ = peer.drain()
        XCTAssertEqual(peer.receive(), .end)
        world.advance(by: .milliseconds(59_900))
        XCTAssertNil(try listening.accept())
        world.advance(by: .milliseconds(1_200))
        XCTAssertNotNil(try listening.accept())
    }

    func testLastFramesOfANeighbourThatClosesAreDelivered() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peer = try greetedCentral(world, of: "a")
        let link = try XCTUnwrap(a.log.link(.incoming))
        peer.send(makeFrame(1))
        peer.send(makeFrame(2))
        peer.socket.close()
        a.air.send(makeFrame(3), on: link, priority: .high)
        XCTAssertEqual(a.log.downs, [], "no call comes from inside send")
        world.pump()
        XCTAssertEqual(
            a.log.events.dropFirst(), [.frame(makeFrame(1), link), .frame(makeFrame(2), link), .down(link)])
    }

    func testHalfClosedNeighbourIsGone() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peer = try greetedCentral(world, of: "a")
        XCTAssertEqual(shutdown(peer.socket.raw, Int32(SHUT_WR)), 0)
        world.pump()
        XCTAssertEqual(a.log.downs.count, 1)
    }

    func testNeighbourThatLeavesIsDialledAgainAfterThreeSeconds() throws {
        let world = try AirWorld()
        let listening = try world.listen(as: "phone")
        let a = try world.join("a")
        let peer = RawPeer(try XCTUnwrap(try listening.accept()))
        peer.send("AIR1 phone 517")
        world.pump()
        peer.socket.close()
        world.pump()
        XCTAssertEqual(a.log.downs.count, 1)
        world.advance(by: .milliseconds(2_900))
        XCTAssertNil(try listening.accept())
        world.advance(by: .milliseconds(200))
        XCTAssertNotNil(try listening.accept())
    }

    func testDelegateMayCloseSendAndStopFromItsCalls() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        a.log.onEvent = { event in
            switch event {
            case .up(let link, _, _): a.air.send(makeFrame(1), on: link, priority: .high)
            case .frame(_, let link): a.air.close(link)
            case .down: a.air.stop()
            }
        }
        let peer = try world.dial("a")
        peer.send("AIR1 raw 517")
        peer.send(makeFrame(2))
        peer.send(makeFrame(3))
        world.pump()
        XCTAssertEqual(peer.drain(), [Array("AIR1 a 517".utf8), makeFrame(1)])
        XCTAssertEqual(peer.receive(), .end)
        XCTAssertEqual(a.log.frames, [makeFrame(2)], "nothing is delivered on a link that was closed")
        XCTAssertEqual(a.log.downs.count, 1)
        XCTAssertEqual(world.files, [])
    }
}

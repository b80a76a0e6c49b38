import Basics
import EventLoop
import Glibc
import Wire
import XCTest

@testable import Radio

final class VirtualAirRoomTests: XCTestCase {
    func testRoomIsMadeAndLeftAsItWas() throws {
        let world = try AirWorld()
        rmdir(world.room)
        let a = try world.join("a")
        XCTAssertEqual(world.files, ["a.air"], "nothing but the socket")
        let b = try world.join("b")
        world.advance(by: .seconds(2))
        a.air.stop()
        world.pump()
        XCTAssertEqual(world.files, ["b.air"])
        XCTAssertEqual(b.log.downs.count, 2)
        XCTAssertEqual(a.log.downs, [], "no call follows stop")
        b.air.stop()
        XCTAssertEqual(world.files, [])
        XCTAssertTrue(world.loop.isIdle)
        XCTAssertEqual(world.loop.watchedDescriptors, [])
    }

    func testStoppedNodeMayStartAgain() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        a.air.stop()
        a.air.stop()
        try a.air.start()
        try a.air.start()
        let b = try world.join("b")
        XCTAssertNotNil(b.log.link(.outgoing))
    }

    func testForgottenNodeCleansUpAfterItself() throws {
        let world = try AirWorld()
        func visit() throws {
            let air = VirtualAir(
                loop: world.loop,
                configuration: VirtualAirConfiguration(room: world.room, name: try XCTUnwrap(AirName("ghost"))))
            try air.start()
            XCTAssertEqual(world.files, ["ghost.air"])
        }
        try visit()
        XCTAssertEqual(world.files, [])
        XCTAssertTrue(world.loop.isIdle)
    }

    func testNameOfALiveNodeIsTakenAndThatOfADeadOneIsNot() throws {
        let world = try AirWorld()
        let dead = try world.listen(as: "a")
        dead.close()
        XCTAssertEqual(world.files, ["a.air"])
        let a = try world.join("a")
        let second = try world.makeAir("a")
        XCTAssertThrowsError(try second.air.start()) {
            XCTAssertEqual($0 as? VirtualAirError, AirName("a").map(VirtualAirError.nameTaken))
        }
        second.air.stop()
        XCTAssertEqual(world.files, ["a.air"], "a refused node removes nothing")
        let b = try world.join("b")
        XCTAssertNotNil(b.log.link(.outgoing))
        withExtendedLifetime(a) {}
    }

    func testStaleSocketIsRemovedOnTheSecondRefusalOnly() throws {
        let world = try AirWorld()
        try world.listen(as: "dead").close()
        let a = try world.join("a")
        XCTAssertEqual(world.files, ["a.air", "dead.air"], "it may be between bind and listen")
        world.advance(by: .milliseconds(3_100))
        XCTAssertEqual(world.files, ["a.air"])
        XCTAssertEqual(a.air.drops[.staleSocket], 1)
        XCTAssertEqual(a.air.drops[.connectFailed], 2)
    }

    func testSocketThatReplacedAStaleOneIsNotRemovedInItsPlace() throws {
        let world = try AirWorld()
        try world.listen(as: "dead").close()
        let a = try world.join("a")
        // Keeps the old inode from being reused.
        XCTAssertEqual(rename(world.room + "/dead.air", world.room + "/old"), 0)
        try world.listen(as: "dead").close()
        world.advance(by: .milliseconds(3_100))
        XCTAssertEqual(world.files, ["a.air", "dead.air", "old"])
        XCTAssertEqual(a.air.drops[.staleSocket], 0)
    }

    func testFilesThatAreNoNodesAreLeftAlone() throws {
        let world = try AirWorld()
        let names = [
            "notes.txt", "UPPER.air", ".hidden.air", "under_score.air", ".air",
            String(repeating: "x", count: 33) + ".air",
        ]
        for name in names { FileDescriptor(owning: open(world.room + "/" + name, O_CREAT | O_CLOEXEC, 0o600)).close() }
        let a = try world.join("a")
        world.advance(by: .seconds(10))
        XCTAssertEqual(world.files, (names + ["a.air"]).sorted())
        XCTAssertEqual(a.air.drops.total, 0)
    }

    func testNodeWhoseFileWasRemovedListensAgain() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        unlink(world.room + "/a.air")
        world.advance(by: .milliseconds(1_050))
        XCTAssertEqual(world.files, ["a.air"])
        let b = try world.join("b")
        XCTAssertNotNil(b.log.link(.outgoing))
        withExtendedLifetime(a) {}
    }

    func testRangeFileDecidesWhoHearsWhomAndIsReadAgainWhenItChanges() throws {
        let world = try AirWorld()
        try world.write(range: "# a line of three\na b\nb c\n")
        let a = try world.join("a")
        let b = try world.join("b")
        let c = try world.join("c")
        world.advance(by: .seconds(4))
        func neighbours(_ air: VirtualAir) -> Set<String> { Set(air.snapshot.map(\.remoteName)) }
        XCTAssertEqual(neighbours(a.air), ["b"])
        XCTAssertEqual(neighbours(b.air), ["a", "c"])
        XCTAssertEqual(neighbours(c.air), ["b"])
        try world.write(range: "b  a # still\n\nc a\n")
        world.advance(by: .seconds(5))
        XCTAssertEqual(neighbours(a.air), ["b", "c"])
        XCTAssertEqual(neighbours(b.air), ["a"])
        XCTAssertEqual(neighbours(c.air), ["a"])
        XCTAssertEqual(c.log.downs.count, 2)
        unlink(world.room + "/range")
        world.advance(by: .seconds(5))
        XCTAssertEqual(neighbours(b.air), ["a", "c"])
    }

    func testEmptyRangeFileMeansSilence() throws {
        let world = try AirWorld()
        try world.write(range: "")
        let a = try world.join("a")
        let b = try world.join("b")
        let outsider = try world.dial("a")
        outsider.send("AIR1 b 517")
        world.advance(by: .seconds(3))
        XCTAssertEqual(a.log.events + b.log.events, [])
        XCTAssertEqual(outsider.receive(), .end)
        XCTAssertEqual(a.air.drops[.outOfRange], 1)
    }

    func testRangeProblemsAreReportedWithTheirLine() throws {
        let world = try AirWorld()
        try world.write(range: "a b\na  b c\n")
        let a = try world.join("a")
        XCTAssertEqual(a.air.problem, "line 2: expected two different names of a-z, 0-9 and -")
        try world.write(range: String(repeating: "#", count: 262_145))
        world.advance(by: .seconds(1))
        XCTAssertEqual(a.air.problem, "cannot be read, or is larger than 262144 bytes")
        try world.write(range: "a b\n")
        world.advance(by: .seconds(1))
        XCTAssertNil(a.air.problem)
    }

    func testIncomingLinksStopAtTheTotal() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let peers = try (0..<9).map { index in
            let peer = try world.dial("a")
            peer.send("AIR1 p\(index) 517")
            world.pump()
            return peer
        }
        XCTAssertEqual(a.air.snapshot.count, 8)
        XCTAssertEqual(peers.filter { $0.receiveText() == "AIR1 a 517" }.count, 8)
        XCTAssertEqual(a.air.drops[.noFreeLink], 1)
    }

    /// Nodes of another implementation that answer every greeting.
    private func makeAnswering(_ count: Int, in world: AirWorld) throws -> (_ span: Interval) -> [String] {
        let sockets = try (0..<count).map { ("p\($0)", try world.listen(as: "p\($0)")) }
        var peers: [RawPeer] = []
        return { span in
            var dialled: [String] = []
            for _ in 0..<span.milliseconds / 10 {
                for (name, socket) in sockets {
                    guard let connection = try? socket.accept() else { continue }
                    let peer = RawPeer(connection)
                    peer.send("AIR1 \(name) 517")
                    peers.append(peer)
                    dialled.append(name)
                }
                world.advance(by: .milliseconds(10), step: .milliseconds(10))
            }
            return dialled
        }
    }

    func testOwnLinksStopAtSixAndLeaveTwoSlotsForOthers() throws {
        let world = try AirWorld()
        let answer = try makeAnswering(10, in: world)
        let a = try world.join("a")
        XCTAssertEqual(answer(.seconds(20)).count, 6)
        XCTAssertEqual(a.air.snapshot.filter { $0.role == .outgoing }.count, 6)
        let callers = try (0..<3).map { _ in try world.dial("a") }
        for caller in callers { caller.send("AIR1 raw 517") }
        world.pump()
        XCTAssertEqual(callers.filter { $0.receiveText() != nil }.count, 2)
    }

    func testIncomingLinksLeaveFewerOwnOnes() throws {
        let world = try AirWorld()
        let a = try world.join("a")
        let callers = try (0..<5).map { _ in try world.dial("a") }
        for caller in callers { caller.send("AIR1 raw 517") }
        world.pump()
        let answer = try makeAnswering(10, in: world)
        XCTAssertEqual(answer(.seconds(20)).count, 1)
        XCTAssertEqual(a.air.snapshot.count, 6)
        withExtendedLifetime(callers) {}
    }

    func testAttemptsArePacedHalfASecondApartAndReachEverybody() throws {
        let world = try AirWorld()
        let answer = try makeAnswering(4, in: world)
        let a = try world.join("a")
        XCTAssertEqual(answer(.milliseconds(500)).count, 1)
        XCTAssertEqual(answer(.milliseconds(100)).count, 1)
        XCTAssertEqual(answer(.milliseconds(400)).count, 0)
        XCTAssertEqual(answer(.milliseconds(1_000)).count, 2)
        XCTAssertEqual(Set(a.air.snapshot.map(\.remoteName)), ["p0", "p1", "p2", "p3"])
    }

    func testLossAndDelayAreTheReceiversAndReproducible() throws {
        func run(seed: UInt64) throws -> (frames: [[UInt8]], lost: UInt64) {
            let world = try AirWorld()
            let impairment = Impairment(loss: 0.3, delay: .milliseconds(20) ... .milliseconds(80), seed: seed)
            let a = try world.join("a", impairment: impairment)
            let peer = try world.dial("a")
            peer.send("AIR1 raw 517")
            world.pump()
            for index in 0..<100 {
                peer.send(makeFrame(UInt8(index)))
                world.pump()
            }
            XCTAssertEqual(a.log.frames, [], "nothing arrives before 20 ms")
            let link = try XCTUnwrap(a.log.link(.incoming))
            a.air.send(makeFrame(250), on: link, priority: .high)
            XCTAssertEqual(peer.drain().last, makeFrame(250), "what we send is not impaired by us")
            world.advance(by: .milliseconds(100), step: .milliseconds(1))
            return (a.log.frames, a.air.drops[.impairedLoss])
        }
        let first = try run(seed: 7)
        XCTAssertEqual(first.frames.count + Int(first.lost), 100)
        XCTAssertTrue((15...45).contains(first.lost))
        XCTAssertEqual(first.frames, first.frames.sorted { $0[14] < $1[14] }, "order is kept")
        let again = try run(seed: 7)
        XCTAssertEqual(first.frames, again.frames)
        XCTAssertNotEqual(first.frames, try run(seed: 8).frames)
    }

    func testDelayedValuesAreBoundedByPausingTheNeighbour() throws {
        let world = try AirWorld()
        let a = try world.join("a", impairment: Impairment(delay: .seconds(1) ... .seconds(1)))
        let peer = try world.dial("a")
        peer.send("AIR1 raw 517")
        world.pump()
        var sent = 0
        var wasHeldUp = false
        for _ in 0..<3_000 {
            let frame = makeFrame(UInt8(truncatingIfNeeded: sent))
            guard frame.withUnsafeBytes({ peer.socket.send($0) }) == .bytes(frame.count) else {
                wasHeldUp = true
                break
            }
            sent += 1
            if sent % 16 == 0 { world.pump() }
        }
        XCTAssertTrue(wasHeldUp, "a delay must not become an unbounded buffer")
        world.advance(by: .seconds(3))
        XCTAssertEqual(a.log.frames.count, sent, "nothing is lost by it")
    }
}

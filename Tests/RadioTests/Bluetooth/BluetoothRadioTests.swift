import Basics
import EventLoop
import Glibc
import Wire
import XCTest

@testable import Radio

/// Two boxes, and boxes with scripted neighbours, over scripted controllers in virtual time.
final class BluetoothRadioTests: XCTestCase {
    private let world = BluetoothWorld()
    private var ether: Ether { world.ether }

    func testTwoBoxesMeetAndExchangeFramesBothWays() throws {
        let (a, b) = (world.box(), world.box())
        world.connect(a, to: b)
        let outgoing = try XCTUnwrap(a.log.link(.outgoing))
        let incoming = try XCTUnwrap(b.log.link(.incoming))
        XCTAssertEqual(a.log.ups[0].limit, 512)
        XCTAssertEqual(b.log.ups[0].limit, 512)
        let frames = (0..<40).map { makeFrame(UInt8($0), size: 22 + $0 * 12) }
        for frame in frames {
            a.radio.send(frame, on: outgoing, priority: .high)
            b.radio.send(frame, on: incoming, priority: .high)
        }
        world.advance(.seconds(1))
        XCTAssertEqual(a.log.frames, frames)
        XCTAssertEqual(b.log.frames, frames)
        XCTAssertEqual(a.adapter.outcomes, [.connected])
        XCTAssertGreaterThan(b.adapter.traffic, 0)
    }

    func testEveryRoleMixCarriesFrames() {
        let boxes = (0..<4).map { _ in world.box() }
        for (caller, callee) in [(0, 1), (1, 2), (2, 0), (3, 0), (1, 3), (3, 2)] {
            world.connect(boxes[caller], to: boxes[callee])
        }
        for box in boxes {
            XCTAssertEqual(box.log.live.count, 3)
            for (number, link) in box.log.live.enumerated() {
                box.radio.send(makeFrame(UInt8(number)), on: link.link, priority: .high)
            }
        }
        world.advance(.seconds(1))
        for box in boxes { XCTAssertEqual(box.log.frames.count, 3) }
        XCTAssertEqual(Set(boxes.flatMap { $0.log.live.map(\.role) }).count, 2)
    }

    func testCallsThatCrossMakeOneLinkAndFreeTheOther() {
        let (a, b) = (world.box(), world.box())
        ether.connectDelay = .seconds(3)
        a.adapter.hear(b.address)
        b.adapter.hear(a.address)
        world.advance(.seconds(6))
        XCTAssertEqual(a.log.live.count, 1)
        XCTAssertEqual(b.log.live.count, 1)
        XCTAssertEqual(Set([a, b].flatMap { $0.log.live.map(\.role) }).count, 2, "one end each")
        XCTAssertEqual(a.radio.events[.crossedConnect] + b.radio.events[.crossedConnect], 1)
        XCTAssertEqual(ether.pendingCalls(from: a.address) + ether.pendingCalls(from: b.address), 0)
        XCTAssertEqual(a.adapter.outcomes.count, a.adapter.attempts)
        XCTAssertEqual(b.adapter.outcomes.count, b.adapter.attempts)
        a.log.bindEverybody()
        world.advance(.seconds(20))
        XCTAssertEqual(a.log.live.count, 1, "and it stays so")
    }

    func testTheSameAddressHasTheSameNumberAndAnotherProcessAnother() throws {
        let (a, b) = (world.box(), world.box(seed: 2))
        let c = world.box(seed: 3)
        for box in [a, b, c] { box.log.bindEverybody() }
        world.connect(a, to: c)
        world.connect(b, to: c)
        let first = try XCTUnwrap(a.log.link(.outgoing))
        a.radio.close(first)
        world.advance(.seconds(70))
        world.connect(a, to: c)
        let second = try XCTUnwrap(a.log.link(.outgoing))
        XCTAssertNotEqual(first, second)
        XCTAssertEqual(a.log.neighbours[first], a.log.neighbours[second])
        let other = try XCTUnwrap(b.log.link(.outgoing))
        XCTAssertNotEqual(a.log.neighbours[first], b.log.neighbours[other])
        XCTAssertEqual(Set(c.log.neighbours.values).count, 2)
    }

    func testClosingEndsTheLinkOnTheAirAtOnce() throws {
        let (a, b) = (world.box(), world.box())
        world.connect(a, to: b)
        a.radio.close(try XCTUnwrap(a.log.link(.outgoing)))
        XCTAssertEqual(a.log.downs.count, 0, "not from inside the call")
        world.advance(.milliseconds(50))
        XCTAssertEqual(a.log.downs.count, 1)
        XCTAssertEqual(b.log.downs.count, 1)
        XCTAssertFalse(ether.isLinked(a.address, b.address))
        XCTAssertEqual(a.adapter.disconnects, [b.address])
        // Nor is it called again within a minute.
        world.connect(a, to: b)
        world.advance(.seconds(50))
        XCTAssertTrue(a.log.live.isEmpty)
    }

    // MARK: Neighbours that do not behave

    func testNeighbourThatNeverAnswersIsGivenUpAfterEightSeconds() {
        let a = world.box()
        let phone = world.phoneAddress()
        a.adapter.hear(phone)
        while a.adapter.attempts == 0 { world.advance(.milliseconds(10)) }
        world.advance(.milliseconds(7_900))
        XCTAssertEqual(a.adapter.outcomes, [])
        world.advance(.milliseconds(200))
        XCTAssertEqual(a.adapter.outcomes, [.timedOut])
        XCTAssertEqual(ether.pendingCalls(from: a.address), 0)
        XCTAssertEqual(a.radio.events[.connectTimedOut], 1)
        // Not heard any more, it is tried as long as it may be there, and forgotten.
        world.advance(.minutes(5))
        XCTAssertLessThanOrEqual(a.adapter.attempts, 4)
        XCTAssertEqual(a.radio.planner.waiting, 0)
        XCTAssertEqual(a.adapter.outcomes.count, a.adapter.attempts)
    }

    func testTenFailuresAreCountedAndTheEleventhAttemptConnects() {
        let (a, b) = (world.box(), world.box())
        ether.answers[b.address] = .fails(ECONNABORTED)
        while a.adapter.outcomes.count < 10 {
            a.adapter.hear(b.address)
            world.advance(.seconds(5))
        }
        XCTAssertEqual(a.radio.events[.connectFailed], 10)
        XCTAssertTrue(a.adapter.outcomes.allSatisfy { $0 == .failed(errno: ECONNABORTED) })
        ether.answers[b.address] = nil
        for _ in 0..<4 {
            a.adapter.hear(b.address)
            world.advance(.seconds(5))
        }
        XCTAssertEqual(a.log.live.count, 1)
    }

    func testNeighbourWithoutTheServiceIsLeftAloneForAQuarterOfAnHour() {
        let a = world.box()
        let phone = world.phoneAddress()
        ether.listen(at: phone) { socket in self.answerWithErrors(socket) }
        a.adapter.hear(phone)
        world.advance(.seconds(3))
        XCTAssertEqual(a.radio.failures[.serviceMissing], 1)
        XCTAssertFalse(ether.isLinked(a.address, phone))
        for _ in 0..<85 {
            a.adapter.hear(phone)
            world.advance(.seconds(10))
        }
        XCTAssertEqual(a.adapter.attempts, 1)
        for _ in 0..<6 {
            a.adapter.hear(phone)
            world.advance(.seconds(10))
        }
        XCTAssertEqual(a.adapter.attempts, 2)
    }

    /// Answers every request that nothing is there.
    private func answerWithErrors(_ socket: ScriptedSocket) {
        _ = socket.watch(.read) { [weak socket] in
            guard let socket else { return }
            for pdu in socket.drain() where !pdu.isEmpty && pdu[0] & 1 == 0 && pdu[0] != 0x52 {
                socket.send([0x01, pdu[0], 0x01, 0x00, 0x0A])
            }
        }
    }

    func testNeighbourThatConnectsAndSaysNothingIsGivenUp() {
        let a = world.box()
        let phone = world.phoneAddress()
        ether.listen(at: phone) { _ in }
        a.adapter.hear(phone)
        world.advance(.seconds(12))
        XCTAssertEqual(a.radio.failures[.setUpTimedOut], 1)
        XCTAssertEqual(a.radio.events[.connected], 1)
        XCTAssertTrue(a.log.ups.isEmpty)
        XCTAssertFalse(ether.isLinked(a.address, phone))
    }

    func testPhoneThatNotifies517BytesAtMTU23IsHeard() throws {
        let a = world.box()
        let phone = world.phoneAddress()
        var sockets: [ScriptedSocket] = []
        ether.listen(at: phone) { socket in
            sockets.append(socket)
            self.serve(socket, mtu: nil)
        }
        a.adapter.hear(phone)
        world.advance(.seconds(2))
        XCTAssertEqual(a.log.ups.map(\.limit), [20])
        let frame = makeFrame(7, size: 512)
        sockets[0].send([0x1B, 0x12, 0x00] + frame)
        world.advance(.seconds(1))
        XCTAssertEqual(a.log.frames, [frame])
        // What it cannot take is dropped whole and counted.
        a.radio.send(makeFrame(1), on: try XCTUnwrap(a.log.link(.outgoing)), priority: .high)
        XCTAssertEqual(a.radio.events[.frameTooLong], 1)
    }

    /// A phone's server with the handles of chapter 03 D6. Without an MTU it refuses the exchange.
    private func serve(_ socket: ScriptedSocket, mtu: [UInt8]?) {
        _ = socket.watch(.read) { [weak socket] in
            guard let socket else { return }
            for pdu in socket.drain() {
                switch pdu.first {
                case 0x02: socket.send(mtu.map { [0x03] + $0 } ?? [0x01, 0x02, 0x00, 0x00, 0x06])
                case 0x06: socket.send([0x07, 0x10, 0x00, 0x13, 0x00])
                case 0x08 where pdu.count > 2 && pdu[1] <= 0x11:
                    let uuid: [UInt8] = [
                        0x5D, 0x4C, 0x3B, 0x2A, 0x1F, 0x0E, 0x9D, 0x8C, 0x5B, 0x4A, 0xF6, 0xE5, 0xD4, 0xC3, 0xB2, 0xA1,
                    ]
                    if mtu == nil {
                        socket.send([0x09, 0x15, 0x11, 0x00, 0x1E, 0x12, 0x00] + uuid[..<16])
                    } else {
                        socket.send([0x09, 0x15, 0x11, 0x00, 0x1E, 0x12, 0x00] + uuid)
                    }
                case 0x08: socket.send([0x01, 0x08, pdu[1], pdu[2], 0x0A])
                case 0x04: socket.send([0x05, 0x01, 0x13, 0x00, 0x02, 0x29])
                case 0x12: socket.send([0x13])
                default: break
                }
            }
        }
    }

    func testPhoneThatCallsUsSubscribesAndTalks() throws {
        let a = world.box()
        let phone = world.phoneAddress()
        let socket = try ether.dial(from: phone, to: a.address)
        world.advance(.milliseconds(100))
        socket.send(Phone.exchangeMTU)
        socket.send(Phone.subscribe)
        world.advance(.milliseconds(100))
        XCTAssertEqual(socket.drain(), [[0x03, 0x05, 0x02], [0x13]])
        let link = try XCTUnwrap(a.log.link(.incoming))
        a.radio.send(makeFrame(1), on: link, priority: .high)
        socket.send(Phone.write(makeFrame(2)))
        world.advance(.milliseconds(100))
        XCTAssertEqual(socket.drain(), [[0x1B, 0x12, 0x00] + makeFrame(1)])
        XCTAssertEqual(a.log.frames, [makeFrame(2)])
        XCTAssertEqual(a.radio.events[.incomingUp], 1)
    }

    func testIncomingLinkWithoutAWordIsDroppedAfterThirtySeconds() throws {
        let a = world.box()
        let phone = world.phoneAddress()
        _ = try ether.dial(from: phone, to: a.address)
        world.advance(.seconds(29))
        XCTAssertTrue(ether.isLinked(a.address, phone))
        world.advance(.seconds(2))
        XCTAssertFalse(ether.isLinked(a.address, phone))
        XCTAssertEqual(a.radio.failures[.unused], 1)
        XCTAssertTrue(a.log.events.isEmpty, "the mesh never heard of it")
    }

    func testLinkBoundToNobodyIsDroppedAfterAMinute() {
        let (a, b) = (world.box(), world.box())
        b.log.bindEverybody()
        world.connect(a, to: b)
        world.advance(.seconds(55))
        XCTAssertEqual(a.log.live.count, 1)
        world.advance(.seconds(12))
        XCTAssertEqual(a.log.live.count, 0)
        XCTAssertEqual(a.radio.events[.unboundDropped], 1)
        XCTAssertEqual(b.log.downs.count, 1)
    }

    func testLinkThatLosesItsPeerGetsAMinuteFromThen() throws {
        let (a, b) = (world.box(), world.box())
        a.log.bindEverybody()
        b.log.bindEverybody()
        world.connect(a, to: b)
        world.advance(.minutes(10))
        XCTAssertEqual(a.log.live.count, 1)
        a.log.peers[try XCTUnwrap(a.log.link(.outgoing))] = nil
        world.advance(.seconds(55))
        XCTAssertEqual(a.log.live.count, 1)
        world.advance(.seconds(15))
        XCTAssertEqual(a.log.live.count, 0)
    }
}

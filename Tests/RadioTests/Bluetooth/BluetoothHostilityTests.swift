import Basics
import EventLoop
import Wire
import XCTest

@testable import Radio

/// Phones that mean to hold the loop, the slots or the air.
final class BluetoothHostilityTests: XCTestCase {
    private let world = BluetoothWorld()
    private var ether: Ether { world.ether }

    private static let unsubscribe: [UInt8] = [0x12, 0x13, 0x00, 0x00, 0x00]
    private static let read: [UInt8] = [0x0A, 0x03, 0x00]

    func testPhoneThatAsksAndDoesNotReadNeitherHoldsTheLoopNorTheLink() throws {
        let a = world.box()
        a.log.bindEverybody()
        ether.capacity = 1
        let phone = try world.dial(a)
        let own = try XCTUnwrap(ether.socket(at: a.address, to: phone.pair.from))
        let link = try XCTUnwrap(a.log.link(.incoming))
        // The first notification fills the socket, and the second waits for room.
        for _ in 0..<2 { a.radio.send([UInt8](repeating: 1, count: 20), on: link, priority: .high) }
        world.advance(.milliseconds(100))
        // The answer to the first question waits as well, and the second question is left where it is.
        phone.send(BluetoothHostilityTests.read)
        world.advance(.milliseconds(100))
        phone.send(BluetoothHostilityTests.read)
        let before = own.wakeUps
        world.advance(.seconds(20))
        XCTAssertEqual(own.wakeUps, before)
        XCTAssertEqual(a.log.live.count, 1, "it may be slow")
        world.advance(.seconds(16))
        XCTAssertEqual(a.log.downs, [link])
        XCTAssertEqual(a.radio.events[.linkStuck], 1)
        XCTAssertFalse(ether.isLinked(a.address, phone.pair.from))
    }

    func testPhoneThatReadsInTimeIsAnsweredAndStays() throws {
        let a = world.box()
        a.log.bindEverybody()
        ether.capacity = 1
        let phone = try world.dial(a)
        let link = try XCTUnwrap(a.log.link(.incoming))
        for _ in 0..<2 { a.radio.send([UInt8](repeating: 1, count: 20), on: link, priority: .high) }
        world.advance(.milliseconds(100))
        for _ in 0..<2 {
            phone.send(BluetoothHostilityTests.read)
            world.advance(.milliseconds(100))
        }
        var order: [UInt8] = []
        for _ in 0..<4 {
            world.advance(.seconds(20))
            order += phone.drain().map { $0[0] }
        }
        XCTAssertEqual(order.count, 4)
        XCTAssertEqual(order.prefix(2), [0x1B, 0x0B], "an answer goes ahead of data")
        XCTAssertEqual(order.sorted(), [0x0B, 0x0B, 0x1B, 0x1B], "every question is answered once")
        world.advance(.minutes(1))
        XCTAssertEqual(a.log.live.map(\.link), [link])
        XCTAssertEqual(a.radio.events[.linkStuck], 0)
    }

    func testPhoneThatKeepsSubscribingAnewIsDroppedAfterAMinuteLikeOthers() throws {
        let a = world.box()
        let phone = try world.dial(a)
        for turn in 0..<6 {
            world.advance(.seconds(9))
            phone.send(turn % 2 == 0 ? BluetoothHostilityTests.unsubscribe : Phone.subscribe)
            _ = phone.drain()
        }
        world.advance(.milliseconds(100))
        XCTAssertEqual(a.log.ups.count, 4)
        XCTAssertTrue(ether.isLinked(a.address, phone.pair.from))
        world.advance(.seconds(12))
        XCTAssertFalse(ether.isLinked(a.address, phone.pair.from))
        XCTAssertEqual(a.radio.events[.unboundDropped], 1)
    }

    func testNotificationsLongerThanTheMTUAreTakenAndCounted() throws {
        let (a, b) = (world.box(), world.box())
        a.log.bindEverybody()
        let phone = try world.dial(a)
        let frame = makeFrame(3, size: 500)
        phone.send(Phone.write(frame))
        world.advance(.milliseconds(100))
        XCTAssertEqual(a.radio.events[.beyondMTU], 0, "it agreed to 517")
        let other = try ether.dial(from: world.phoneAddress(), to: b.address)
        world.advance(.milliseconds(100))
        other.send(Phone.subscribe)
        other.send(Phone.write(frame))
        world.advance(.milliseconds(100))
        XCTAssertEqual(b.log.frames, [frame])
        XCTAssertEqual(b.radio.events[.beyondMTU], 1)
    }

    func testFrameMadeReadyForALargerMTUIsDroppedWhenItShrinks() throws {
        let a = world.box()
        a.log.bindEverybody()
        ether.capacity = 1
        let phone = try world.dial(a)
        let link = try XCTUnwrap(a.log.link(.incoming))
        // The first fills the socket, the second is a PDU that waits.
        for number in 0..<2 { a.radio.send(makeFrame(UInt8(number), size: 400), on: link, priority: .high) }
        world.advance(.milliseconds(100))
        phone.send([0x02, 0x17, 0x00])
        world.advance(.milliseconds(100))
        a.radio.send([UInt8](repeating: 9, count: 20), on: link, priority: .high)
        var received: [[UInt8]] = []
        for _ in 0..<6 {
            received += phone.drain()
            world.advance(.milliseconds(50))
        }
        XCTAssertEqual(received.map(\.count), [403, 3, 23])
        XCTAssertEqual(received[1], [0x03, 0x05, 0x02])
        XCTAssertEqual(a.radio.events[.frameTooLong], 1)
        XCTAssertEqual(a.log.limits[link], [512, 20])
        XCTAssertTrue(a.log.downs.isEmpty)
    }

    // MARK: One announce on many links

    private func dial(_ box: BluetoothWorld.Node, as peer: UInt64) throws -> ScriptedSocket {
        box.log.bindsAt = { _ in PeerID(value: peer) }
        let socket = try ether.dial(from: world.phoneAddress(), to: box.address)
        world.advance(.milliseconds(100))
        socket.send(Phone.exchangeMTU)
        socket.send(Phone.subscribe)
        world.advance(.milliseconds(400))
        return socket
    }

    func testOneAnnouncePlayedBackCannotHoldEverySlot() throws {
        let a = world.box()
        for number in 0..<20 {
            _ = try dial(a, as: 7)
            XCTAssertLessThanOrEqual(a.log.live.count, 6)
            world.advance(number < 10 ? .milliseconds(200) : .seconds(11))
            XCTAssertTrue(a.adapter.wantsAdvertising)
        }
        let honest = try dial(a, as: 8)
        world.advance(.minutes(2))
        XCTAssertTrue(ether.isLinked(honest.pair.from, a.address))
        XCTAssertGreaterThan(a.radio.events[.tooManyUnbound], 0)
        XCTAssertGreaterThan(a.radio.events[.unboundDropped], 0)
    }

    func testLinkWithAHandshakeOutlivesEveryCopyOfItsAnnounce() throws {
        let a = world.box()
        let honest = try dial(a, as: 7)
        a.log.proven = [try XCTUnwrap(a.log.link(.incoming))]
        for _ in 0..<20 {
            _ = try dial(a, as: 7)
            world.advance(.seconds(12))
        }
        XCTAssertTrue(ether.isLinked(honest.pair.from, a.address))
        XCTAssertLessThanOrEqual(a.log.live.count, 6)
    }

    func testSecondCallOfAPhoneStaysWhileThereIsRoomAndTheNewestWhenThereIsNot() throws {
        let a = world.box(budget: LinkBudget(total: 3, outgoing: 1, reservedForIncoming: 2))
        let first = try dial(a, as: 7)
        let second = try dial(a, as: 7)
        world.advance(.minutes(10))
        XCTAssertEqual(a.log.live.count, 2, "it would only call again")
        let other = try dial(a, as: 8)
        XCTAssertFalse(a.adapter.wantsAdvertising)
        world.advance(.seconds(70))
        XCTAssertFalse(ether.isLinked(first.pair.from, a.address))
        XCTAssertTrue(ether.isLinked(second.pair.from, a.address))
        XCTAssertTrue(ether.isLinked(other.pair.from, a.address))
        XCTAssertTrue(a.adapter.wantsAdvertising)
    }

    func testNewcomersTakeNoSecondLinkOfAPhoneWhileThereIsRoom() throws {
        let a = world.box(budget: LinkBudget(total: 16, outgoing: 1))
        for peer in 1...6 as ClosedRange<UInt64> {
            for _ in 0..<2 {
                _ = try dial(a, as: peer)
                world.advance(.seconds(11))
            }
        }
        XCTAssertEqual(a.log.live.count, 12)
        XCTAssertTrue(a.log.downs.isEmpty)
        XCTAssertEqual(a.radio.events[.unboundDropped], 0)
    }

    func testFragmentRelayedNowAndThenLeavesScanningHalfOfTheTime() throws {
        let (a, b) = (world.box(), world.box())
        a.log.bindEverybody()
        b.log.bindEverybody()
        world.connect(a, to: b)
        let link = try XCTUnwrap(a.log.link(.outgoing))
        // Each belongs to a train that would take five seconds, as the longest pause.
        for number in 0..<12 {
            a.radio.send(makeFrame(UInt8(number)), on: link, priority: .fragment(total: 1_000))
            world.advance(.seconds(5))
        }
        XCTAssertEqual(a.adapter.scanPauses, [Interval](repeating: .seconds(5), count: 6))
    }
}

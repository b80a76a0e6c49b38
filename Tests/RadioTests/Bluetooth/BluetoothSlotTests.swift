import Basics
import EventLoop
import Glibc
import Wire
import XCTest

@testable import Radio

/// Slots, limits, and adapters that come and go.
final class BluetoothSlotTests: XCTestCase {
    private let world = BluetoothWorld()
    private var ether: Ether { world.ether }

    /// A phone that calls and subscribes.
    private func dial(_ node: BluetoothWorld.Node, adapter: Int = 0) throws -> ScriptedSocket {
        let socket = try ether.dial(from: world.phoneAddress(), to: node.adapters[adapter].address)
        world.advance(.milliseconds(100))
        socket.send(Phone.exchangeMTU)
        socket.send(Phone.subscribe)
        world.advance(.milliseconds(400))
        return socket
    }

    func testTwoSlotsStayFreeForPhonesThatCall() throws {
        let a = world.box()
        a.log.bindEverybody()
        for _ in 0..<8 {
            let other = world.box()
            other.log.bindEverybody()
            world.connect(a, to: other)
        }
        XCTAssertEqual(a.log.live.count { $0.role == .outgoing }, 6)
        XCTAssertTrue(a.adapter.wantsAdvertising)
        XCTAssertFalse(a.adapter.wantsScanning, "nobody more is called")
        let phones = [try dial(a), try dial(a)]
        XCTAssertEqual(a.log.live.count { $0.role == .incoming }, 2)
        XCTAssertFalse(a.adapter.wantsAdvertising, "full")
        let late = try ether.dial(from: world.phoneAddress(), to: a.address)
        world.advance(.milliseconds(200))
        XCTAssertFalse(ether.isLinked(late.pair.from, a.address))
        XCTAssertEqual(a.radio.events[.noFreeLink], 1)
        ether.end(phones[0].pair.from, a.address)
        world.advance(.milliseconds(100))
        XCTAssertTrue(a.adapter.wantsAdvertising, "and again as soon as one has gone")
    }

    func testFourPhonesThatCalledLeaveFewerOwnCalls() throws {
        let a = world.box()
        a.log.bindEverybody()
        let phones = try (0..<4).map { _ in try dial(a) }
        for _ in 0..<3 { world.connect(a, to: world.box()) }
        XCTAssertEqual(a.log.live.count { $0.role == .outgoing }, 2)
        XCTAssertEqual(phones.count, 4)
    }

    func testRefusingControllerTeachesItsLimitAndForgetsItSlowly() {
        let a = world.box()
        a.log.bindEverybody()
        var others = (0..<5).map { _ in world.box() }
        for other in others {
            other.log.bindEverybody()
            world.connect(a, to: other)
        }
        XCTAssertEqual(a.radio.adapters[0].limit, 8)
        let refused = world.phoneAddress()
        ether.answers[refused] = .fails(EMLINK)
        a.adapter.hear(refused)
        world.advance(.seconds(2))
        XCTAssertEqual(a.radio.adapters[0].limit, 5)
        XCTAssertEqual(a.radio.events[.limitLearned], 1)
        XCTAssertFalse(a.adapter.wantsAdvertising, "it would refuse phones as well")
        XCTAssertFalse(a.adapter.wantsScanning)
        // Lower by what management says.
        ether.end(a.address, others.removeFirst().address)
        world.advance(.seconds(1))
        a.adapter.tell { $0.adapter($1, connectFailed: refused, status: 0x07) }
        world.advance(.seconds(1))
        XCTAssertEqual(a.radio.adapters[0].limit, 4)
        a.adapter.tell { $0.adapter($1, connectFailed: refused, status: 0x04) }
        world.advance(.minutes(16))
        XCTAssertEqual(a.radio.adapters[0].limit, 5)
        XCTAssertTrue(a.adapter.wantsAdvertising)
    }

    func testTheSmallestControllerStillMakesOneCall() {
        let a = world.box(budget: LinkBudget(total: 2))
        a.log.bindEverybody()
        for _ in 0..<2 { world.connect(a, to: world.box()) }
        XCTAssertEqual(a.log.live.count, 1)
        XCTAssertTrue(a.adapter.wantsAdvertising)
    }

    func testFiveStrangersCannotTakeEverySlot() throws {
        let a = world.box()
        let first = try (0..<4).map { _ in try dial(a) }
        // Nobody has said who they are; the fifth comes too soon after them.
        let fifth = try ether.dial(from: world.phoneAddress(), to: a.address)
        world.advance(.milliseconds(200))
        XCTAssertFalse(ether.isLinked(fifth.pair.from, a.address))
        XCTAssertEqual(a.radio.events[.tooManyUnbound], 1)
        // Later it takes the place of one that had its time.
        world.advance(.seconds(10))
        let sixth = try dial(a)
        XCTAssertTrue(ether.isLinked(sixth.pair.from, a.address))
        XCTAssertFalse(ether.isLinked(first[0].pair.from, a.address))
        XCTAssertEqual(a.radio.events[.unboundDropped], 1)
    }

    func testNewcomerForWhomALinkWasDroppedIsTaken() throws {
        let a = world.box(budget: LinkBudget(total: 4, outgoing: 0))
        let first = try (0..<4).map { _ in try dial(a) }
        world.advance(.seconds(11))
        let fifth = try dial(a)
        XCTAssertFalse(ether.isLinked(first[0].pair.from, a.address))
        XCTAssertTrue(ether.isLinked(fifth.pair.from, a.address))
        XCTAssertEqual(a.radio.events[.noFreeLink], 0)
        XCTAssertEqual(a.radio.events[.unboundDropped], 1)
    }

    func testWhetherAnybodyIsTakenWhileOthersAreHeardCanBeSeen() throws {
        let (a, b) = (world.box(), world.box())
        a.log.bindEverybody()
        b.log.bindEverybody()
        world.advance(.minutes(1))
        let mute = world.phoneAddress()
        ether.answers[mute] = .silence
        for _ in 0..<30 {
            a.adapter.hear(mute)
            world.advance(.seconds(10))
        }
        XCTAssertEqual(a.radio.adapters[0].openSince, .zero)
        XCTAssertNil(a.radio.adapters[0].lastAccepted)
        XCTAssertGreaterThan(a.radio.adapters[0].heardUnlinked, 10)
        let phone = try dial(a)
        XCTAssertGreaterThan(try XCTUnwrap(a.radio.adapters[0].lastAccepted), .zero + .minutes(5))
        XCTAssertEqual(a.radio.adapters[0].heardUnlinked, 0)
        world.connect(a, to: b)
        for _ in 0..<10 {
            a.adapter.hear(phone.pair.from)
            a.adapter.hear(b.address)
            world.advance(.seconds(10))
        }
        XCTAssertLessThan(a.radio.adapters[0].heardUnlinked, 2, "linked ones need not call")
        a.adapter.goDown()
        world.advance(.seconds(1))
        XCTAssertNil(a.radio.adapters[0].openSince)
    }

    func testCallThatAwaitsAClearAirHasAPlaceAndGivesWayToTheCalleesOwn() throws {
        let (a, b) = (world.box(), world.box())
        a.adapter.clearsAir = false
        a.adapter.hear(b.address)
        world.advance(.seconds(3))
        XCTAssertEqual(a.adapter.attempts, 1)
        XCTAssertEqual(a.radio.adapters[0].connecting, 1)
        XCTAssertTrue(ether.calls.isEmpty)
        world.connect(b, to: a)
        XCTAssertEqual(a.log.live.map(\.role), [.incoming])
        XCTAssertEqual(a.adapter.outcomes, [.connected])
        XCTAssertEqual(a.radio.adapters[0].connecting, 0)
        a.adapter.tell { $0.adapterClearedAir($1) }
        world.advance(.seconds(1))
        XCTAssertEqual(ether.calls.count, 1, "too late")
        // The next goes as ever, and one whose adapter goes does not go at all.
        let c = world.box()
        a.adapter.hear(c.address)
        world.advance(.seconds(3))
        a.adapter.goDown()
        a.adapter.tell { $0.adapterClearedAir($1) }
        a.adapter.comeUp()
        world.advance(.seconds(1))
        XCTAssertEqual(ether.calls.count, 1)
        a.adapter.clearsAir = true
        world.connect(a, to: c)
        XCTAssertEqual(ether.calls.count, 2)
    }

    func testWhoAnswersInOurPlaceIsLookedForAtEachStartAndOnceWhenAStrangerComes() {
        let a = world.box()
        var searches: [Bool] = []
        a.radio.findRival = { isProven in
            searches.append(isProven)
            return isProven ? ChannelRival(name: "other", pid: 5) : nil
        }
        a.adapter.goDown()
        a.adapter.comeUp()
        world.advance(.seconds(1))
        XCTAssertEqual(searches, [false])
        XCTAssertNil(a.radio.adapters[0].rival)
        for _ in 0..<3 {
            let stranger = world.phoneAddress()
            a.adapter.tell { $0.adapter($1, connected: stranger) }
            world.advance(.seconds(10))
        }
        XCTAssertEqual(a.radio.events[.noSocket], 3)
        XCTAssertEqual(searches, [false, true], "strangers do not make us search all the time")
        XCTAssertEqual(a.radio.adapters[0].rival, ChannelRival(name: "other", pid: 5))
    }

    func testSecondLinkToAPeerIsGivenUpWhenSlotsAreShort() throws {
        let a = world.box(budget: LinkBudget(total: 3, outgoing: 1, reservedForIncoming: 2))
        let b = world.box()
        a.log.bindEverybody()
        b.log.bindEverybody()
        world.connect(a, to: b)
        let phone = try dial(a)
        let outgoing = try XCTUnwrap(a.log.link(.outgoing))
        let incoming = try XCTUnwrap(a.log.link(.incoming))
        // One phone, under two addresses.
        a.log.peers[incoming] = a.log.peers[outgoing]
        a.log.proven = [incoming]
        world.advance(.seconds(10))
        XCTAssertEqual(a.log.live.count, 2, "a slot is still free")
        _ = try dial(a)
        world.advance(.seconds(6))
        XCTAssertEqual(a.radio.events[.redundantClosed], 1)
        XCTAssertEqual(a.log.downs, [outgoing])
        XCTAssertTrue(ether.isLinked(phone.pair.from, a.address), "the phone keeps what it opened")
        ether.end(phone.pair.from, a.address)
        for _ in 0..<80 {
            a.adapter.hear(b.address)
            world.advance(.seconds(10))
        }
        XCTAssertNil(a.log.link(.outgoing), "and is not called for a quarter of an hour")
    }

    func testPlayedBackAnnounceDoesNotEvictOurLinkToItsAuthor() throws {
        let a = world.box(budget: LinkBudget(total: 3, outgoing: 1, reservedForIncoming: 2))
        let b = world.box()
        a.log.bindEverybody()
        b.log.bindEverybody()
        world.connect(a, to: b)
        _ = try dial(a)
        // Bound to b's peer, and nothing proves it.
        let outgoing = try XCTUnwrap(a.log.link(.outgoing))
        a.log.peers[try XCTUnwrap(a.log.link(.incoming))] = a.log.peers[outgoing]
        _ = try dial(a)
        _ = try dial(a)
        world.advance(.seconds(20))
        XCTAssertEqual(a.radio.events[.redundantClosed], 0)
        XCTAssertEqual(a.log.link(.outgoing), outgoing)
    }

    func testTwoAdaptersOfABoxThatHearEachOtherAreNotLinked() throws {
        let a = world.box(adapters: 2)
        for _ in 0..<10 {
            a.adapters[0].hear(a.adapters[1].address)
            a.adapters[1].hear(a.adapters[0].address)
            world.advance(.seconds(7))
        }
        XCTAssertEqual(a.adapters.map(\.attempts), [0, 0])
        XCTAssertTrue(ether.calls.isEmpty)
        // Others are called as ever.
        let b = world.box()
        world.connect(a, to: b)
        XCTAssertEqual(a.log.live.count, 1)
    }

    func testNeighbourHeardByTwoAdaptersGetsOneLinkThroughTheBetter() {
        let a = world.box(adapters: 2)
        let b = world.box()
        a.log.bindEverybody()
        b.log.bindEverybody()
        a.adapters[0].admitsAttempt = false
        a.adapters[1].admitsAttempt = false
        a.adapters[0].hear(b.address, -80)
        a.adapters[1].hear(b.address, -60)
        world.advance(.milliseconds(100))
        a.adapters[0].admitsAttempt = true
        a.adapters[1].admitsAttempt = true
        world.advance(.seconds(2))
        XCTAssertEqual(a.adapters.map(\.attempts), [0, 1])
        for _ in 0..<6 {
            for adapter in a.adapters { adapter.hear(b.address, -40) }
            world.advance(.seconds(5))
        }
        XCTAssertEqual(a.log.live.count, 1)
        XCTAssertEqual(a.radio.adapterName(of: a.log.live[0].link), "hci1")
    }

    func testTwoAdaptersHoldTwiceTheLinks() throws {
        let a = world.box(adapters: 2)
        a.log.bindEverybody()
        for number in 0..<16 { _ = try dial(a, adapter: number % 2) }
        XCTAssertEqual(a.log.live.count, 16)
        XCTAssertEqual(Set(a.log.live.map(\.link)).count, 16)
        XCTAssertEqual(a.radio.adapters.map(\.incoming), [8, 8])
    }

    func testAdapterRemovedUnderLoadComesBackByItself() throws {
        let (a, b) = (world.box(), world.box())
        a.log.bindEverybody()
        b.log.bindEverybody()
        world.connect(a, to: b)
        _ = try dial(a)
        let links = a.log.live.map(\.link)
        for number in 0..<200 {
            for link in links { a.radio.send(makeFrame(UInt8(number), size: 400), on: link, priority: .high) }
        }
        a.adapter.goDown()
        world.advance(.milliseconds(10))
        XCTAssertEqual(Set(a.log.downs), Set(links))
        XCTAssertEqual(a.radio.adapters[0].state, .absent)
        XCTAssertEqual(a.radio.events[.adapterDown], 1)
        // Without it, what is heard is nobody's business.
        a.adapter.hear(b.address)
        world.advance(.seconds(30))
        XCTAssertEqual(a.adapter.attempts, 1)
        a.adapter.comeUp()
        world.connect(a, to: b)
        XCTAssertEqual(a.log.live.count, 1)
        _ = try dial(a)
        XCTAssertEqual(a.log.live.count, 2)
        XCTAssertTrue(a.adapter.wantsAdvertising)
        XCTAssertTrue(a.adapter.wantsScanning)
    }

    func testAdapterThatDoesNotLetUsListenIsAskedAgain() throws {
        let a = world.box()
        a.sockets.listenError = EADDRINUSE
        a.adapter.goDown()
        a.adapter.comeUp()
        world.advance(.seconds(6))
        XCTAssertGreaterThan(a.radio.events[.listenFailed], 0)
        a.sockets.listenError = nil
        world.advance(.seconds(6))
        _ = try dial(a)
        XCTAssertEqual(a.log.live.count, 1)
    }

    func testLinkTheKernelHoldsWithoutUsIsEnded() throws {
        let (a, b) = (world.box(), world.box())
        // Left over from a time before: connected, and nobody has the sockets.
        let left = try ether.dial(from: a.address, to: b.address)
        world.advance(.milliseconds(100))
        b.adapter.hear(a.address)
        a.adapter.hear(b.address)
        world.advance(.seconds(8))
        XCTAssertGreaterThan(a.radio.events[.noSocket] + a.radio.events[.staleLinkEnded], 0)
        XCTAssertNotNil(left)
    }

    func testNeighbourWhoseSocketSomebodyElseGotIsCountedAndTakesASlot() {
        let a = world.box(budget: LinkBudget(total: 1, outgoing: 0))
        let stranger = world.phoneAddress()
        a.adapter.tell { $0.adapter($1, connected: stranger) }
        world.advance(.seconds(4))
        XCTAssertEqual(a.radio.events[.noSocket], 1)
        XCTAssertFalse(a.adapter.wantsAdvertising)
        XCTAssertNotNil(a.radio.adapters[0].lastStranger)
        a.adapter.tell { $0.adapter($1, disconnected: stranger, reason: 3) }
        world.advance(.seconds(1))
        XCTAssertTrue(a.adapter.wantsAdvertising)
    }

    func testPhoneThatLeavesAndCallsAgainIsNoStrangerBeforeItsTime() {
        let a = world.box(budget: LinkBudget(total: 1, outgoing: 0))
        let phone = world.phoneAddress()
        a.adapter.tell { $0.adapter($1, connected: phone) }
        world.advance(.seconds(2))
        a.adapter.tell { $0.adapter($1, disconnected: phone, reason: 3) }
        world.advance(.milliseconds(500))
        a.adapter.tell { $0.adapter($1, connected: phone) }
        world.advance(.seconds(2))
        XCTAssertEqual(a.radio.events[.noSocket], 0, "the first wait is over, the second is not")
        XCTAssertTrue(a.adapter.wantsAdvertising)
        world.advance(.seconds(2))
        XCTAssertEqual(a.radio.events[.noSocket], 1)
    }

    func testAnswersGoAheadOfDataAndFullSocketsLoseNothing() throws {
        let (a, b) = (world.box(), world.box())
        ether.capacity = 2
        world.connect(a, to: b)
        let link = try XCTUnwrap(a.log.link(.outgoing))
        let frames = (0..<100).map { makeFrame(UInt8($0), size: 300) }
        for frame in frames { a.radio.send(frame, on: link, priority: .fragment(total: 100)) }
        a.radio.send(makeFrame(200), on: link, priority: .high)
        world.advance(.seconds(1))
        XCTAssertEqual(Set(b.log.frames), Set(frames + [makeFrame(200)]))
        XCTAssertLessThan(try XCTUnwrap(b.log.frames.firstIndex(of: makeFrame(200))), 10)
        XCTAssertEqual(b.log.frames.filter { $0.count == 300 }, frames)
        XCTAssertEqual(a.adapter.scanPauses.first, .milliseconds(2_000), "20 ms a fragment")
    }

    func testPhoneThatDoesNotReadGetsItsAnswersFirst() throws {
        let a = world.box()
        ether.capacity = 1
        let socket = try world.dial(a)
        let link = try XCTUnwrap(a.log.link(.incoming))
        for number in 0..<5 { a.radio.send([UInt8](repeating: 1, count: 20 - number), on: link, priority: .high) }
        world.advance(.milliseconds(100))
        // One notification fills the socket; a question comes in behind it.
        socket.send([0x0A, 0x03, 0x00])
        world.advance(.milliseconds(100))
        var order: [UInt8] = []
        for _ in 0..<8 {
            order += socket.drain().map { $0[0] }
            world.advance(.milliseconds(10))
        }
        XCTAssertEqual(order, [0x1B, 0x0B, 0x1B, 0x1B, 0x1B, 0x1B])
    }

    func testControllerThatTakesPDUsInManyPiecesGetsALargerBuffer() throws {
        let (a, b) = (world.box(), world.box())
        world.connect(a, to: b)
        let link = try XCTUnwrap(a.log.link(.outgoing))
        let socket = try XCTUnwrap(ether.links.values.first).0
        socket.neededBuffer = 40_000
        a.radio.send(makeFrame(1, size: 500), on: link, priority: .high)
        world.advance(.seconds(1))
        XCTAssertEqual(b.log.frames.count, 1)
        XCTAssertEqual(socket.sendBuffers, [12_288, 24_576, 49_152])
        // One that never takes anything is given up, and the loop is not held.
        socket.neededBuffer = .max
        a.radio.send(makeFrame(2, size: 500), on: link, priority: .high)
        world.advance(.seconds(1))
        XCTAssertEqual(a.radio.events[.linkStuck], 1)
        XCTAssertTrue(a.log.live.isEmpty)
    }

    func testStopLeavesNothingOnTheAirAndStartBeginsAnew() throws {
        let (a, b) = (world.box(), world.box())
        world.connect(a, to: b)
        _ = try dial(a)
        let told = a.log.events.count
        a.radio.stop()
        XCTAssertFalse(a.adapter.isStarted)
        world.advance(.minutes(1))
        XCTAssertEqual(a.log.events.count, told, "no call follows")
        XCTAssertFalse(ether.isLinked(a.address, b.address))
        a.radio.start()
        a.adapter.comeUp()
        world.connect(a, to: b)
        XCTAssertEqual(a.log.ups.count, 3)
    }

    func testCountersAndSnapshotsShowNoAddress() throws {
        let (a, b) = (world.box(), world.box())
        world.connect(a, to: b)
        let adapter = a.radio.adapters[0]
        XCTAssertEqual(adapter.name, "hci0")
        XCTAssertEqual(adapter.outgoing, 1)
        XCTAssertEqual(a.radio.liveness, [RadioLiveness(name: "hci0", isExpected: true, lastProof: .zero)])
        b.radio.send(makeFrame(1), on: try XCTUnwrap(b.log.link(.incoming)), priority: .high)
        world.advance(.seconds(1))
        XCTAssertNotNil(a.radio.adapters[0].lastReceived)
        XCTAssertNotNil(b.radio.adapters[0].lastSent)
        XCTAssertGreaterThan(try XCTUnwrap(a.radio.liveness[0].lastProof), .zero)
        XCTAssertEqual(a.radio.snapshot.map(\.remoteName), [""])
        XCTAssertEqual(
            a.radio.counters.map(\.group),
            ["bluetooth", "bluetooth_adapters", "bluetooth_management", "att_drops", "att_failures"])
    }
}

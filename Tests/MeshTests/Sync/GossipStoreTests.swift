import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §2, §9 and traps T7, T11.
final class GossipStoreTests: XCTestCase {
    private let now = GossipSamples.now
    private let me = PeerID(value: 0xffff)

    private func later(_ milliseconds: Int) -> Now { now.advanced(by: .milliseconds(milliseconds)) }

    func testKeepsBroadcastsOnlyInBothTheirForms() throws {
        var store = GossipStore()
        XCTAssertEqual(store.insert(try GossipSamples.frame(), at: now), .stored)
        XCTAssertEqual(
            store.insert(try GossipSamples.frame(payload: [7], recipient: .broadcast), at: now), .stored)
        XCTAssertEqual(
            store.insert(try GossipSamples.frame(recipient: PeerID(value: 5)), at: now), .refused(.directed))
        XCTAssertEqual(store.count, 2)
    }

    func testTypesThatAreNeverCarried() throws {
        var store = GossipStore()
        let carried: Set<UInt8> = [0x01, 0x02, 0x20, 0x24, 0x25]
        for raw in UInt8.min...UInt8.max where !carried.contains(raw) {
            let frame = try GossipSamples.frame(MessageType(rawValue: raw))
            XCTAssertEqual(store.insert(frame, at: now), .refused(.notCarried), "type \(raw)")
        }
        XCTAssertEqual(store.count, 0)
    }

    func testAgesOfEachFamilyToTheMillisecond() throws {
        let bundle = try GossipSamples.bundle(owner: 3).payload
        let cases: [(MessageType, Int64, [UInt8])] = [
            (.announce, 60_000, [1]), (.message, 21_600_000, [1]), (.fragment, 900_000, GossipSamples.fragment()),
            (.groupMessage, 21_600_000, [1]), (.prekeyBundle, 86_400_000, bundle),
        ]
        for (type, age, payload) in cases {
            var store = GossipStore()
            let stale = try GossipSamples.frame(type, age: age + 1, payload: payload)
            XCTAssertEqual(store.insert(stale, at: now), .refused(.stale), "\(type)")
            XCTAssertEqual(
                store.insert(try GossipSamples.frame(type, age: age, payload: payload), at: now), .stored, "\(type)")
            store.expire(at: now.wall)
            store.dropStaleAnnounces(at: now.wall)
            XCTAssertEqual(store.count, 1)
            store.expire(at: later(1).wall)
            store.dropStaleAnnounces(at: later(1).wall)
            XCTAssertEqual(store.count, 0, "\(type)")
        }
    }

    func testFutureBeyondTheSkewIsRefused() throws {
        var store = GossipStore()
        XCTAssertEqual(store.insert(try GossipSamples.frame(age: -120_000), at: now), .stored)
        XCTAssertEqual(store.insert(try GossipSamples.frame(age: -120_001), at: now), .refused(.future))
        XCTAssertEqual(store.insert(try GossipSamples.frame(age: -31_536_000_000), at: now), .refused(.future))
    }

    func testCapacitiesOfTheFamilies() throws {
        var store = GossipStore()
        for number in 0..<1_100 {
            let payload = GossipSamples.numbered(number)
            _ = store.insert(try GossipSamples.frame(payload: payload), at: now)
            _ = store.insert(try GossipSamples.frame(.groupMessage, sender: UInt64(number), payload: payload), at: now)
            let fragment = GossipSamples.fragment(stream: UInt64(number))
            _ = store.insert(try GossipSamples.frame(.fragment, sender: UInt64(number), payload: fragment), at: now)
            _ = store.insert(try GossipSamples.frame(.announce, sender: UInt64(number)), at: now)
        }
        XCTAssertEqual(store.messages.count, 1_000)
        XCTAssertEqual(store.groupMessages.count, 200)
        XCTAssertEqual(store.fragments.count, 600)
        XCTAssertEqual(store.announces.count, 512)
    }

    func testUnsignedFamiliesGiveOneSenderAQuarter() throws {
        var store = GossipStore()
        for number in 0..<400 {
            _ = store.insert(
                try GossipSamples.frame(.groupMessage, payload: GossipSamples.numbered(number)), at: now)
            let fragment = GossipSamples.fragment(index: UInt16(number))
            _ = store.insert(try GossipSamples.frame(.fragment, payload: fragment), at: now)
        }
        XCTAssertEqual(store.groupMessages.count, 50)
        XCTAssertEqual(store.fragments.count, 150)
    }

    // MARK: Announces

    func testOneAnnounceASenderAndTheLatestArrivalCounts() throws {
        var store = GossipStore()
        XCTAssertEqual(store.insert(try GossipSamples.frame(.announce, age: 1_000), at: now), .stored)
        let older = try GossipSamples.frame(.announce, age: 30_000)
        XCTAssertEqual(store.insert(older, at: now), .replaced)
        XCTAssertEqual(store.announces.count, 1)
        XCTAssertEqual(store.announces[PeerID(value: 0xa1)]?.frame, older)
    }

    func testStaleAnnounceDoesNothing() throws {
        var store = GossipStore()
        let message = try GossipSamples.frame()
        let announce = try GossipSamples.frame(.announce)
        _ = store.insert(message, at: now)
        _ = store.insert(announce, at: now)
        XCTAssertEqual(store.insert(try GossipSamples.frame(.announce, age: 90_000), at: now), .refused(.stale))
        XCTAssertEqual(store.announces[PeerID(value: 0xa1)]?.frame, announce)
        XCTAssertEqual(store.messages.count, 1)
    }

    func testOwnAnnounceOutlivesCapAndSilence() throws {
        var store = GossipStore(me: me)
        _ = store.insert(try GossipSamples.frame(.announce, sender: me.value, age: 59_000), at: now)
        for number in 0..<600 {
            _ = store.insert(try GossipSamples.frame(.announce, sender: UInt64(number)), at: now)
        }
        store.dropStaleAnnounces(at: later(2_000).wall)
        store.forgetPresence(of: me)
        XCTAssertNotNil(store.announces[me])
    }

    func testAnnounceTableDropsTheOldestTimestamp() throws {
        var store = GossipStore()
        for number in 0..<513 {
            let age = number == 40 ? 50_000 : Int64(number)
            _ = store.insert(try GossipSamples.frame(.announce, sender: UInt64(number), age: age), at: now)
        }
        XCTAssertEqual(store.announces.count, 512)
        XCTAssertNil(store.announces[PeerID(value: 40)])
    }

    // MARK: Prekey bundles

    func testBundleIsKeyedByTheOwnerInside() throws {
        var store = GossipStore()
        let (payload, owner) = try GossipSamples.bundle(owner: 3)
        _ = store.insert(try GossipSamples.frame(.prekeyBundle, sender: 1, payload: payload), at: now)
        XCTAssertEqual(
            store.insert(try GossipSamples.frame(.prekeyBundle, sender: 2, payload: payload), at: now),
            .refused(.outranked), "same time is not newer")
        XCTAssertEqual(
            store.insert(try GossipSamples.frame(.prekeyBundle, sender: 2, age: -1, payload: payload), at: now),
            .replaced)
        XCTAssertEqual(store.prekeys.count, 1)
        XCTAssertEqual(store.prekeys[owner]?.sender, PeerID(value: 2))
        XCTAssertEqual(
            store.insert(try GossipSamples.frame(.prekeyBundle, payload: [1, 2]), at: now), .refused(.notCarried))
    }

    func testTwoHundredOwnersAndKnownOnesMayRefresh() throws {
        var store = GossipStore()
        for owner in 0..<201 {
            let payload = try GossipSamples.bundle(owner: UInt8(owner)).payload
            let outcome = store.insert(try GossipSamples.frame(.prekeyBundle, payload: payload), at: now)
            XCTAssertEqual(outcome, owner < 200 ? .stored : .refused(.outranked))
        }
        let known = try GossipSamples.bundle(owner: 5).payload
        XCTAssertEqual(
            store.insert(try GossipSamples.frame(.prekeyBundle, age: -1, payload: known), at: now), .replaced)
    }

    // MARK: Presence

    func testPresenceLossTakesAnnounceAndFragmentsAndLeavesWhatWasSaid() throws {
        var store = GossipStore()
        let (bundle, _) = try GossipSamples.bundle(owner: 3)
        for sender: UInt64 in [1, 2] {
            for (type, payload) in [
                (MessageType.announce, [1]), (.message, [UInt8(sender)]), (.groupMessage, [UInt8(sender)]),
                (.fragment, GossipSamples.fragment(stream: sender)),
            ] {
                _ = store.insert(try GossipSamples.frame(type, sender: sender, payload: payload), at: now)
            }
        }
        _ = store.insert(try GossipSamples.frame(.prekeyBundle, sender: 1, payload: bundle), at: now)
        store.forgetPresence(of: PeerID(value: 1))
        XCTAssertEqual(store.announces.count, 1)
        XCTAssertEqual(store.fragments.count, 1)
        XCTAssertEqual(store.messages.count, 2)
        XCTAssertEqual(store.groupMessages.count, 2)
        XCTAssertEqual(store.prekeys.count, 1)
    }

    func testWhatABlockedSenderSaidIsNotTakenInAgain() throws {
        var store = GossipStore()
        let frame = try GossipSamples.frame()
        _ = store.insert(frame, at: now)
        store.removeMessages(of: PeerID(value: 0xa1))
        XCTAssertEqual(store.messages.count, 0)
        XCTAssertEqual(store.insert(frame, at: now), .refused(.remembered))
    }

    func testFloodOfAHundredThousandPacketsStaysWithinItsBounds() throws {
        var store = GossipStore()
        var random = SeededRandom(seed: 3)
        let payload = random.bytes(120)
        for number in 0..<100_000 {
            let type: MessageType = number % 2 == 0 ? .message : .fragment
            let body = type == .message ? payload : GossipSamples.fragment(stream: UInt64(number)) + payload
            let frame = try GossipSamples.frame(
                type, sender: UInt64(number % 700), age: Int64(number % 900_000), payload: body)
            _ = store.insert(frame, at: now)
        }
        XCTAssertEqual(store.messages.count, 1_000)
        XCTAssertEqual(store.fragments.count, 600)
        XCTAssertLessThanOrEqual(store.bytes, (4 << 20) + (1 << 20) + (1 << 20))
        XCTAssertEqual(store.messages.horizon.count, 32_768)
        XCTAssertEqual(store.fragments.horizon.count, 2_048)
        XCTAssertGreaterThan(store.earlyEvictions, 0)
    }
}

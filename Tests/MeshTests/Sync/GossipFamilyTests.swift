import Basics
import Wire
import XCTest

@testable import Mesh

final class GossipFamilyTests: XCTestCase {
    private func family(
        capacity: Int = 5, bytes: Int = .max, share: Int? = nil, remembered: Int = 100, tracks: Bool = false
    ) -> GossipFamily {
        GossipFamily(
            GossipPolicy.Family(
                capacity: capacity, bytes: bytes, maxAge: 10_000, senderShare: share, remembered: remembered,
                rememberedFor: 20_000),
            tracksChanges: tracks)
    }

    private func entry(_ number: Int, sender: UInt64 = 0xa1, age: Int64 = 0, padding: Int = 0) throws -> GossipEntry {
        var random = SeededRandom(seed: UInt64(number))
        let payload = GossipSamples.numbered(number) + random.bytes(padding)
        return try GossipSamples.entry(GossipSamples.frame(sender: sender, age: age, payload: payload))
    }

    func testOldestArrivalGoesFirstWhateverItsTimestamp() throws {
        var family = family()
        let entries = try (0..<7).map { try entry($0, age: Int64($0) * 1_000) }
        for entry in entries { XCTAssertEqual(family.insert(entry), .added) }
        XCTAssertEqual(Array(family.inOrder).map(\.id), entries[2...].map(\.id))
        XCTAssertEqual(family.newest(2, at: GossipSamples.now.wall).map(\.id), [entries[0].id, entries[1].id])
    }

    func testANeighbourThatBringsTooMuchPushesOutOnlyWhatItBrought() throws {
        var policy = GossipPolicy.gateway.messages
        policy.capacity = 10
        var family = GossipFamily(policy)
        func bring(_ numbers: Range<Int>, by neighbour: UInt64) throws -> [PacketID] {
            try numbers.map { number in
                let frame = try GossipSamples.frame(sender: UInt64(number), payload: GossipSamples.numbered(number))
                let entry = try XCTUnwrap(
                    GossipEntry(frame, heardFrom: PeerID(value: neighbour), at: GossipSamples.now.monotonic))
                XCTAssertEqual(family.insert(entry), .added)
                return entry.id
            }
        }
        let first = try bring(0..<4, by: 1)
        let flood = try bring(100..<200, by: 2)
        let last = try bring(4..<6, by: 3)
        XCTAssertEqual(family.count, 10)
        for id in first + last { XCTAssertNotNil(family[id]) }
        XCTAssertEqual(family.inOrder.map(\.id), first + flood.suffix(4) + last)
        // Of neighbours with as many, the one whose oldest packet is older pays.
        let more = try bring(6..<7, by: 3)
        XCTAssertNil(family[first[0]])
        XCTAssertNotNil(family[more[0]])
    }

    func testAFewLargePacketsOfOneNeighbourPushOutNoneOfManySmallOnesOfAnother() throws {
        var policy = GossipPolicy.gateway.messages
        policy.bytes = 100_000
        var family = GossipFamily(policy)
        func bring(_ number: Int, by neighbour: UInt64, padding: Int) throws -> PacketID {
            var random = SeededRandom(seed: UInt64(number))
            let frame = try GossipSamples.frame(payload: GossipSamples.numbered(number) + random.bytes(padding))
            let entry = try XCTUnwrap(
                GossipEntry(frame, heardFrom: PeerID(value: neighbour), at: GossipSamples.now.monotonic))
            XCTAssertEqual(family.insert(entry), .added)
            return entry.id
        }
        let small = try (0..<200).map { try bring($0, by: 1, padding: 100) }
        let large = try (1_000..<1_010).map { try bring($0, by: 2, padding: 30_000) }
        XCTAssertEqual(small.filter { family[$0] != nil }.count, small.count)
        XCTAssertEqual(large.filter { family[$0] != nil }, Array(large.suffix(2)))
        XCTAssertLessThanOrEqual(family.bytes, policy.bytes)
    }

    func testKnownPacketIsReplacedInItsPosition() throws {
        var family = family()
        let entries = try (0..<3).map { try entry($0) }
        for entry in entries { _ = family.insert(entry) }
        var copy = entries[0]
        copy.frame.setTTL(0)
        XCTAssertEqual(family.insert(copy), .replaced)
        XCTAssertEqual(Array(family.inOrder).map(\.id), entries.map(\.id))
        XCTAssertEqual(family[entries[0].id]?.frame.ttl, 0)
        XCTAssertEqual(family.count, 3)
    }

    func testBytesBoundTheFamilyToo() throws {
        let size = try entry(0, padding: 500).frame.bytes.count
        var family = family(capacity: 100, bytes: 3 * size)
        for number in 0..<10 { _ = family.insert(try entry(number, padding: 500)) }
        XCTAssertEqual(family.count, 3)
        XCTAssertEqual(family.bytes, 3 * size)
        XCTAssertEqual(family.insert(try entry(77, padding: 4 * 500)), .refused, "larger than all that may be held")
        XCTAssertEqual(family.count, 3)
    }

    func testOneSenderHasAShareAndPushesOutOnlyItself() throws {
        var family = family(capacity: 8, share: 2)
        let quiet = try (0..<3).map { try entry($0, sender: 1) }
        _ = family.insert(quiet[0])
        for number in 10..<30 { _ = family.insert(try entry(number, sender: 2)) }
        _ = family.insert(quiet[1])
        XCTAssertEqual(family.count, 4)
        XCTAssertNotNil(family[quiet[0].id])
        _ = family.insert(quiet[2])
        XCTAssertNil(family[quiet[0].id], "beyond the share its own oldest goes")
    }

    func testWhatWasLetGoIsRememberedAndNotTakenInAgain() throws {
        var family = family(capacity: 2)
        let entries = try (0..<3).map { try entry($0) }
        for entry in entries { _ = family.insert(entry) }
        XCTAssertNil(family[entries[0].id])
        XCTAssertTrue(family.knows(entries[0].id))
        XCTAssertEqual(family.insert(entries[0]), .remembered)
        XCTAssertEqual(
            Set(family.newest(10, at: GossipSamples.now.wall).map(\.id)), Set(entries.map(\.id)),
            "a filter names it, so that nobody offers it again")
    }

    func testAgeEndsServingFirstAndRememberingLater() throws {
        var family = family()
        let old = try entry(1, age: 10_000)
        XCTAssertEqual(family.insert(old), .added)
        family.expire(at: GossipSamples.now.wall)
        XCTAssertNotNil(family[old.id], "exactly the age is fresh")
        let wall = WallTime(milliseconds: GossipSamples.now.wall.milliseconds + 1)
        family.expire(at: wall)
        XCTAssertNil(family[old.id])
        XCTAssertTrue(family.knows(old.id))
        XCTAssertEqual(family.newest(10, at: wall), [], "what nobody may serve needs no mention")
        family.expire(at: WallTime(milliseconds: GossipSamples.now.wall.milliseconds + 10_000))
        XCTAssertTrue(family.knows(old.id))
        family.expire(at: WallTime(milliseconds: GossipSamples.now.wall.milliseconds + 10_001))
        XCTAssertFalse(family.knows(old.id))
    }

    func testHorizonIsBoundByCountAndCountsWhatThatCosts() throws {
        var family = family(capacity: 1, remembered: 3)
        let entries = try (0..<6).map { try entry($0, age: 5_000 - Int64($0)) }
        for entry in entries { _ = family.insert(entry) }
        XCTAssertEqual(family.horizon.count, 3)
        XCTAssertEqual(family.horizon.earlyEvictions, 2)
        XCTAssertFalse(family.knows(entries[0].id), "the oldest timestamp goes")
        XCTAssertTrue(family.knows(entries[2].id))
    }

    func testSenderIsLetGoOfAsAWhole() throws {
        var family = family(capacity: 20)
        for number in 0..<10 { _ = family.insert(try entry(number, sender: UInt64(number % 2))) }
        family.letGo(ofAllFrom: PeerID(value: 1))
        XCTAssertEqual(family.count, 5)
        XCTAssertTrue(family.inOrder.allSatisfy { $0.sender == PeerID(value: 0) })
        family.letGo(ofAllFrom: PeerID(value: 99))
        XCTAssertEqual(family.count, 5)
    }

    func testFamilySwitchedOffHoldsNothing() throws {
        var family = family(capacity: 0)
        XCTAssertEqual(family.insert(try entry(0)), .refused)
        XCTAssertEqual(family.count, 0)
    }

    func testChangesNameEveryPacketOnceAndOverflowIntoEverything() throws {
        var family = family(capacity: 2, tracks: true)
        let entries = try (0..<4).map { try entry($0) }
        for entry in entries { _ = family.insert(entry) }
        XCTAssertEqual(family.takeChanges()?.ids, entries.map(\.id))
        XCTAssertEqual(family.takeChanges()?.isEmpty, true)
        _ = family.insert(try entry(4), restored: 17)
        XCTAssertEqual(family.takeChanges()?.ids, [entries[2].id], "a restored packet is known to the archive")
        _ = family.insert(try entry(5))
        XCTAssertEqual(family.arrival(of: try entry(5).id), 18)

        var changes = PacketChanges()
        for number in 0...SyncLimits.archiveChanges { changes.note(PacketID(high: 0, low: UInt64(number))) }
        XCTAssertTrue(changes.isEverything)
        XCTAssertTrue(changes.ids.isEmpty)
    }

    /// Every operation against a plain list.
    func testBehavesLikeAListInOrderOfArrival() throws {
        var random = SeededRandom(seed: 11)
        var family = family(capacity: 40, share: 15, remembered: 0)
        var model: [(id: PacketID, sender: PeerID, timestamp: WallTime)] = []
        var now = GossipSamples.now
        for step in 0..<3_000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                let sender = PeerID(value: UInt64.random(in: 0..<5, using: &random))
                family.letGo(ofAllFrom: sender)
                model.removeAll { $0.sender == sender }
            case 1, 2:
                now = now.advanced(by: .milliseconds(500))
                family.expire(at: now.wall)
                model.removeAll { $0.timestamp < now.wall.cutoff(age: 10_000) }
            default:
                let frame = try GossipSamples.frame(
                    sender: UInt64.random(in: 0..<5, using: &random),
                    age: Int64.random(in: 0..<9_000, using: &random), payload: GossipSamples.numbered(step), at: now)
                let entry = try GossipSamples.entry(frame, at: now)
                _ = family.insert(entry)
                model.append((entry.id, entry.sender, entry.timestamp))
                if model.filter({ $0.sender == entry.sender }).count > 15,
                    let oldest = model.firstIndex(where: { $0.sender == entry.sender })
                {
                    model.remove(at: oldest)
                }
                if model.count > 40 { model.removeFirst() }
            }
            XCTAssertEqual(family.count, model.count)
        }
        XCTAssertEqual(family.inOrder.map(\.id), model.map(\.id))
        let newest = model.sorted { ($0.timestamp, $0.id) > ($1.timestamp, $1.id) }.map(\.id)
        XCTAssertEqual(family.newest(.max, at: now.wall).map(\.id), newest)
        XCTAssertEqual(family.bytes, family.inOrder.reduce(0) { $0 + $1.frame.bytes.count })
    }
}

import Basics
import Wire
import XCTest

@testable import Mesh

/// What the filter of the references cannot ask for any more, ours can (chapter 04 §6.3).
final class SyncCompletenessTests: XCTestCase {
    private let now = GossipSamples.now
    private let types = SyncRound.history.types

    /// Messages aged 0, 1, 2 … milliseconds, without those of the given ages.
    private func inventory(_ count: Int, without missing: Set<Int> = []) throws -> SyncInventory {
        var store = GossipStore()
        // Oldest first, so that the newest are held and the rest is remembered.
        for age in (0..<count).reversed() where !missing.contains(age) {
            let frame = try GossipSamples.frame(age: Int64(age), payload: GossipSamples.numbered(age))
            XCTAssertEqual(store.insert(frame, at: now), .stored)
        }
        return SyncInventory(store: store)
    }

    private func request(
        _ inventory: SyncInventory, _ sizing: SyncFilterSizing = .complete, variation: UInt32 = 0
    ) -> RequestSync {
        SyncRequestBuilder.request(for: types, inventory, sizing: sizing, variation: variation, at: now.wall)
    }

    private func ages(_ answer: [GossipEntry]) -> [Int] {
        answer.map { Int(now.wall.milliseconds - $0.timestamp.milliseconds) }
    }

    func testASmallStoreAsksWithTheReferencesFilter() throws {
        for count in [0, 1, 5, 40, 355] {
            let inventory = try inventory(count)
            XCTAssertEqual(request(inventory), request(inventory, .reference), "\(count) messages")
        }
    }

    func testFilterGrowsToAThousandBytesThenCoarserAndOnlyThenLeavesPacketsOut() throws {
        let expected: [(count: Int, parameter: UInt8)] = [
            (356, 7), (910, 7), (911, 6), (1_024, 6), (1_025, 5), (1_170, 5), (1_171, 4), (1_365, 4), (1_366, 3),
            (1_638, 3), (1_639, 2), (2_048, 2), (2_049, 1), (2_730, 1),
        ]
        for (count, parameter) in expected {
            let request = request(try inventory(count))
            XCTAssertEqual(request.filter.parameter, parameter, "\(count) messages")
            XCTAssertEqual(request.filter.modulus, UInt32(count) << UInt32(parameter))
            XCTAssertNil(request.since, "\(count) messages")
            XCTAssertLessThanOrEqual(request.filter.data.count, 1_024)
            XCTAssertNotNil(request.encoded().flatMap { RequestSync(payload: $0) })
        }
        let partial = request(try inventory(2_731))
        XCTAssertEqual(partial.since, WallTime(milliseconds: now.wall.milliseconds - 2_729))
        XCTAssertLessThanOrEqual(partial.filter.data.count, 1_024)
    }

    func testAMessageMissedLongAgoIsAskedForHoweverMuchWasSaidSince() throws {
        for count in [400, 911, 1_000] {
            let full = try inventory(count)
            for age in [0, 354, 355, 360, count / 2, count - 1] where age < count {
                let gappy = try inventory(count, without: [age])
                let answers = (0..<8 as Range<UInt32>).map {
                    ages(SyncAnswer.entries(for: request(gappy, variation: $0), full, at: now.wall))
                }
                XCTAssertTrue(answers.contains([age]), "message \(age) of \(count)")
                XCTAssertTrue(answers.allSatisfy { $0 == [age] || $0.isEmpty }, "and nothing else is sent")
            }
        }
    }

    func testTheReferencesFilterNeverAsksForIt() throws {
        let full = try inventory(1_000)
        let gappy = try inventory(1_000, without: [600])
        XCTAssertTrue(SyncAnswer.entries(for: request(gappy, .reference), full, at: now.wall).isEmpty)
    }

    func testWhatOneFilterHidesByMistakeAnotherRoundShows() throws {
        let full = try inventory(1_000)
        let missing = Set(stride(from: 0, to: 1_000, by: 4))
        let gappy = try inventory(1_000, without: missing)
        var hidden: [Set<Int>] = []
        for variation in 0..<GCSFilter.variations {
            let request = request(gappy, variation: variation)
            XCTAssertEqual(request.filter.parameter, 7)
            let shown = ages(SyncAnswer.entries(for: request, full, at: now.wall))
            hidden.append(missing.subtracting(shown))
        }
        XCTAssertTrue(hidden.contains { !$0.isEmpty }, "one in 128 is hidden")
        for (one, next) in zip(hidden, hidden.dropFirst()) { XCTAssertTrue(one.isDisjoint(with: next)) }
    }

    func testEvenTheCoarsestFilterShowsEverythingInAFewRounds() throws {
        // A neighbour holds the newest thousand; we lack some of them, and remember many more.
        let full = try inventory(2_700)
        let missing = Set(stride(from: 3, to: 1_000, by: 50))
        let gappy = try inventory(2_700, without: missing)
        var wanting = missing
        var rounds: UInt32 = 0
        while !wanting.isEmpty, rounds < 20 {
            let request = request(gappy, variation: rounds)
            XCTAssertEqual(request.filter.parameter, 1)
            wanting.subtract(ages(SyncAnswer.entries(for: request, full, at: now.wall)))
            rounds += 1
        }
        XCTAssertTrue(wanting.isEmpty)
    }

    func testBoardOfSixHundredEntriesIsNamedWhole() throws {
        let entries = try (0..<600).map {
            try GossipSamples.entry(
                GossipSamples.frame(.boardPost, age: Int64($0), payload: GossipSamples.numbered($0)))
        }
        let inventory = SyncInventory(store: GossipStore(), board: entries)
        let request = SyncRequestBuilder.request(for: .boardPost, inventory, sizing: .complete, at: now.wall)
        XCTAssertNil(request.since)
        let members = request.filter.members()
        XCTAssertTrue(entries.allSatisfy { members.contains($0.hash) })
    }

    // MARK: On the air

    func testANodeWithAFullHistoryAsksAsOftenAsAnEmptyOneInThreeFragments() throws {
        let author = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
        let node = NodeHarness()
        let link = try node.meet(author)
        // At the pace a link is granted.
        for number in 0..<950 {
            node.receive(try author.message("number \(number)", at: node.now, age: 1), on: link)
            node.advance(by: .milliseconds(20))
        }
        node.receive(try author.announce(at: node.now), on: link)
        XCTAssertEqual(node.node.historyCount, 950)
        node.clearSent()
        let before = node.node.counts[.syncRequestsSent]
        node.advance(by: .seconds(30))
        XCTAssertEqual(node.node.counts[.syncRequestsSent] - before, 4, "history, fragments, prekeys, board")
        let fragments = node.frames(.fragment)
        XCTAssertEqual(fragments.count, 3)
        var payload: [UInt8] = []
        for fragment in fragments {
            payload += fragment.frame.withView { $0.withPayload { Array(FragmentHeader.slice(of: $0)) } } ?? []
        }
        let packet = try XCTUnwrap(Packet(decoding: payload))
        let request = try XCTUnwrap(RequestSync(payload: packet.payload))
        XCTAssertNil(request.since)
        XCTAssertGreaterThan(request.filter.modulus, 950 * 64 - 64)
    }

    func testNoTwoFiltersInARowHaveTheSameModulus() throws {
        let author = ScriptedPeer(seed: 7)
        let node = NodeHarness()
        let link = try node.meet(author)
        for number in 0..<100 { node.receive(try author.message("number \(number)", at: node.now), on: link) }
        for _ in 0..<6 {
            node.advance(by: .seconds(30))
            node.receive(try author.announce(at: node.now), on: link)
        }
        let moduli = try node.requests(to: author.id).dropFirst().map(\.request.filter.modulus)
        XCTAssertGreaterThan(moduli.count, 4)
        for (one, next) in zip(moduli, moduli.dropFirst()) { XCTAssertNotEqual(one, next) }
    }
}

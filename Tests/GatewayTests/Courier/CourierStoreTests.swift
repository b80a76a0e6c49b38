import Basics
import Crypto
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §6.2 to §6.7.
final class CourierStoreTests: XCTestCase {
    private let start = Clock.now().wall
    private let alice = Correspondent(1)
    private let bob = Correspondent(2)
    private let carol = Correspondent(3)

    private func later(_ seconds: UInt64) -> WallTime { WallTime(milliseconds: start.milliseconds + seconds * 1_000) }

    private func refusal(_ body: () throws -> Void) -> CourierRefusal? {
        do {
            try body()
            return nil
        } catch {
            return error as? CourierRefusal
        }
    }

    func testAGatewayTakesTheQuotasOfACrowd() throws {
        var store = CourierStore()
        for number in 0..<9 as Range<UInt8> {
            let refused = refusal {
                _ = try store.deposit(bob.mail(number, at: start), from: alice.key, tier: .verified, at: start)
            }
            XCTAssertEqual(refused, number < 8 ? nil : .depositorQuota)
        }
        for depositor in 10..<29 as Range<UInt64> {
            for number in 0..<8 as Range<UInt8> {
                let mail = Correspondent(depositor + 500).mail(number, at: start)
                _ = try store.deposit(mail, from: Correspondent(depositor).key, tier: .verified, at: start)
            }
        }
        XCTAssertEqual(store.count, 160)
        XCTAssertEqual(
            refusal {
                _ = try store.deposit(
                    carol.mail(0, at: start), from: Correspondent(400).key, tier: .verified, at: start)
            }, .verifiedFull)
        for depositor in 30..<32 as Range<UInt64> {
            for number in 0..<20 as Range<UInt8> {
                let mail = Correspondent(depositor + 500).mail(number, at: start)
                _ = try store.deposit(mail, from: Correspondent(depositor).key, tier: .favorite, at: later(1))
            }
        }
        XCTAssertEqual(store.count, 200)
    }

    /// With room for four in all and three of the verified.
    private func full(of tiers: [CourierTier]) throws -> CourierStore {
        var store = CourierStore(quota: CourierQuota(total: 4, verified: 4, perFavorite: 9, perVerified: 9))
        for (number, tier) in tiers.enumerated() {
            _ = try store.deposit(
                bob.mail(UInt8(number), at: start), from: Correspondent(UInt64(20 + number)).key, tier: tier,
                at: later(UInt64(number)))
        }
        return store
    }

    func testTheOldestOfTheMerelyVerifiedMakesRoom() throws {
        var store = try full(of: [.favorite, .verified, .verified, .favorite])
        let oldest = store.envelopes[1].id
        let changes = try store.deposit(carol.mail(0, at: start), from: alice.key, tier: .favorite, at: later(9))
        XCTAssertEqual(changes.first, .removed(oldest))
        XCTAssertEqual(store.count, 4)
    }

    func testAFavouriteDisplacesAFavouriteAndNobodyElseDoes() throws {
        var store = try full(of: [.favorite, .favorite, .favorite, .favorite])
        XCTAssertEqual(
            refusal {
                _ = try store.deposit(carol.mail(0, at: start), from: alice.key, tier: .verified, at: later(9))
            }, .full)
        let oldest = store.envelopes[0].id
        XCTAssertEqual(
            try store.deposit(carol.mail(0, at: start), from: alice.key, tier: .favorite, at: later(9)).first,
            .removed(oldest))
    }

    func testWhatARelayHasACopyOfGoesFirst() throws {
        var store = try full(of: [.verified, .verified, .verified, .verified])
        let published = store.envelopes[2].id
        _ = store.published(published, at: later(60))
        let changes = try store.deposit(carol.mail(0, at: start), from: alice.key, tier: .favorite, at: later(90))
        XCTAssertEqual(changes.first, .removed(published))
    }

    func testAFullVerifiedPoolLetsGoOfWhatRelaysHaveBeforeItRefuses() throws {
        let quota = CourierQuota(total: 9, verified: 4, perFavorite: 9, perVerified: 3)
        var store = CourierStore(quota: quota)
        // One letter of an honest depositor, the oldest, and three of one who fills the pool.
        _ = try store.deposit(bob.mail(0, at: start), from: bob.key, tier: .verified, at: start)
        for number in 1..<4 as Range<UInt8> {
            _ = try store.deposit(bob.mail(number, at: start), from: carol.key, tier: .verified, at: later(1))
        }
        let ids = store.envelopes.map(\.id)
        func leave(_ number: UInt8) throws -> [CourierStore.Change] {
            try store.deposit(carol.mail(number, at: start), from: alice.key, tier: .verified, at: later(9))
        }
        XCTAssertEqual(refusal { _ = try leave(0) }, .verifiedFull, "nobody else has a copy of any")
        for id in [ids[0], ids[2], ids[3]] { _ = store.published(id, at: later(5)) }
        XCTAssertEqual(try leave(1).first, .removed(ids[2]), "of whoever has most")
        XCTAssertEqual(try leave(2).first, .removed(ids[3]))
        XCTAssertEqual(try leave(3).first, .removed(ids[0]), "who has one last")
        XCTAssertEqual(refusal { _ = try leave(4) }, .depositorQuota)
        XCTAssertEqual(store.count, 4)
        XCTAssertEqual(store.envelopes[0].id, ids[1], "what nobody else has stays")
    }

    /// A replay replenishes no budget once shared and never counts.
    func testReplayNotReplenishing() throws {
        var store = CourierStore()
        let mail = bob.mail(1, copies: 4, at: start)
        XCTAssertEqual(try store.deposit(mail, from: alice.key, tier: .verified, at: start).count, 1)
        XCTAssertEqual(try store.deposit(mail.withCopies(2), from: alice.key, tier: .verified, at: start), [])
        XCTAssertEqual(try store.deposit(mail.withCopies(8), from: carol.key, tier: .verified, at: start).count, 1)
        XCTAssertEqual(store.envelopes[0].envelope.copies, 8)
        XCTAssertEqual(store.envelopes[0].depositor, alice.key)
        let share = try XCTUnwrap(store.shares(for: carol.key, at: start).first)
        _ = store.gave(share, to: carol.key)
        XCTAssertEqual(try store.deposit(mail.withCopies(8), from: alice.key, tier: .verified, at: start), [])
        XCTAssertEqual(store.envelopes[0].envelope.copies, 4)
        XCTAssertEqual(store.count, 1)
    }

    func testBudgetsAreHalvedAsTheWorkedExampleSays() throws {
        // Chapter 06 §19.6 and §6.5: 4 becomes 2 + 2, then 1 + 1; 3 becomes 1 + 2.
        for (budget, given) in [(4, [2, 1]), (3, [1, 1]), (8, [4, 2, 1]), (2, [1]), (1, []), (7, [3, 2, 1])] {
            var store = CourierStore()
            _ = try store.deposit(
                bob.mail(1, copies: UInt8(budget), at: start), from: alice.key, tier: .favorite, at: start)
            var shares: [Int] = []
            for number in 0..<10 as Range<UInt64> {
                let courier = Correspondent(100 + number).key
                guard let share = store.shares(for: courier, at: start).first else { continue }
                shares.append(Int(share.copies))
                _ = store.gave(share, to: courier)
            }
            XCTAssertEqual(shares, given, "\(budget)")
            XCTAssertEqual(store.envelopes[0].envelope.copies, 1)
            XCTAssertEqual(shares.reduce(0, +) + 1, budget, "no copy appears or gets lost")
        }
    }

    func testARejectedShareOrHandoverChangesNothing() throws {
        var store = CourierStore()
        _ = try store.deposit(bob.mail(1, at: start), from: alice.key, tier: .verified, at: start)
        let before = store.envelopes
        _ = store.shares(for: carol.key, at: start)
        _ = store.addressed(to: bob.key, at: start)
        _ = store.speculative(to: bob.key, at: start)
        XCTAssertEqual(store.envelopes, before)
    }

    func testTagsOfTheDaysBesideMatchAndOthersDoNot() throws {
        var store = CourierStore()
        _ = try store.deposit(
            bob.mail(1, at: start, life: 25 * 3_600_000), from: alice.key, tier: .verified, at: start)
        XCTAssertEqual(store.addressed(to: bob.key, at: later(24 * 3_600)).count, 1)
        XCTAssertEqual(store.addressed(to: carol.key, at: start), [])
        XCTAssertEqual(store.addressed(to: bob.key, at: later(26 * 3_600)), [], "expired")
        XCTAssertEqual(store.prune(at: later(25 * 3_600)).count, 1)
        XCTAssertTrue(store.isEmpty)
    }

    func testExpiryIsBoundBothWays() throws {
        var store = CourierStore()
        for (life, expected) in [
            (0 as UInt64, CourierRefusal.expired), (1, nil), (25 * 3_600_000, nil), (25 * 3_600_000 + 1, .expiryTooFar),
        ] as [(UInt64, CourierRefusal?)] {
            let mail = bob.mail(UInt8(truncatingIfNeeded: life % 251), at: start, life: life)
            XCTAssertEqual(
                refusal { _ = try store.deposit(mail, from: alice.key, tier: .favorite, at: start) }, expected)
        }
    }

    // MARK: Across restarts

    /// A merge brings no budget back.
    func testUnreadableFileMerge() throws {
        var before = CourierStore()
        let mail = bob.mail(1, copies: 8, at: start)
        _ = try before.deposit(mail, from: alice.key, tier: .verified, at: start)
        let share = try XCTUnwrap(before.shares(for: carol.key, at: start).first)
        _ = before.gave(share, to: carol.key)
        _ = before.sentSpeculatively(share.id, at: later(5))

        var since = CourierStore()
        _ = try since.deposit(mail, from: alice.key, tier: .verified, at: later(60))
        _ = since.published(share.id, at: later(70))
        _ = since.restore(before.envelopes, at: later(80))
        let merged = try XCTUnwrap(since.envelopes.first)
        XCTAssertEqual(since.count, 1)
        XCTAssertEqual(merged.envelope.copies, 4)
        XCTAssertEqual(merged.couriers, [carol.key])
        XCTAssertEqual(merged.storedAt, start)
        XCTAssertEqual(merged.lastRemoteHandover, later(5))
        XCTAssertEqual(merged.lastPublished, later(70))
    }

    func testAMergeKeepsTheBounds() throws {
        let old = try full(of: [.verified, .favorite, .verified, .favorite])
        var new = CourierStore(quota: old.quota)
        for number in 0..<4 as Range<UInt8> {
            _ = try new.deposit(
                carol.mail(number, at: start), from: Correspondent(UInt64(40 + number)).key, tier: .favorite,
                at: later(100))
        }
        let changes = new.restore(old.envelopes, at: later(101))
        XCTAssertEqual(new.count, 4)
        XCTAssertEqual(changes.count { if case .removed = $0 { true } else { false } }, 4)
        XCTAssertEqual(
            new.envelopes.map(\.storedAt), [WallTime](repeating: later(100), count: 4),
            "the verified first, then the old")
    }
}

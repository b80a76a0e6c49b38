import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// What relays keep beyond what they send at once.
final class DropPageTests: XCTestCase {
    private let alice = Correspondent(1)
    private let bob = Correspondent(2)
    private let pages = ["-older", "-older-2"].map { Courier.subscriptionID + $0 }

    /// The page that is asked for.
    private func page(_ rig: CourierRig) -> (id: String, until: Int64)? {
        let open = pages.compactMap { id in rig.subscriptions[id].flatMap { $0.until.map { (id, $0) } } }
        XCTAssertLessThan(open.count, 2)
        return open.first
    }

    private func turn(_ rig: CourierRig, _ extent: StoredExtent = StoredExtent()) {
        guard let page = page(rig) else { return XCTFail("no page") }
        rig.load(page.id, extent)
    }

    private func extent(_ times: Int64...) -> StoredExtent { StoredExtent(of: times, limit: 1_000) }
    private func full(_ times: Int64...) -> StoredExtent { StoredExtent(of: times, limit: times.count) }

    /// A relay that answers like a real one: the newest that match, a hundred or as few as it gives anybody. Of what it
    /// sends some is refused on its way.
    private func answer(
        _ rig: CourierRig, from kept: [VerifiedEvent], cap: Int, refusing isRefused: (VerifiedEvent) -> Bool
    ) {
        var answered: Set<String> = []
        while let (id, filter) = rig.subscriptions.first(where: { answered.insert("\($0.key) \($0.value)").inserted }) {
            let found = kept.filter { filter.matches($0.event) }.sorted { $0.event.createdAt > $1.event.createdAt }
                .prefix(min(filter.limit ?? 0, cap))
            for event in found where !isRefused(event) { rig.tell(event) }
            rig.load(id, StoredExtent(of: found.map(\.event.createdAt), limit: filter.limit))
        }
    }

    func testAHundredWorthlessDropsHideNobodysLetter() throws {
        for cap in [100, 60] {
            try hide(cap: cap) { _ in false }
            try hide(cap: cap) { $0.isMultiple(of: 2) }
            // Expired, told again, beyond limits: no worthless one comes this far.
            try hide(cap: cap) { _ in true }
        }
    }

    /// - Parameter isRefused: which of the worthless ones, by number.
    private func hide(cap: Int, refusing isRefused: (Int) -> Bool) throws {
        let rig = CourierRig()
        let mail = alice.mail(1, at: rig.now.wall)
        var kept = [try rig.drop(mail)]
        for number in 0..<350 as Range<UInt16> {
            if number % 10 == 0 { rig.advance(by: .seconds(1)) }
            kept.append(
                try rig.drop(
                    CourierEnvelope(
                        recipientTag: bob.mail(0, at: rig.now.wall).recipientTag, expiry: mail.expiry,
                        ciphertext: [UInt8(number >> 8), UInt8(number & 255)], copies: 1)))
        }
        rig.meet(alice, .proven)
        rig.meet(bob, .relayed)
        rig.advance(by: .minutes(2))
        rig.forget()
        answer(rig, from: kept, cap: cap) { event in
            kept.firstIndex(of: event).map { $0 > 0 && isRefused($0) } ?? false
        }
        XCTAssertTrue(rig.handed.contains { $0.ciphertext == mail.ciphertext })
        XCTAssertEqual(rig.subscriptions.count, 1, "what was asked for once is closed")
        XCTAssertEqual(Set(rig.requests), Set(pages.flatMap { ["+" + $0, "-" + $0] }))
        XCTAssertLessThanOrEqual(rig.requests.count, 16)
    }

    func testAnAnswerOfWhichNothingComesThisFarIsReadOnFrom() {
        let rig = CourierRig()
        let now = rig.now.wall.unixSeconds
        rig.forget()
        rig.load(Courier.subscriptionID, full(now, now - 5))
        XCTAssertEqual(page(rig)?.until, now - 5)
        turn(rig, extent(now - 5, now - 9))
        XCTAssertEqual(page(rig)?.until, now - 9)
        turn(rig, extent(now - 9))
        XCTAssertNil(page(rig), "nothing older")
        XCTAssertEqual(rig.requests, pages.flatMap { ["+" + $0, "-" + $0] })
    }

    func testARelayThatAnswersLateIsReadOnFromAsWell() {
        let rig = CourierRig()
        let now = rig.now.wall.unixSeconds
        rig.load()
        rig.forget()
        rig.load(Courier.subscriptionID, extent(now - 10))
        XCTAssertEqual(page(rig)?.until, now - 10)
        // Another one while that is waited for: what is being read is read to its end first.
        rig.load(Courier.subscriptionID, full(now))
        rig.load(Courier.subscriptionID, full(now - 1))
        turn(rig, full(now - 20))
        XCTAssertEqual(page(rig)?.until, now - 20)
        turn(rig)
        XCTAssertEqual(page(rig)?.until, now)
        turn(rig)
        XCTAssertEqual(rig.requests.count, 6)
        XCTAssertNil(page(rig))
    }

    func testFurtherAnswersAreFewAndEndWhereRelaysHaveNoMore() throws {
        let rig = CourierRig()
        rig.meet(bob, .relayed)
        rig.advance(by: .minutes(2))
        rig.forget()
        rig.load()
        XCTAssertEqual(rig.requests, [], "relays have nothing")
        // A relay that never comes to an end: always of one second, or as slow as can be.
        let now = rig.now.wall.unixSeconds
        rig.load(Courier.subscriptionID, full(now))
        var asked: [Int64] = []
        for round in 0..<40 {
            guard let until = page(rig)?.until else { break }
            asked.append(until)
            turn(rig, round.isMultiple(of: 2) ? full(now) : extent(until - 1))
        }
        XCTAssertEqual(asked, (0..<16).map { now - $0 }, "never back, and no more than that")
        XCTAssertEqual(rig.count(.dropsUnread), 1)
        XCTAssertNil(page(rig))
        rig.advance(by: .seconds(61))
        XCTAssertEqual(page(rig)?.until, now - 16, "it goes on where it stopped")
        turn(rig, full(now - 86_400))
        XCTAssertNil(page(rig), "the day is over")
        rig.advance(by: .minutes(5))
        XCTAssertNil(page(rig))
        rig.call { $0.relayConnectivityChanged(false, at: $1) }
        for page in pages { rig.load(page, full(now)) }
        rig.load(Courier.subscriptionID, full(now))
        XCTAssertTrue(rig.subscriptions.isEmpty)
    }

    func testWhoeverHasManyDropsDoesNotKeepThoseOfOthersFromBeingRead() throws {
        let rig = CourierRig()
        for number in 0..<30 as Range<UInt64> { rig.meet(Correspondent(500 + number), .relayed) }
        rig.advance(by: .minutes(2))
        let bases = rig.subscriptions.keys.sorted()
        XCTAssertEqual(bases.count, 2)
        let now = rig.now.wall.unixSeconds
        var turns: [String: Int] = [:]
        for base in bases { rig.load(base, full(now)) }
        for _ in 0..<10 {
            for base in bases {
                guard let page = rig.subscriptions.keys.first(where: { $0.hasPrefix(base + "-older") }) else {
                    continue
                }
                turns[base, default: 0] += 1
                rig.load(page, full(now))
            }
            rig.advance(by: .minutes(1))
            for number in 0..<30 as Range<UInt64> { rig.meet(Correspondent(500 + number), .relayed) }
        }
        XCTAssertGreaterThanOrEqual(turns.values.min() ?? 0, 8, "\(turns)")
    }
}

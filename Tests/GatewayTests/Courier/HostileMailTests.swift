import Basics
import Crypto
import Nostr
import Wire
import XCTest

@testable import Gateway

/// People who mean no good, and what they get: nothing is doubled, nobody starves, and each is counted.
final class HostileMailTests: XCTestCase {
    private let alice = Correspondent(1)
    private let bob = Correspondent(2)
    private let carol = Correspondent(3)
    private let mallory = Correspondent(66)

    func testForgedDepositsTakeNoRoomAndAreCounted() {
        let rig = CourierRig()
        // As the mesh reports what nobody signed, what was signed by another, and what came over others.
        for number in 0..<200 as Range<UInt8> { rig.deposit(bob.mail(number, at: rig.now.wall), from: nil) }
        XCTAssertEqual(rig.count(.depositUnproven), 200)
        XCTAssertTrue(rig.kept.isEmpty && rig.published.isEmpty)
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.kept.count, 1, "no forgery took the genuine letter's place")
    }

    func testAReplayedDepositIsOneLetterWhoeverReplaysIt() {
        let rig = CourierRig()
        rig.confirm(true)
        let mail = bob.mail(1, copies: 8, at: rig.now.wall)
        rig.deposit(mail, from: alice)
        rig.meet(carol, .proven)
        for person in 50..<150 as Range<UInt64> { rig.deposit(mail, from: Correspondent(person)) }
        XCTAssertEqual(rig.count(.depositKnown), 100)
        XCTAssertEqual(rig.kept.values.map(\.envelope.copies), [4], "no budget came back")
        XCTAssertEqual(rig.published.count, 1)
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.filter { $0.copies == 4 }.count, 2, "a share for Carol, the letter for Bob")
        rig.deposit(mail, from: mallory)
        rig.advance(by: .seconds(10))
        rig.meet(bob, .proven)
        XCTAssertLessThanOrEqual(rig.kept.count, 1)
    }

    func testAReplayAfterDeliveryIsNotDeliveredAgain() throws {
        let rig = CourierRig()
        let mail = bob.mail(1, at: rig.now.wall)
        rig.deposit(mail, from: alice)
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 1)
        rig.tell(try rig.drop(mail, by: 7))
        rig.tell(try rig.drop(mail, by: 8))
        rig.deposit(mail, from: mallory)
        rig.advance(by: .seconds(10))
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 1)
        XCTAssertEqual(rig.count(.dropRepeated), 2)
        XCTAssertEqual(rig.count(.depositDelivered), 1)
    }

    func testAFloodOfTagsNeitherFillsTheStoreNorStarvesTheOthers() {
        let rig = CourierRig()
        for tag in 0..<500 as Range<UInt64> {
            rig.deposit(Correspondent(5_000 + tag).mail(1, at: rig.now.wall), from: mallory)
        }
        XCTAssertEqual(rig.kept.count, 8)
        XCTAssertEqual(rig.count(.depositorQuota), 492)
        for person in 10..<29 as Range<UInt64> {
            for number in 0..<8 as Range<UInt8> {
                rig.deposit(bob.mail(number &+ UInt8(person) &* 8, at: rig.now.wall), from: Correspondent(person))
            }
        }
        XCTAssertEqual(rig.kept.count, 160)
        rig.meet(bob, .proven)
        rig.advance(by: .minutes(10))
        XCTAssertEqual(rig.handed.filter { Set(rig.tags(of: bob)).contains($0.recipientTag) }.count, 152)
    }

    func testInventedDepositorsFillTheVerifiedPoolOnlyAndTrustedOnesStillHaveRoom() {
        let rig = CourierRig(trusted: [alice.key.fingerprint])
        for person in 1_000..<2_000 as Range<UInt64> {
            rig.deposit(Correspondent(1).mail(UInt8(person % 251), at: rig.now.wall), from: Correspondent(person))
        }
        XCTAssertEqual(rig.status.verified.carried, 160)
        XCTAssertTrue(rig.status.isVerifiedFull, "no relay has answered")
        for number in 0..<20 as Range<UInt8> { rig.deposit(carol.mail(number, at: rig.now.wall), from: alice) }
        XCTAssertEqual(rig.status.favorite.carried, 20)
        XCTAssertGreaterThan(rig.count(.verifiedFull) + rig.count(.depositKnown), 0)
    }

    func testALetterUnderAnotherTagKeepsNobodyFromTheGenuineOne() throws {
        for isDropped in [false, true] {
            let rig = CourierRig()
            let genuine = bob.mail(1, at: rig.now.wall)
            // Whoever has seen the ciphertext can have it brought to himself.
            let stolen = CourierEnvelope(
                recipientTag: mallory.mail(1, at: rig.now.wall).recipientTag, expiry: genuine.expiry,
                ciphertext: genuine.ciphertext, copies: 1)
            for (mail, depositor, addressee) in [(stolen, carol, mallory), (genuine, alice, bob)] {
                rig.meet(addressee, .proven)
                if isDropped { rig.tell(try rig.drop(mail)) } else { rig.deposit(mail, from: depositor) }
                rig.meet(addressee, .proven)
                rig.advance(by: .seconds(5))
            }
            XCTAssertEqual(rig.handed.map(\.recipientTag), [stolen.recipientTag, genuine.recipientTag], "\(isDropped)")
            XCTAssertEqual(rig.count(.depositDelivered) + rig.count(.dropRepeated), 0)
        }
        // Both wait at once.
        let rig = CourierRig()
        rig.writes = false
        for person in [mallory, bob] {
            rig.meet(person, .proven)
            let mail = person.mail(1, at: rig.now.wall)
            rig.tell(
                try rig.drop(
                    CourierEnvelope(
                        recipientTag: mail.recipientTag, expiry: mail.expiry, ciphertext: [7], copies: 1)))
        }
        XCTAssertEqual(rig.status.undelivered, 2)
        rig.writes = true
        for person in [mallory, bob] { rig.meet(person, .proven) }
        XCTAssertEqual(rig.handed.count, 2)
    }

    /// What a letter says outside its ciphertext anybody can change who has seen it.
    private func alterations(of mail: CourierEnvelope) -> [CourierEnvelope] {
        var (locked, late, misdirected) = (mail, mail, mail)
        locked.prekeyID = 77
        late.expiry = WallTime(milliseconds: mail.expiry.milliseconds - 1)
        misdirected.recipientTag = mallory.mail(1, at: Clock.now().wall).recipientTag
        return [locked, late, misdirected]
    }

    func testAnAlteredLetterIsNeverTakenForTheGenuineOne() throws {
        let genuine = bob.mail(1, copies: 1, at: Clock.now().wall)
        for altered in alterations(of: genuine) {
            for (isAlteredDropped, isGenuineDropped) in [(false, false), (false, true), (true, false), (true, true)] {
                for isAlteredFirst in [false, true] {
                    let rig = CourierRig()
                    var arrivals = [(altered, mallory, isAlteredDropped), (genuine, alice, isGenuineDropped)]
                    if !isAlteredFirst { arrivals.reverse() }
                    for (mail, depositor, isDropped) in arrivals {
                        rig.meet(bob, .proven)
                        if isDropped { rig.tell(try rig.drop(mail)) } else { rig.deposit(mail, from: depositor) }
                        // Delivered before the other comes.
                        rig.meet(bob, .proven)
                        rig.advance(by: .seconds(10))
                    }
                    XCTAssertEqual(rig.handed.filter { $0 == genuine }.count, 1)
                    XCTAssertEqual(rig.count(.depositDelivered) + rig.count(.dropRepeated), 0)

                    let waiting = CourierRig()
                    waiting.meet(bob, .relayed)
                    for (mail, depositor, isDropped) in arrivals {
                        if isDropped {
                            waiting.tell(try waiting.drop(mail))
                        } else {
                            waiting.deposit(mail, from: depositor)
                        }
                    }
                    waiting.meet(bob, .proven)
                    waiting.advance(by: .seconds(10))
                    XCTAssertEqual(waiting.handed.filter { $0 == genuine }.count, 1)
                }
            }
        }
    }

    func testAnAlteredDepositThatComesFirstIsKeptApartOverARestart() {
        let rig = CourierRig()
        let genuine = bob.mail(1, copies: 4, at: rig.now.wall)
        for altered in alterations(of: genuine) { rig.deposit(altered, from: mallory) }
        XCTAssertEqual(rig.kept.count, 1, "a depositor's ciphertext is one envelope")
        rig.deposit(genuine, from: alice)
        XCTAssertEqual(rig.kept.count, 2)
        rig.deposit(genuine, from: mallory)
        XCTAssertEqual(rig.kept.count, 2)
        rig.restart()
        rig.meet(bob, .proven)
        XCTAssertTrue(rig.handed.contains(genuine))
        XCTAssertTrue(rig.kept.isEmpty)
    }

    func testWhoeverLeavesManyDoesNotHoldUpTheCopiesOfOthers() {
        let rig = CourierRig()
        for person in 50..<55 as Range<UInt64> {
            for number in 0..<8 as Range<UInt8> {
                rig.deposit(Correspondent(person + 500).mail(number, at: rig.now.wall), from: Correspondent(person))
            }
        }
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        for place in 0..<6 {
            let attempt = rig.published[place].attempt
            rig.call { $0.published(attempt, isConfirmed: true, at: $1) }
        }
        let tag = Hex.encode(bob.mail(1, at: rig.now.wall).recipientTag)
        XCTAssertTrue(rig.published.prefix(8).contains { $0.event.event.hasTag("x", tag) })
    }

    func testTwentyInventedDepositorsDoNotCloseTheBoxForTheOthers() {
        let rig = CourierRig()
        rig.confirm(true)
        rig.deposit(carol.mail(1, copies: 1, at: rig.now.wall), from: alice)
        for person in 1_000..<1_020 as Range<UInt64> {
            for number in 0..<8 as Range<UInt8> {
                rig.deposit(Correspondent(person + 500).mail(number, at: rig.now.wall), from: Correspondent(person))
            }
        }
        XCTAssertEqual(rig.status.verified.carried, 160)
        XCTAssertFalse(rig.status.isVerifiedFull)
        rig.deposit(bob.mail(1, at: rig.now.wall), from: carol)
        rig.meet(bob, .proven)
        rig.meet(carol, .proven)
        XCTAssertEqual(rig.handed.filter { Set(rig.tags(of: bob)).contains($0.recipientTag) }.count, 1)
        XCTAssertEqual(
            rig.handed.filter { Set(rig.tags(of: carol)).contains($0.recipientTag) }.count, 1,
            "nor do they push out what lay there before")
        XCTAssertEqual(rig.count(.verifiedFull), 0)
        XCTAssertEqual(rig.count(.evicted), 2, "each counted")
    }

    func testARelayThatSendsOldDropsGetsNothingDeliveredTwiceAndNothingExpired() throws {
        let rig = CourierRig()
        rig.meet(bob, .proven)
        let fresh = (0..<20 as Range<UInt8>).map { bob.mail($0, at: rig.now.wall) }
        let drops = try fresh.enumerated().map { try rig.drop($1, by: UInt8($0 + 1)) }
        let short = try rig.drop(bob.mail(99, at: rig.now.wall, life: 60_000), by: 99)
        for drop in drops { rig.tell(drop) }
        rig.advance(by: .minutes(1))
        XCTAssertEqual(rig.handed.count, 20)
        for _ in 0..<10 { for drop in drops.reversed() { rig.tell(drop) } }
        XCTAssertEqual(rig.handed.count, 20)
        XCTAssertEqual(rig.count(.dropRepeated), 200)
        rig.advance(by: .hours(1))
        rig.meet(bob, .proven)
        rig.tell(short)
        XCTAssertEqual(rig.count(.dropExpired), 1)
        XCTAssertEqual(rig.handed.count, 20)
        rig.restart()
        rig.meet(bob, .proven)
        for drop in drops { rig.tell(drop) }
        XCTAssertEqual(rig.handed.count, 20)
    }

    func testADepositorAtItsQuotaStarvesNobodyAndGetsRoomWhenItsMailIsDelivered() {
        let rig = CourierRig()
        for number in 0..<20 as Range<UInt8> { rig.deposit(bob.mail(number, copies: 1, at: rig.now.wall), from: alice) }
        XCTAssertEqual(rig.count(.depositorQuota), 12)
        rig.deposit(bob.mail(200, copies: 1, at: rig.now.wall), from: carol)
        XCTAssertEqual(rig.kept.count, 9)
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 9)
        rig.deposit(bob.mail(100, copies: 1, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.kept.count, 1)
    }

    func testTwoGatewaysOnOneMeshDeliverALetterOnce() throws {
        let (first, second) = (CourierRig(), CourierRig())
        first.confirm(true)
        let mail = bob.mail(1, copies: 1, at: first.now.wall)
        first.deposit(mail, from: alice)
        second.deposit(mail, from: alice)
        let drop = try XCTUnwrap(first.published.first).event
        for rig in [first, second] {
            rig.tell(drop)
            rig.meet(bob, .proven)
            rig.tell(drop)
            rig.advance(by: .minutes(1))
            rig.meet(bob, .proven)
        }
        // Each hands over its own copy once; whoever gets both sees one, by the ID inside (chapter 06 §5.6).
        XCTAssertEqual(first.handed.count, 1)
        XCTAssertEqual(second.handed.count, 1)
        XCTAssertTrue(first.kept.isEmpty && second.kept.isEmpty)
    }

    /// Anybody on the internet may leave any number of drops for a neighbour: its link is not filled with them, and
    /// relays that tell the day anew bring nothing again that was given.
    func testAFloodOfDropsLeavesTheLinkOfItsAddresseeFree() throws {
        let rig = CourierRig()
        rig.meet(bob, .proven)
        let events = try (0..<100).map { try rig.drop(largeMail($0, bytes: 16_000, rig)) }
        for event in events { rig.tell(event) }
        for _ in 0..<20 {
            rig.advance(by: .seconds(30))
            rig.meet(bob, .proven)
        }
        let bytes = rig.handed.reduce(0) { $0 + $1.ciphertext.count }
        let bound = CourierLimits.dropBurst + CourierLimits.dropBytesPerSecond * 600
        XCTAssertLessThanOrEqual(Double(bytes), bound)
        XCTAssertGreaterThan(rig.handed.count, 20, "they go on, at their pace")
        XCTAssertGreaterThan(rig.count(.dropThrottled), 0)

        let given = Set(rig.handed.map { MailID($0) })
        rig.forget()
        for event in events { rig.tell(event) }
        rig.advance(by: .minutes(1))
        rig.meet(bob, .proven)
        XCTAssertTrue(given.isDisjoint(with: rig.handed.map { MailID($0) }))
    }

    func testWhatWasLeftByHandIsNotChargedToTheFloodOfDrops() throws {
        let rig = CourierRig()
        rig.meet(bob, .proven)
        for number in 0..<20 { rig.tell(try rig.drop(largeMail(number, bytes: 16_000, rig))) }
        rig.advance(by: .seconds(30))
        let letter = bob.mail(1, at: rig.now.wall)
        rig.deposit(letter, from: alice)
        rig.meet(bob, .proven)
        rig.advance(by: .seconds(5))
        XCTAssertTrue(rig.handed.contains { $0.ciphertext == letter.ciphertext })
    }

    func testLargeDropsOfAFloodDoNotPushOutASmallLetter() throws {
        let rig = CourierRig()
        rig.meet(bob, .direct)
        let letter = largeMail(5_000, bytes: 300, rig)
        rig.tell(try rig.drop(letter))
        rig.writes = false
        for number in 0..<80 { rig.tell(try rig.drop(largeMail(number, bytes: 16_000, rig))) }
        rig.writes = true
        rig.advance(by: .minutes(3))
        rig.meet(bob, .proven)
        XCTAssertTrue(rig.handed.contains { $0.ciphertext == letter.ciphertext })
    }

    func testTheAirtimeOfDropsIsCountedForABoundedNumberOfPeople() {
        var airtime = DropAirtime()
        for person in 0..<300 as Range<UInt64> {
            XCTAssertTrue(airtime.take(60_000, for: Correspondent(person).key, at: .zero))
            XCTAssertLessThanOrEqual(airtime.count, CourierLimits.dropBuckets)
        }
        XCTAssertFalse(airtime.take(60_000, for: Correspondent(299).key, at: .zero))
    }

    private func largeMail(_ number: Int, bytes: Int, _ rig: CourierRig) -> CourierEnvelope {
        let plain = bob.mail(0, at: rig.now.wall)
        let start = Array("\(number) ".utf8)
        return CourierEnvelope(
            recipientTag: plain.recipientTag, expiry: plain.expiry,
            ciphertext: start + [UInt8](repeating: 7, count: bytes - start.count), copies: 4)
    }
}

import Basics
import Crypto
import Wire
import XCTest

@testable import Gateway

/// Deposits and encounters (chapter 06 §6).
final class CourierTests: XCTestCase {
    private let alice = Correspondent(1)
    private let bob = Correspondent(2)
    private let carol = Correspondent(3)

    // MARK: Deposits

    func testOnlyAProvenDepositorLeavesMail() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, at: rig.now.wall), from: nil)
        XCTAssertEqual(rig.kept.count, 0)
        XCTAssertEqual(rig.count(.depositUnproven), 1)
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.kept.count, 1)
        XCTAssertEqual(rig.status.verified.carried, 1)
    }

    func testAListedFingerprintHasTheRoomOfAFavourite() {
        let rig = CourierRig(trusted: [alice.key.fingerprint])
        for number in 0..<25 as Range<UInt8> {
            rig.deposit(bob.mail(number, at: rig.now.wall), from: alice)
            rig.deposit(bob.mail(100 + number, at: rig.now.wall), from: carol)
        }
        XCTAssertEqual(rig.status.favorite.carried, 20)
        XCTAssertEqual(rig.status.verified.carried, 8)
        XCTAssertEqual(rig.count(.depositorQuota), 5 + 17)
    }

    func testMailForTheBoxItselfIsOpenedAndNeverCarried() {
        let rig = CourierRig()
        rig.deposit(rig.box.mail(1, at: rig.now.wall), from: nil)
        rig.deposit(rig.box.mail(2, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.opened.count, 2)
        XCTAssertEqual(rig.kept.count, 0)
        XCTAssertEqual(rig.published.count, 0)
    }

    func testSwitchedOffOrWithoutATimeNothingIsTakenOrGiven() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        for isUsable in [true, false] {
            rig.call {
                if isUsable { $0.stop(at: $1) } else { $0.setClock(isUsable: false, isTrusted: false, at: $1) }
            }
            rig.forget()
            rig.deposit(bob.mail(2, at: rig.now.wall), from: alice)
            rig.meet(bob, .proven)
            rig.meet(bob, .relayed)
            rig.advance(by: .hours(1))
            XCTAssertTrue(rig.sent.isEmpty && rig.published.isEmpty && rig.subscriptions.isEmpty)
            rig.call { $0.start(at: $1) }
        }
        XCTAssertEqual(rig.count(.switchedOff), 2)
        XCTAssertEqual(rig.kept.count, 1)
    }

    // MARK: Encounters

    func testOverAProvenLinkMailIsHandedOverForGood() {
        let rig = CourierRig()
        let mail = (0..<3 as Range<UInt8>).map { bob.mail($0, copies: 1, at: rig.now.wall) }
        for one in mail { rig.deposit(one, from: alice) }
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed, mail)
        XCTAssertEqual(rig.kept.count, 0)
        rig.advance(by: .minutes(1))
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed, mail, "once")
    }

    func testWhatALinkDoesNotTakeStaysForTheNextEncounter() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        rig.writes = false
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.kept.count, 1)
        XCTAssertEqual(rig.kept.values.first?.envelope.copies, 4)
        XCTAssertEqual(rig.count(.handoverRefused), 1)
        rig.advance(by: .minutes(10))
        XCTAssertEqual(rig.count(.handoverRefused), 1, "a peer that takes nothing is not pressed")
        rig.writes = true
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 1)
        XCTAssertEqual(rig.kept.count, 0)
    }

    func testALongQueueIsHandedOverInBatches() {
        let rig = CourierRig()
        for depositor in 0..<10 as Range<UInt64> {
            for number in 0..<8 as Range<UInt8> {
                var mail = bob.mail(UInt8(depositor) * 8 + number, copies: 1, at: rig.now.wall)
                mail.ciphertext += [UInt8](repeating: 0, count: 12_000)
                rig.deposit(mail, from: Correspondent(20 + depositor))
            }
        }
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 2)
        rig.advance(by: .seconds(79))
        XCTAssertEqual(rig.handed.count, 80)
        XCTAssertEqual(rig.kept.count, 0)
    }

    func testARelayedAnnounceDrawsOneCopyInTenMinutesAndKeepsTheOriginal() {
        let rig = CourierRig()
        let mail = bob.mail(1, at: rig.now.wall)
        rig.deposit(mail, from: alice)
        for _ in 0..<20 {
            rig.meet(bob, .relayed)
            rig.advance(by: .seconds(29))
        }
        XCTAssertEqual(rig.flooded, [mail.withCopies(1)])
        rig.advance(by: .seconds(21))
        rig.meet(bob, .relayed)
        XCTAssertEqual(rig.flooded.count, 2)
        XCTAssertEqual(rig.kept.values.first?.envelope.copies, 4)
        XCTAssertTrue(rig.handed.isEmpty && rig.proofs.isEmpty)
    }

    func testADirectLookingAnnounceAsksForProofAndDestroysNothing() {
        let rig = CourierRig()
        rig.meet(bob, .direct)
        XCTAssertTrue(rig.proofs.isEmpty, "there is nothing to give")
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        rig.meet(bob, .direct)
        XCTAssertEqual(rig.proofs, [bob.id])
        XCTAssertEqual(rig.flooded.count, 1)
        XCTAssertEqual(rig.kept.count, 1)
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 1)
    }

    func testCopiesAreSharedOnlyWithProvenCouriersAndOnlyOnce() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, copies: 4, at: rig.now.wall), from: alice)
        rig.meet(carol, .direct)
        rig.meet(carol, .relayed)
        XCTAssertTrue(rig.sent.isEmpty)
        rig.meet(carol, .proven)
        rig.meet(alice, .proven)
        rig.advance(by: .minutes(1))
        rig.meet(carol, .proven)
        XCTAssertEqual(rig.handed.map(\.copies), [2])
        XCTAssertEqual(rig.kept.values.first?.envelope.copies, 2)
    }

    func testARefusedShareCostsNoBudget() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, copies: 8, at: rig.now.wall), from: alice)
        rig.writes = false
        for person in 10..<30 as Range<UInt64> { rig.meet(Correspondent(person), .proven) }
        XCTAssertEqual(rig.kept.values.first?.envelope.copies, 8)
        XCTAssertEqual(rig.kept.values.first?.couriers, [])
    }

    func testSpeculativeCopiesHaveABudgetOfTheirOwn() {
        let rig = CourierRig()
        for depositor in 0..<20 as Range<UInt64> {
            for number in 0..<8 as Range<UInt8> {
                var mail = Correspondent(200 + depositor).mail(number, at: rig.now.wall)
                mail.ciphertext += [UInt8](repeating: 0, count: 16_000)
                rig.deposit(mail, from: Correspondent(20 + depositor))
            }
        }
        for _ in 0..<60 {
            for person in 200..<220 as Range<UInt64> { rig.meet(Correspondent(person), .relayed) }
            rig.advance(by: .minutes(1))
        }
        let bytes = rig.flooded.reduce(0) { $0 + $1.ciphertext.count }
        XCTAssertLessThanOrEqual(bytes, 65_536 + 3_600 * 700)
        XCTAssertGreaterThan(rig.count(.speculativeThrottled), 0)
        XCTAssertEqual(rig.kept.count, 160)
    }

    // MARK: Across restarts

    func testMailAndSpentBudgetsSurviveARestart() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, copies: 8, at: rig.now.wall), from: alice)
        rig.meet(carol, .proven)
        rig.restart()
        rig.deposit(bob.mail(1, copies: 8, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.kept.values.first?.envelope.copies, 4)
        rig.meet(carol, .proven)
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 2, "one share before, one delivery after")
        rig.restart()
        rig.meet(bob, .proven)
        XCTAssertEqual(rig.handed.count, 2)
    }

    func testExpiredMailIsForgottenOnDiskToo() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, at: rig.now.wall, life: 3_600_000), from: alice)
        rig.advance(by: .hours(2))
        XCTAssertEqual(rig.kept.count, 0)
        XCTAssertEqual(rig.count(.lapsed), 1)
    }

    func testCopiesAreSharedOnlyWithPeersThatCarryMail() {
        let rig = CourierRig()
        let mail = bob.mail(1, copies: 4, at: rig.now.wall)
        rig.deposit(mail, from: alice)
        for standing in [AnnounceStanding.direct, .proven] {
            rig.call { $0.met(self.carol.id, self.carol.key, standing, isCourier: false, at: $1) }
        }
        XCTAssertEqual(rig.handed, [])
        XCTAssertEqual(rig.proofs, [], "nothing for it, nothing to prove")
        rig.call { $0.met(self.bob.id, self.bob.key, .proven, isCourier: false, at: $1) }
        XCTAssertEqual(rig.handed, [mail], "what is for it is handed over whatever it announces")
    }

    func testTrustChangesWhileItRunsAndWhatIsCarriedKeepsItsTier() {
        let rig = CourierRig()
        for number in 0..<9 as Range<UInt8> { rig.deposit(bob.mail(number, at: rig.now.wall), from: alice) }
        rig.call { $0.configure(trusted: [self.alice.key.fingerprint], usesRelays: true, at: $1) }
        rig.deposit(bob.mail(20, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.status.verified.carried, 8)
        XCTAssertEqual(rig.status.favorite.carried, 1)
        rig.call { $0.configure(trusted: [], usesRelays: true, at: $1) }
        rig.deposit(bob.mail(21, at: rig.now.wall), from: alice)
        XCTAssertEqual(rig.count(.depositorQuota), 2)
    }

    func testRelaysAreLeftAloneWhileTheOperatorSaysSo() {
        let rig = CourierRig()
        rig.call { $0.configure(trusted: [], usesRelays: false, at: $1) }
        XCTAssertEqual(rig.subscriptions.count, 0)
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        rig.advance(by: .hours(2))
        XCTAssertEqual(rig.published.count, 0)
        rig.call { $0.configure(trusted: [], usesRelays: true, at: $1) }
        XCTAssertEqual(rig.published.count, 1)
        XCTAssertEqual(rig.subscriptions.count, 1)
    }

    func testWithoutRelaysExpiredMailIsForgottenToo() {
        let rig = CourierRig(relays: false)
        rig.deposit(bob.mail(1, at: rig.now.wall, life: 3_600_000), from: alice)
        rig.advance(by: .hours(1) + .minutes(11))
        XCTAssertEqual(rig.kept.count, 0)
        XCTAssertEqual(rig.count(.lapsed), 1)
    }

    func testWhatAnEarlierRunKeptWaitsForAClockThatCanTell() {
        let rig = CourierRig()
        rig.deposit(bob.mail(1, at: rig.now.wall), from: alice)
        let courier = Courier(configuration: rig.courier.configuration, random: SeededRandom(seed: 7))
        let years = Now(
            monotonic: rig.now.monotonic,
            wall: WallTime(milliseconds: rig.now.wall.milliseconds + 1_000 * 86_400_000))
        courier.restore(Array(rig.kept.values), dealt: [], at: years)
        courier.start(at: years)
        XCTAssertNil(courier.nextEffect())
        courier.setClock(isUsable: true, isTrusted: false, at: rig.now)
        XCTAssertEqual(courier.status(at: rig.now).verified.carried, 1)
    }

    /// Three invented neighbours are enough for a time that the mesh goes by.
    func testWhatTheMeshSaysOfTheTimeDestroysNoMail() throws {
        let rig = CourierRig()
        let mail = bob.mail(1, at: rig.now.wall)
        rig.deposit(mail, from: alice)
        let ahead = Now(
            monotonic: rig.now.monotonic,
            wall: WallTime(milliseconds: rig.now.wall.milliseconds + 2 * 86_400_000))
        let courier = Courier(configuration: rig.courier.configuration, random: SeededRandom(seed: 7))
        courier.restore(Array(rig.kept.values), dealt: [], at: ahead)
        courier.start(at: ahead)
        courier.setClock(isUsable: true, isTrusted: false, at: ahead)
        let later = Now(monotonic: ahead.monotonic + .hours(1), wall: ahead.wall)
        courier.timeout(at: later)
        courier.arrived(carol.mail(2, at: ahead.wall), depositor: alice.key, at: later)
        while let effect = courier.nextEffect() {
            if case .forget = effect { XCTFail("\(effect)") }
        }
        let right = Now(monotonic: later.monotonic, wall: rig.now.wall)
        courier.setClock(isUsable: true, isTrusted: true, at: right)
        XCTAssertEqual(courier.status(at: right).verified.carried, 2)
    }
}

import Basics
import Crypto
import EventLoop
import Foundation
import Messenger
import Radio
import Vault
import Wire
import XCTest

@testable import Station

/// A console on a machine whose clock nobody vouches for (chapter 06 §20 trap 1).
final class ChatClockTests: ConsoleTestCase {
    private struct Console {
        let person: Person
        let book: Notebook
        let machine: ClockedLoop
    }

    private let skews: [Int64] = [-Int64(ConsoleTestCase.start.milliseconds) + 5_000, 315_576_000_000]

    private func console(
        _ name: String, _ identity: StationIdentity, _ key: SecretBytes, ahead skew: Int64 = 0, isVouched: Bool = false
    ) throws -> Console {
        let machine = ClockedLoop(
            loop, running: { [loop] in loop.now.monotonic }, offset: Int64(ConsoleTestCase.start.milliseconds) + skew)
        let book = try Notebook(folder + "/" + name, key, machine)
        let clock = ClockService(
            machine,
            machine: MachineClock(running: { [loop] in loop.now.monotonic }, isSynchronised: { false }),
            trustsSystem: isVouched, lastKnown: nil)
        let person = Person(
            ChatPeer(
                loop: machine, radio: island.makePort(name), identity: identity, trust: book, clock: clock,
                nickname: name, bridgeIsOn: false, random: SeededRandom(seed: random.next())))
        try person.peer.start()
        return Console(person: person, book: book, machine: machine)
    }

    func testLettersWaitUntilTheTimeIsKnownAndNoneIsLostInTheMeantime() throws {
        for (number, skew) in skews.enumerated() {
            island = Island(loop: loop, seed: 3)
            let names = ("alice\(number)", "bob\(number)")
            let identities = (
                StationIdentity.generate(using: &random), StationIdentity.generate(using: &random)
            )
            let keys = (SecretBytes(copying: random.bytes(32)), SecretBytes(copying: random.bytes(32)))
            let box = try island.courierBox("box")
            // Neighbours whose clocks agree are enough.
            var alice = try console(names.0, identities.0, keys.0)
            var bob = try console(names.1, identities.1, keys.1)
            loop.advance(by: .seconds(15))
            alice.person.peer.enter("/fav \(names.1)")
            bob.person.peer.enter("/fav \(names.0)")
            loop.advance(by: .seconds(10))
            leave(bob.person)
            leave(alice.person)

            alice = try console(names.0, identities.0, keys.0, ahead: skew)
            alice.person.peer.enter("/msg \(names.1) one")
            loop.advance(by: .minutes(6))
            XCTAssertEqual(alice.person.peer.undelivered, 1, "\(alice.person.lines)")
            XCTAssertTrue(alice.person.lines.contains { $0.contains("--trust-clock") }, "\(alice.person.lines)")
            kill(alice.person, alice.book)
            XCTAssertEqual(box.courier?.outcomes[.deposited], 0)

            alice = try console(names.0, identities.0, keys.0, ahead: skew)
            XCTAssertEqual(alice.person.peer.undelivered, 1, "\(alice.person.lines)")
            alice.person.peer.enter("/msg \(names.1) two")
            loop.advance(by: .seconds(10))
            XCTAssertFalse(alice.person.lines.contains { $0.contains("failed") }, "\(alice.person.lines)")
            // Somebody sets the clock.
            alice.machine.offset = Int64(ConsoleTestCase.start.milliseconds)
            loop.advance(by: .minutes(2))
            XCTAssertEqual(box.courier?.outcomes[.deposited], 2, "\(alice.person.lines)")

            bob = try console(names.1, identities.1, keys.1)
            loop.advance(by: .minutes(3))
            for text in ["one", "two"] {
                XCTAssertEqual(bob.person.heard("> " + text).count, 1, "\(bob.person.lines)")
            }
            XCTAssertEqual(alice.person.peer.undelivered, 0, "\(alice.person.lines)")
        }
    }

    func testAClockThatWasRightIsBelievedUntilItIsSet() throws {
        let box = try island.courierBox("box")
        let alice = try console(
            "alice", .generate(using: &random), SecretBytes(copying: random.bytes(32)))
        XCTAssertFalse(alice.person.peer.chat.knowsTime)
        loop.advance(by: .seconds(15))
        XCTAssertTrue(alice.person.peer.chat.knowsTime)
        box.radio.stop()
        loop.advance(by: .minutes(20))
        XCTAssertTrue(alice.person.peer.chat.knowsTime)
        alice.machine.offset += skews[1]
        loop.advance(by: .seconds(15))
        XCTAssertFalse(alice.person.peer.chat.knowsTime)
        XCTAssertFalse(alice.person.peer.chat.messenger.isClockGood)
    }

    func testPrekeysAreNeitherMadeNorRotatedByAWrongClock() throws {
        let identity = StationIdentity.generate(using: &random)
        let key = SecretBytes(copying: random.bytes(32))
        let file = folder + "/alice/prekeys.sealed"
        let first = try console("alice", identity, key, isVouched: true)
        leave(first.person)
        let made = try XCTUnwrap(FileManager.default.contents(atPath: file))
        for skew in skews {
            let later = try console("alice", identity, key, ahead: skew)
            loop.advance(by: .hours(2))
            leave(later.person)
            XCTAssertEqual(FileManager.default.contents(atPath: file), made)
        }
    }
}

import Basics
import Crypto
import EventLoop
import Foundation
import Gateway
import Mesh
import Messenger
import Radio
import Vault
import Wire
import XCTest

@testable import Station

/// People at a console who write to somebody who is away, and a box that carries it, in virtual time.
final class ChatLetterTests: ConsoleTestCase {
    private struct Keys {
        let identity: StationIdentity
        let master: SecretBytes
    }

    private func keys() -> Keys {
        Keys(identity: .generate(using: &random), master: SecretBytes(copying: random.bytes(32)))
    }

    private func person(_ name: String, _ keys: Keys) throws -> (Person, Notebook) {
        let notebook = try Notebook(folder + "/" + name, keys.master, loop)
        let person = Person(
            ChatPeer(
                loop: loop, radio: island.makePort(name), identity: keys.identity, trust: notebook, nickname: name,
                bridgeIsOn: false, random: SeededRandom(seed: random.next())))
        try person.peer.start()
        return (person, notebook)
    }

    private func meet(_ a: Person, _ b: Person) {
        loop.advance(by: .seconds(5))
        a.peer.enter("/fav bob")
        b.peer.enter("/fav alice")
        loop.advance(by: .seconds(10))
    }

    func testALetterWaitsAtABoxForWhoeverIsAwayAndItsWriterIsTold() throws {
        let box = try island.courierBox("box")
        let (aliceKeys, bobKeys) = (keys(), keys())
        let (alice, _) = try person("alice", aliceKeys)
        var (bob, _) = try person("bob", bobKeys)
        meet(alice, bob)
        leave(bob)
        alice.peer.enter("/msg bob the key is under the stone")
        loop.advance(by: .seconds(2))
        XCTAssertEqual(alice.heard("1 to bob: carried").count, 1, "\(alice.lines)")
        XCTAssertEqual(box.courier?.outcomes[.deposited], 1)

        (bob, _) = try person("bob", bobKeys)
        loop.advance(by: .minutes(2))
        XCTAssertEqual(bob.heard("<alice> the key is under the stone").count, 1, "\(bob.lines)")
        for state in ["delivered", "read"] {
            XCTAssertEqual(alice.heard("1 to bob: " + state).count, 1, "\(alice.lines)")
        }
        XCTAssertEqual(box.courier?.status(at: loop.now).verified.carried, 0)
    }

    func testWriterAndReaderMayBothBeKilledAndTheLetterIsShownOnceAndAcknowledged() throws {
        let box = try island.courierBox("box")
        let (aliceKeys, bobKeys) = (keys(), keys())
        var (alice, aliceBook) = try person("alice", aliceKeys)
        var (bob, bobBook) = try person("bob", bobKeys)
        meet(alice, bob)
        leave(bob)
        alice.peer.enter("/msg bob come home")
        loop.advance(by: .seconds(2))
        XCTAssertEqual(box.courier?.outcomes[.deposited], 1)
        kill(alice, aliceBook)

        // Bob reads while Alice is away: she cannot be told yet.
        loop.advance(by: .minutes(2))
        (bob, bobBook) = try person("bob", bobKeys)
        loop.advance(by: .minutes(2))
        XCTAssertEqual(bob.heard("<alice> come home").count, 1, "\(bob.lines)")
        loop.advance(by: .seconds(5))
        kill(bob, bobBook)
        (bob, bobBook) = try person("bob", bobKeys)
        (alice, aliceBook) = try person("alice", aliceKeys)
        loop.advance(by: .minutes(3))
        XCTAssertEqual(bob.heard("<alice> come home").count, 0, "shown before: \(bob.lines)")
        XCTAssertEqual(alice.heard("1 to bob: read").count, 1, "\(alice.lines)")
        _ = (aliceBook, bobBook)
    }

    func testALetterToSomebodyBlockedMeanwhileIsNotShown() throws {
        let box = try island.courierBox("box")
        let (aliceKeys, bobKeys) = (keys(), keys())
        let (alice, _) = try person("alice", aliceKeys)
        var (bob, _) = try person("bob", bobKeys)
        meet(alice, bob)
        bob.peer.enter("/block alice")
        leave(bob)
        alice.peer.enter("/msg bob hello")
        loop.advance(by: .seconds(2))
        XCTAssertEqual(box.courier?.outcomes[.deposited], 1)
        (bob, _) = try person("bob", bobKeys)
        loop.advance(by: .minutes(2))
        XCTAssertEqual(bob.heard("hello").count, 0, "\(bob.lines)")
        XCTAssertEqual(alice.heard("1 to bob: delivered").count, 0)
    }
}

final class LetterRecordTests: XCTestCase {
    private var random = SeededRandom(seed: 4)

    func testPrekeysOfOthersComeBackAsTheyWere() throws {
        let owner = NodeIdentity.generate(using: &random)
        var bundle = PrekeyBundle(
            noisePublicKey: owner.noise.publicKey.bytes,
            prekeys: (1...3).map { .init(id: $0, publicKey: random.bytes(32)) },
            generatedAt: WallTime(milliseconds: 7), signature: [])
        bundle.signature = owner.signing.sign(try XCTUnwrap(bundle.signedBytes))
        for messages in [[:], [1: "a", 3: "message"]] as [[UInt32: String]] {
            let record = PeerPrekeys.Record(owner: owner.noise.publicKey, bundle: bundle, messages: messages)
            let value = try XCTUnwrap(record.vaultValue)
            XCTAssertEqual(PeerPrekeys.Record(key: record.owner.bytes, value: value), record)
            XCTAssertNil(PeerPrekeys.Record(key: random.bytes(32), value: value), "another's key")
            XCTAssertNil(PeerPrekeys.Record(key: record.owner.bytes, value: Array(value.prefix(20))))
            XCTAssertNil(PeerPrekeys.Record(key: record.owner.bytes, value: value + [1]))
        }
    }
}

import Basics
import Crypto
import EventLoop
import Messenger
import Radio
import XCTest

@testable import Station

/// Trust that outlives a chat peer, but not the test.
private final class TrustInMemory: TrustStore {
    private(set) var records: [Fingerprint: TrustRecord] = [:]

    func load() -> [TrustRecord] { Array(records.values) }
    func keep(_ record: TrustRecord) { records[record.fingerprint] = record }
    func forget(_ fingerprint: Fingerprint) { records[fingerprint] = nil }
    private(set) var isClosed = false
    func close() -> Bool {
        isClosed = true
        return true
    }
}

final class PrivateChatTests: XCTestCase {
    private let loop = EmbeddedLoop()
    private lazy var air = InProcessAir(loop: loop)
    private var ports: [InProcessPort] = []
    private var random = SeededRandom(seed: 20)

    /// Somebody at the end of a line of people, each of whom hears only the next.
    private func person(_ name: String, trust: (any TrustStore)? = nil) throws -> Person {
        let port = air.makePort(name: name)
        if let last = ports.last { air.link(port, to: last) }
        ports.append(port)
        let person = Person(
            ChatPeer(
                loop: loop, radio: port, identity: .generate(using: &random), trust: trust, nickname: name,
                bridgeIsOn: false, random: SeededRandom(seed: random.next())))
        try person.peer.start()
        return person
    }

    private func line(_ names: String...) throws -> [Person] {
        let people = try names.map { try person($0) }
        loop.advance(by: .seconds(20))
        return people
    }

    func testAMessageCrossesAPeerInBetweenWhoSeesNothingOfIt() throws {
        let people = try line("anna", "mid", "bob")
        people[0].peer.enter("/msg bob the key is under the stone")
        loop.advance(by: .seconds(10))
        XCTAssertEqual(people[2].heard("the key is under the stone"), ["[private] <anna> the key is under the stone"])
        XCTAssertEqual(
            people[0].lines.suffix(5),
            [
                "[private 1 to] <bob> the key is under the stone", "* 1 to bob: sending", "* 1 to bob: sent",
                "* 1 to bob: delivered", "* 1 to bob: read",
            ])
        XCTAssertEqual(people[1].heard("the key is under the stone"), [])
        people[2].peer.enter("/m anna thanks")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(people[0].lines.last, "[private] <bob> thanks")
        XCTAssertEqual(people[0].peer.undelivered, 0)
    }

    private func code(of person: Person) throws -> String {
        person.peer.enter("/verify")
        return try XCTUnwrap(person.lines.last { $0.hasPrefix("bitchat://verify?") })
    }

    func testPeopleVerifyEachOtherByCodeAndByFingerprint() throws {
        let people = try line("anna", "mid", "bob")
        people[0].peer.enter("/verify \(try code(of: people[2]))")
        loop.advance(by: .seconds(10))
        XCTAssertEqual(people[0].lines.suffix(2), ["* asking bob to prove it", "* bob is verified"])
        XCTAssertTrue(people[2].lines.contains("* anna checks your code"))
        people[0].peer.enter("/fingerprint")
        let fingerprint = try XCTUnwrap(people[0].lines.last).replacing("* yours: ", with: "")
        XCTAssertEqual(fingerprint.split(separator: " ").count, 16)
        people[2].peer.enter("/verify anna \(fingerprint)")
        XCTAssertEqual(people[2].lines.last, "* anna is verified")
        people[0].peer.enter("/msg bob hello")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(people[2].heard("hello"), ["[private, verified] <anna> hello"])
        people[0].peer.enter("/fingerprint bob")
        XCTAssertEqual(people[0].lines.last, "*   verified, proved this key in an encrypted session")
        people[0].peer.enter("/unverify bob")
        people[0].peer.enter("/fingerprint bob")
        XCTAssertEqual(people[0].lines.last, "*   not verified, proved this key in an encrypted session")
        people[2].peer.enter("/verify mid \(fingerprint)")
        XCTAssertTrue(try XCTUnwrap(people[2].lines.last).hasPrefix("! that is not the fingerprint of mid"))
    }

    func testABlockedPersonIsNeitherShownNorAnsweredUntilUnblocked() throws {
        let people = try line("anna", "mid", "bob")
        people[0].peer.enter("/block bob")
        XCTAssertEqual(people[0].lines.last, "* bob is blocked")
        let before = people[0].lines
        people[2].peer.enter("/msg anna hello?")
        people[2].peer.enter("hello everybody")
        people[2].peer.enter("/nick robert")
        loop.advance(by: .seconds(40))
        XCTAssertEqual(people[0].lines, before)
        XCTAssertEqual(people[1].heard("hello everybody").count, 1)
        XCTAssertFalse(people[2].lines.contains { $0.hasSuffix(": delivered") })
        people[0].peer.enter("/msg robert hi")
        XCTAssertEqual(people[0].lines.last, "! robert is blocked: /unblock first")
        people[0].peer.enter("/who")
        XCTAssertTrue(people[0].lines.contains("*   robert (over others, blocked)"), "\(people[0].lines)")
        people[0].peer.enter("/unblock robert")
        people[2].peer.enter("/msg anna now?")
        loop.advance(by: .seconds(30))
        XCTAssertEqual(people[0].heard("now?"), ["[private] <robert> now?"])
        XCTAssertTrue(people[2].lines.contains("* 2 to anna: read"))
    }

    func testWhatABlockedPersonSaidIsPassedOnNoMore() throws {
        let people = try line("anna", "mid", "bob")
        people[2].peer.enter("good morning")
        people[1].peer.enter("good evening")
        loop.advance(by: .seconds(10))
        XCTAssertEqual(people[0].peer.switchboard.mesh.historyCount, 2)
        people[0].peer.enter("/block bob")
        XCTAssertEqual(people[0].peer.switchboard.mesh.historyCount, 1, "mid's line stays")
    }

    func testFavoritesAreToldToEachOther() throws {
        let people = try line("anna", "bob")
        people[0].peer.enter("/fav bob")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(people[0].lines.last, "* bob is a favourite now")
        XCTAssertEqual(people[1].lines.last, "* anna made you a favourite")
        people[1].peer.enter("/fav anna")
        people[1].peer.enter("/who")
        XCTAssertEqual(people[1].lines.last, "*   anna (favourites of each other)")
        loop.advance(by: .seconds(5))
        people[0].peer.enter("/unfav bob")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(people[1].lines.last, "* you are no favourite of anna any more")
    }

    func testTrustComesBackWithTheIdentity() throws {
        let store = TrustInMemory()
        let anna = try person("anna", trust: store)
        let bob = try person("bob")
        loop.advance(by: .seconds(10))
        anna.peer.enter("/block bob")
        XCTAssertEqual(store.records.count, 1)
        anna.peer.enter("/quit")
        loop.advance(by: .seconds(2))
        let port = air.makePort(name: "anna2")
        air.link(port, to: ports[1])
        let again = Person(
            ChatPeer(
                loop: loop, radio: port, identity: .generate(using: &random), trust: store, nickname: "anna",
                bridgeIsOn: false, random: SeededRandom(seed: 77)))
        try again.peer.start()
        loop.advance(by: .seconds(10))
        bob.peer.enter("/msg anna hello")
        bob.peer.enter("hello all")
        loop.advance(by: .seconds(10))
        XCTAssertEqual(again.lines, [])
        again.peer.enter("/unblock bob")
        XCTAssertEqual(store.records.count, 0)
    }

    func testWhatComesOfTheLastWordsIsKept() throws {
        let store = TrustInMemory()
        let anna = try person("anna", trust: store)
        anna.peer.enter("/quit")
        XCTAssertFalse(store.isClosed, "radio and relays still have something to say")
        loop.advance(by: .seconds(1))
        XCTAssertTrue(anna.hasLeft && store.isClosed)
    }

    func testHostileTextInPrivateIsEscaped() throws {
        let people = try line("anna", "bob")
        people[0].peer.enter("/msg bob a\u{1B}[2Jb\u{202E}c")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(people[1].lines.last, "[private] <anna> a\\u{1B}[2Jb\\u{202E}c")
    }

    func testWhoIsMeantIsAskedWhenNotClear() throws {
        let people = try line("anna", "bob", "carl")
        people[2].peer.enter("/nick bob")
        loop.advance(by: .seconds(35))
        people[0].peer.enter("/msg bob hi")
        XCTAssertTrue(
            try XCTUnwrap(people[0].lines.last).hasPrefix("! there are several: bob#"), "\(people[0].lines)")
        people[0].peer.enter("/msg zoe hi")
        XCTAssertEqual(people[0].lines.last, "! nobody of that name is in reach; /who lists who is")
        people[0].peer.enter("/msg carl")
        people[0].peer.enter("/verify nonsense://x")
        XCTAssertEqual(people[0].lines.last, "! nobody of that name is in reach; /who lists who is")
        people[0].peer.enter("/verify bitchat://verify?v=1")
        XCTAssertTrue(try XCTUnwrap(people[0].lines.last).hasPrefix("! that is not a whole code"))
    }

    func testAPersonWhoLeavesIsToldWhatDidNotArrive() throws {
        let people = try line("anna", "bob")
        air.unlink(ports[0], ports[1])
        people[0].peer.enter("/msg bob are you there?")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(people[0].peer.undelivered, 1)
        people[0].peer.enter("/quit")
        XCTAssertEqual(
            people[0].lines.last, "! a private message is not known to have arrived, and will not be sent again")
        loop.advance(by: .seconds(5))
        XCTAssertTrue(people[0].hasLeft)
    }

    func testNoTimerOfAPrivateChatSurvivesTheEnd() throws {
        let people = try line("anna", "bob")
        people[0].peer.enter("/msg bob hi")
        loop.advance(by: .seconds(3))
        for person in people { person.peer.enter("/quit") }
        loop.advance(by: .minutes(10))
        XCTAssertTrue(loop.isIdle)
    }
}

import EventLoop
import XCTest

@testable import Station

final class PipedLinesTests: XCTestCase {
    private let loop = EmbeddedLoop()
    private var unsaid: Int?

    private func pipe(to person: Person) -> PipedLines {
        PipedLines(peer: person.peer, loop: loop) { [unowned self] in unsaid = $0 }
    }

    func testARelayLetsNothingThroughThatIsForTheMesh() throws {
        let island = Island(loop: loop, seed: 1)
        let alice = try island.person("alice", bridge: false)
        let lines = pipe(to: alice)
        lines.enter("hello mesh")
        lines.enter("/msg bob hi")
        alice.peer.note(isAtRelay: true)
        loop.advance(by: .seconds(5))
        XCTAssertEqual(alice.lines, [], "nothing is said into the empty room")
        let bob = try island.person("bob", bridge: false)
        lines.end()
        loop.advance(by: .seconds(15))
        XCTAssertEqual(bob.heard("<alice> hello mesh").count, 1)
        XCTAssertEqual(bob.heard("<alice> hi").count, 1)
        XCTAssertTrue(alice.hasLeft)
        XCTAssertNil(unsaid)
    }

    func testARelayLetsThroughWhatIsForAChannelInOrder() throws {
        let alice = try Island(loop: loop, seed: 2).person("alice", bridge: false)
        let lines = pipe(to: alice)
        for line in ["/j u4pruyd", "to the channel", "/j #mesh", "to the mesh", "/who"] { lines.enter(line) }
        loop.advance(by: .seconds(1))
        XCTAssertEqual(alice.lines, [])
        alice.peer.note(isAtRelay: true)
        loop.advance(by: .seconds(1))
        XCTAssertEqual(
            alice.lines, ["* you are in #u4pruyd", "! not sent: no gateway is in reach", "* you are in #mesh"])
        lines.end()
        loop.advance(by: .seconds(20))
        XCTAssertEqual(unsaid, 2)
        XCTAssertTrue(alice.hasLeft)
    }

    func testLinesForWhomNobodyComesAreCounted() throws {
        let alice = try Island(loop: loop, seed: 3).person("alice", bridge: false)
        let lines = pipe(to: alice)
        lines.enter("hello?")
        lines.end()
        loop.advance(by: .seconds(20))
        XCTAssertEqual(unsaid, 1)
        XCTAssertTrue(alice.hasLeft)
    }

    func testAnEmptyPipeIsNoFault() throws {
        let alice = try Island(loop: loop, seed: 4).person("alice", bridge: false)
        pipe(to: alice).end()
        loop.advance(by: .seconds(3))
        XCTAssertNil(unsaid)
        XCTAssertTrue(alice.hasLeft)
    }
}

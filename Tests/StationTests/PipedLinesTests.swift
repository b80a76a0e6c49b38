import EventLoop
import Glibc
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

    func testNoMoreIsTakenThanFitsAndMoreIsWantedAsSoonAsThereIsRoom() throws {
        for (line, most) in [("/nick a", PipedLines.capacity), ("/nick a" + String(repeating: " ", count: 65_529), 4)] {
            let alice = try Island(loop: loop, seed: 5).person("alice", bridge: false)
            let lines = pipe(to: alice)
            var demands: [Bool] = []
            lines.onDemand = { demands.append($0) }
            for _ in 1..<most { lines.enter(line) }
            XCTAssertEqual(demands, [])
            lines.enter(line)
            lines.enter(line)
            XCTAssertEqual(demands, [false])
            alice.peer.note(isAtRelay: true)
            loop.advance(by: .seconds(1))
            XCTAssertEqual(demands, [false, true])
            XCTAssertEqual(alice.lines.count, most + 1)
        }
    }

    func testTheWriterOfAPipeWaitsWhileNobodyIsThereAndNothingIsLost() throws {
        let alice = try Island(loop: loop, seed: 6).person("alice", bridge: false)
        var ends: [Int32] = [0, 0]
        XCTAssertEqual(Glibc.pipe(&ends), 0)
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let input = PipeInput(loop: loop, descriptor: ends[0])
        let lines = pipe(to: alice)
        input.onLine = { lines.enter($0) }
        input.onEnd = { lines.end() }
        lines.onDemand = { $0 ? input.resume() : input.pause() }
        input.start()

        let names = (0..<4_000).map { "n\($0)" }
        var unwritten = ArraySlice(names.flatMap { Array("/nick \($0)\(String(repeating: " ", count: 200))\n".utf8) })
        func write() {
            var isStuck = false
            while !unwritten.isEmpty {
                let count = unwritten.withUnsafeBytes { Glibc.write(ends[1], $0.baseAddress, min(4_096, $0.count)) }
                if count > 0 { unwritten = unwritten.dropFirst(count) }
                loop.pollDescriptors()
                if count <= 0, isStuck { return }
                isStuck = count <= 0
            }
        }
        write()
        XCTAssertGreaterThan(unwritten.count, 400_000)
        XCTAssertEqual(alice.lines, [])

        alice.peer.note(isAtRelay: true)
        loop.advance(by: .seconds(1))
        write()
        XCTAssertEqual(unwritten.count, 0)
        close(ends[1])
        loop.pollDescriptors()
        XCTAssertTrue(alice.lines == names.map { "* you are \($0) now" }, "\(alice.lines.count)")
        loop.advance(by: .seconds(20))
        XCTAssertTrue(alice.hasLeft)
        XCTAssertNil(unsaid)
        close(ends[0])
    }
}

final class PipeInputTests: XCTestCase {
    private func lines(of bytes: [UInt8]) throws -> [String] {
        let loop = EmbeddedLoop()
        var ends: [Int32] = [0, 0]
        XCTAssertEqual(Glibc.pipe(&ends), 0)
        let input = PipeInput(loop: loop, descriptor: ends[0])
        var (lines, hasEnded): ([String], Bool) = ([], false)
        input.onLine = {
            lines.append($0)
            // Whatever comes in between.
            input.pause()
            loop.enqueue { input.resume() }
        }
        input.onEnd = { hasEnded = true }
        input.start()
        for start in stride(from: 0, to: bytes.count, by: 4_096) {
            let part = Array(bytes[start..<min(bytes.count, start + 4_096)])
            XCTAssertEqual(Glibc.write(ends[1], part, part.count), part.count)
            loop.pollDescriptors()
        }
        XCTAssertFalse(hasEnded)
        close(ends[1])
        loop.pollDescriptors()
        XCTAssertTrue(hasEnded)
        close(ends[0])
        return lines
    }

    func testLinesComeOutWholeInOrderAndTheLastNeedsNoEnd() throws {
        XCTAssertEqual(try lines(of: Array("a\n\nb c\nd".utf8)), ["a", "", "b c", "d"])
        XCTAssertEqual(try lines(of: []), [])
        XCTAssertEqual(try lines(of: Array("a\n".utf8)), ["a"])
    }

    func testALongLineComesInPieces() throws {
        let long = [UInt8](repeating: 0x78, count: 150_000)
        XCTAssertEqual(try lines(of: long + Array("\nb\n".utf8)).map(\.utf8.count), [65_536, 65_536, 18_928, 1])
        let exact = [UInt8](repeating: 0x78, count: 65_536)
        XCTAssertEqual(try lines(of: exact + Array("\nb\n".utf8)).map(\.utf8.count), [65_536, 1])
    }
}

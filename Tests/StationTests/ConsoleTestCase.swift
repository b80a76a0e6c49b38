import Basics
import EventLoop
import Foundation
import TestSupport
import XCTest

@testable import Station

/// Tests of people at consoles in one room, in virtual time, whose notebooks lie in a folder of the test.
class ConsoleTestCase: XCTestCase {
    static let start = WallTime(milliseconds: 1_800_000_000_000)
    let loop = EmbeddedLoop(start: Now(monotonic: .zero, wall: ConsoleTestCase.start))
    var random = SeededRandom(seed: 61)
    var island: Island!
    private(set) var folder = ""

    override func setUpWithError() throws {
        island = Island(loop: loop, seed: 3)
        folder = try makeFolder()
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    /// A process that dies: nobody hears a goodbye.
    func kill(_ person: Person, _ notebook: Notebook) {
        notebook.kill()
        person.peer.switchboard.sever()
        person.peer.switchboard.radio.stop()
    }

    func leave(_ person: Person) {
        person.peer.enter("/quit")
        loop.advance(by: .seconds(3))
    }
}

import Basics
import Crypto
import Mesh
import Simulation
import Wire
import XCTest

/// History between nodes in virtual time (chapter 04 §1, §9.4).
final class HistorySyncTests: XCTestCase {
    private let hour: Int64 = 3_600_000

    /// Has a node say something every `pause`, for `span`.
    private func talk(_ mesh: SimulatedMesh, _ speaker: Int, every pause: Interval, for span: Interval) -> [String] {
        var said: [String] = []
        for number in 0..<Int(span.nanoseconds / pause.nanoseconds) {
            said.append("\(speaker) says \(number)")
            mesh.call(speaker) { $0.say("\(speaker) says \(number)", at: $1) }
            mesh.run(for: pause)
        }
        return said
    }

    /// Node 0 comes by node 1 once an hour and says ten things each time; after the last time it stays.
    private func visitHourly(_ mesh: SimulatedMesh, hours: Int) -> [String] {
        var said: [String] = []
        for hour in 0..<hours {
            let link = mesh.connect(0, 1)
            mesh.run(for: .seconds(5))
            for number in 0..<10 {
                said.append("hour \(hour), thing \(number)")
                mesh.call(0) { $0.say(said[said.count - 1], at: $1) }
                mesh.run(for: .seconds(1))
            }
            guard hour < hours - 1 else { break }
            mesh.disconnect(link.a)
            mesh.run(for: .minutes(60) - .seconds(15))
        }
        return said
    }

    /// The node dies without a goodbye and comes back without links.
    private func restart(_ mesh: SimulatedMesh, _ index: Int, keepingArchive: Bool = true) {
        mesh.retire(index)
        if !keepingArchive { mesh.nodes[index].archive = SimulatedArchive() }
        mesh.restart(index, MeshConfiguration(nickname: "node-\(index)"))
    }

    func testLateArrivalHearsSixHoursOfHistory() {
        let mesh = SimulatedMesh(seed: 21)
        mesh.recordsAir = false
        for _ in 0..<2 { mesh.addNode() }
        let said = visitHourly(mesh, hours: 6)
        mesh.run(for: .minutes(58))
        let late = mesh.addNode()
        mesh.connect(late, 1)
        mesh.run(for: .seconds(70))
        XCTAssertEqual(Set(mesh.nodes[late].texts), Set(said), "seed \(mesh.seed)")
        XCTAssertEqual(mesh.nodes[late].texts.count, said.count)
        XCTAssertTrue(mesh.nodes[late].heard.allSatisfy { $0.isReplay })
        XCTAssertEqual(mesh.nodes[1].texts.count, said.count, "nobody hears it again")
        XCTAssertTrue(mesh.nodes[0].texts.isEmpty)
    }

    func testHistoryTravelsThreeHopsHopByHop() {
        let mesh = SimulatedMesh(seed: 22)
        mesh.recordsAir = false
        for _ in 0..<4 { mesh.addNode() }
        let said = visitHourly(mesh, hours: 6)
        mesh.connect(1, 2)
        mesh.connect(2, 3)
        mesh.run(for: .seconds(130))
        for node in 2...3 {
            XCTAssertEqual(Set(mesh.nodes[node].texts), Set(said), "node \(node)")
            XCTAssertEqual(mesh.nodes[node].texts.count, said.count)
        }
    }

    func testLongMessagesReachLateArrivalsToo() {
        let mesh = SimulatedMesh(seed: 23)
        for _ in 0..<2 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.run(for: .seconds(10))
        var random = SeededRandom(seed: 4)
        let story = Hex.encode(random.bytes(3_000))
        mesh.call(0) { $0.say(story, at: $1) }
        mesh.run(for: .minutes(20))
        XCTAssertEqual(mesh.nodes[1].texts, [story])
        let late = mesh.addNode()
        mesh.connect(late, 1)
        mesh.run(for: .seconds(40))
        XCTAssertEqual(mesh.nodes[late].texts, [story])
    }

    func testIslandsThatMeetExchangeWhatTheyMissed() {
        let mesh = SimulatedMesh(seed: 24)
        mesh.recordsAir = false
        for _ in 0..<4 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.connect(2, 3)
        mesh.run(for: .seconds(10))
        let west = talk(mesh, 0, every: .seconds(30), for: .minutes(20))
        let east = talk(mesh, 3, every: .seconds(30), for: .minutes(20))
        mesh.connect(1, 2)
        mesh.run(for: .seconds(100))
        XCTAssertEqual(Set(mesh.nodes[0].texts), Set(east))
        XCTAssertEqual(Set(mesh.nodes[3].texts), Set(west))
        XCTAssertEqual(Set(mesh.nodes[1].texts), Set(west + east))
        XCTAssertEqual(mesh.nodes[1].texts.count, west.count + east.count)
    }

    func testLostFramesAreMadeGoodByTheNextRounds() {
        let mesh = SimulatedMesh(seed: 25)
        mesh.recordsAir = false
        for _ in 0..<2 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.run(for: .seconds(10))
        let said = talk(mesh, 0, every: .seconds(20), for: .minutes(60))
        let late = mesh.addNode()
        mesh.connect(late, 1, SimulatedMesh.Conditions(loss: 0.1))
        mesh.run(for: .minutes(15))
        XCTAssertEqual(Set(mesh.nodes[late].texts), Set(said), "seed \(mesh.seed)")
    }

    func testRestartedNodeStillServesAndDeliversNothingTwice() {
        let mesh = SimulatedMesh(seed: 26)
        mesh.recordsAir = false
        for _ in 0..<2 { mesh.addNode() }
        let link = mesh.connect(0, 1)
        mesh.run(for: .seconds(10))
        let said = talk(mesh, 0, every: .seconds(20), for: .minutes(20))
        mesh.run(for: .seconds(31))
        mesh.disconnect(link.a)
        restart(mesh, 1)
        mesh.run(for: .seconds(5))
        XCTAssertEqual(mesh.nodes[1].mesh.historyCount, said.count)
        // The author is back, with everything it said in its own store.
        mesh.connect(0, 1)
        let late = mesh.addNode()
        mesh.connect(late, 1)
        mesh.run(for: .minutes(10))
        XCTAssertEqual(mesh.nodes[1].texts.count, said.count, "heard before the restart, not again after it")
        XCTAssertEqual(mesh.nodes[late].texts, said)
    }

    func testRestartWithoutAnArchiveIsRefilledByTheNeighbours() {
        let mesh = SimulatedMesh(seed: 27)
        mesh.recordsAir = false
        for _ in 0..<3 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.connect(1, 2)
        mesh.run(for: .seconds(10))
        let said = talk(mesh, 0, every: .minutes(1), for: .minutes(30))
        restart(mesh, 0, keepingArchive: false)
        mesh.connect(0, 1)
        mesh.run(for: .seconds(60))
        XCTAssertEqual(mesh.nodes[0].mesh.historyCount, said.count, "own messages come back")
        XCTAssertTrue(mesh.nodes[0].texts.isEmpty, "but are no news to who said them")
    }

    func testIdleMeshWithFullHistoryIsNearlySilent() {
        let mesh = SimulatedMesh(seed: 28)
        for _ in 0..<3 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.connect(1, 2)
        mesh.run(for: .seconds(10))
        mesh.recordsAir = false
        _ = talk(mesh, 0, every: .seconds(2), for: .minutes(20))
        mesh.run(for: .minutes(3))
        mesh.recordsAir = true
        mesh.clearAir()
        mesh.run(for: .minutes(10))
        XCTAssertEqual(mesh.air(.message).count, 0, "600 messages held, none sent again")
        let bytes = mesh.air.reduce(0) { $0 + $1.bytes.count }
        // Four link ends, each with one request of three quarters of a kilobyte and small ones a tick, and announces.
        XCTAssertLessThan(bytes, 10 * 60 * 4 * 80)
    }

    /// Lesson 40: nobody hears anything twice, however long neighbours go on offering.
    func testNothingIsHeardTwiceUntilItIsForgotten() {
        let mesh = SimulatedMesh(seed: 29)
        mesh.recordsAir = false
        for _ in 0..<3 { mesh.addNode() }
        for (a, b) in [(0, 1), (1, 2), (2, 0)] { mesh.connect(a, b) }
        mesh.run(for: .seconds(10))
        let said = talk(mesh, 0, every: .seconds(20), for: .minutes(20))
        restart(mesh, 1)
        mesh.connect(0, 1)
        mesh.connect(1, 2)
        mesh.run(for: .minutes(40))
        for link in mesh.openLinks { mesh.disconnect(link.link) }
        mesh.run(for: .minutes(330))
        // Together again while the last of it is about to end.
        mesh.connect(0, 1)
        mesh.connect(1, 2)
        mesh.run(for: .minutes(20))
        for node in 1...2 {
            XCTAssertEqual(mesh.nodes[node].texts.count, said.count)
            XCTAssertEqual(Set(mesh.nodes[node].texts), Set(said))
            XCTAssertEqual(mesh.nodes[node].mesh.historyCount, 0, "six hours are over")
        }
        XCTAssertTrue(mesh.nodes[1].archive.records.isEmpty)
    }
}

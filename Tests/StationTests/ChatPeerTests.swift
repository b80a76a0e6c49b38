import Basics
import EventLoop
import Gateway
import Mesh
import Wire
import XCTest

@testable import Station

final class ChatPeerTests: XCTestCase {
    private let loop = EmbeddedLoop()

    /// Two rooms with a gateway and two people each, all in one area, given time to get to know each other.
    private func twoIslands() throws -> (relay: RelayInMemory, gateways: [Switchboard], people: [Person]) {
        let relay = RelayInMemory(loop: loop)
        let islands = [Island(loop: loop, seed: 1), Island(loop: loop, seed: 2)]
        let gateways = islands.map { $0.gateway("gate", cell: "u4pruy", relay: relay.makePort()) }
        let people = [
            try islands[0].person("alice"), try islands[0].person("adam"), try islands[1].person("bella"),
            try islands[1].person("bruno"),
        ]
        loop.advance(by: .seconds(10))
        return (relay, gateways, people)
    }

    func testPeopleSeeEachOtherComeAndGo() throws {
        let island = Island(loop: loop, seed: 3)
        let alice = try island.person("alice", bridge: false)
        let adam = try island.person("adam", bridge: false)
        loop.advance(by: .seconds(5))
        XCTAssertEqual(alice.lines, ["* adam came"])
        adam.peer.enter("/nick eve")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(alice.lines.last, "* adam is now eve")
        adam.peer.enter("/quit")
        loop.advance(by: .seconds(1))
        XCTAssertTrue(adam.hasLeft)
        XCTAssertEqual(alice.lines.last, "* eve left")
        XCTAssertEqual(adam.lines, ["* alice came", "* you are eve now"])
    }

    func testALineIsHeardOnceInTheRoomAndOnceAcrossTheBridge() throws {
        let (relay, gateways, people) = try twoIslands()
        people[0].peer.enter("hello both rooms")
        loop.advance(by: .seconds(5))
        people[3].peer.enter("hello from the other")
        loop.advance(by: .seconds(30))
        XCTAssertEqual(people[0].heard("hello both rooms"), [])
        XCTAssertEqual(people[1].heard("hello both rooms"), ["<alice> hello both rooms"])
        for person in people[2...] {
            XCTAssertEqual(person.heard("hello both rooms").count, 1)
            XCTAssertTrue(person.heard("hello both rooms")[0].hasPrefix("[bridge] <alice#"))
        }
        XCTAssertEqual(people[2].heard("hello from the other"), ["<bruno> hello from the other"])
        for person in people[..<2] { XCTAssertEqual(person.heard("hello from the other").count, 1) }
        XCTAssertEqual(relay.published.count, 2)
        withExtendedLifetime(gateways) {}
    }

    /// Nothing of a person with the bridge off leaves the room.
    func testNearbyOnlySuppresses() throws {
        let (relay, gateways, people) = try twoIslands()
        people[0].peer.enter("/bridge off")
        people[0].peer.enter("only here")
        loop.advance(by: .seconds(10))
        XCTAssertEqual(people[1].heard("only here").count, 1)
        XCTAssertEqual(people[2].heard("only here"), [])
        XCTAssertEqual(relay.published, [])
        withExtendedLifetime(gateways) {}
    }

    func testAChannelLineGoesOutThroughTheGatewayAndIsEchoedToTheRoom() throws {
        let (relay, gateways, people) = try twoIslands()
        for person in people[..<2] { person.peer.enter("/j u4pruyd") }
        people[0].peer.enter("anybody at the well?")
        loop.advance(by: .seconds(10))
        XCTAssertEqual(relay.published.map(\.event.content), ["anybody at the well?"])
        XCTAssertEqual(people[1].heard("anybody at the well?").count, 1)
        XCTAssertTrue(people[1].heard("anybody at the well?")[0].hasPrefix("[#u4pruyd] <alice#"))
        XCTAssertEqual(people[0].lines.filter { $0 == "* sent through a gateway of the mesh" }.count, 1)
        XCTAssertEqual(people[2].heard("anybody at the well?"), [])
        withExtendedLifetime(gateways) {}
    }

    func testALineToOwnRelaysIsNotSaidToHaveGoneThroughAGateway() throws {
        let island = Island(loop: loop, seed: 8)
        let alice = try island.person("alice")
        alice.peer.enter("/j u4pruyd")
        alice.peer.switchboard.perform {
            alice.peer.switchboard.gateway.relayConnectivityChanged(true, at: $0)
        }
        alice.peer.enter("hello?")
        XCTAssertEqual(alice.lines.last, "* sent to relays")
    }

    func testWithoutAGatewayAChannelLineIsReportedAsNotSent() throws {
        let island = Island(loop: loop, seed: 4)
        let alice = try island.person("alice")
        _ = try island.person("adam")
        loop.advance(by: .seconds(5))
        alice.peer.enter("/j u4pruyd")
        alice.peer.enter("hello?")
        XCTAssertEqual(alice.lines.last, "! not sent: no gateway is in reach")
    }

    /// A person takes the area of the bridge in reach once.
    func testFallbackCell() throws {
        let (_, gateways, people) = try twoIslands()
        for person in people { XCTAssertEqual(person.lines.filter { $0 == "* bridge: area u4pruy" }.count, 1) }
        withExtendedLifetime(gateways) {}
    }

    /// Chapter 06 §1.2: what is announced does not flap.
    func testAGatewayThatIsReplacedIsSeenAllTheWhile() throws {
        let island = Island(loop: loop, seed: 9)
        let gate = island.gateway("gate", cell: "u4pruy", relay: nil)
        let alice = try island.person("alice", bridge: false)
        loop.advance(by: .seconds(5))
        func seen() -> PeerSnapshot? {
            alice.peer.switchboard.mesh.peers(at: loop.now).first { $0.nickname == "gate" }
        }
        XCTAssertEqual(seen()?.bridgeCell, "u4pruy")
        let next = Gateway(
            configuration: GatewayConfiguration(cell: RendezvousCell("u4prux")), seed: nil,
            random: SeededRandom(seed: 1))
        gate.replaceGateway(next) { now in
            gate.gateway.setClockTrusted(true, at: now)
            gate.gateway.start(at: now)
        }
        for _ in 0..<30 {
            loop.advance(by: .milliseconds(10))
            XCTAssertEqual(seen()?.capabilities, [.gateway, .bridge])
        }
        XCTAssertEqual(seen()?.bridgeCell, "u4prux")
        let resting = Gateway(configuration: GatewayConfiguration(jobs: []), seed: nil, random: SeededRandom(seed: 2))
        gate.replaceGateway(resting) { gate.gateway.start(at: $0) }
        loop.advance(by: .milliseconds(300))
        XCTAssertEqual(seen()?.capabilities, [])
    }

    func testHostileTextReachesNoLineUnescaped() throws {
        let island = Island(loop: loop, seed: 5)
        let alice = try island.person("alice")
        let adam = try island.person("adam")
        loop.advance(by: .seconds(5))
        adam.peer.enter("a\u{1B}[2Jb\nc\u{202E}d")
        loop.advance(by: .seconds(2))
        XCTAssertEqual(alice.lines.last, "<adam> a\\u{1B}[2Jb\\nc\\u{202E}d")
    }

    func testNamesakesAreToldApart() throws {
        let island = Island(loop: loop, seed: 6)
        let alice = try island.person("alice")
        let namesake = try island.person("eve")
        let other = try island.person("bob")
        loop.advance(by: .seconds(10))
        namesake.peer.enter("/nick alice")
        other.peer.enter("/nick alice")
        loop.advance(by: .seconds(5))
        namesake.peer.enter("which one am I?")
        loop.advance(by: .seconds(2))
        XCTAssertEqual(alice.heard("which one am I?").count, 1)
        XCTAssertTrue(alice.heard("which one am I?")[0].hasPrefix("<alice#"), "\(alice.lines)")
        XCTAssertTrue(other.heard("which one am I?")[0].hasPrefix("<alice#"), "\(other.lines)")
    }

    func testALineNobodyHearsIsReported() throws {
        let alice = try Island(loop: loop, seed: 7).person("alice")
        loop.advance(by: .seconds(5))
        alice.peer.enter("hello?")
        XCTAssertEqual(alice.lines, ["! nobody is in reach to hear that"])
    }

    func testWhoIsInReachIsListed() throws {
        let (_, gateways, people) = try twoIslands()
        people[2].peer.enter("hi")
        loop.advance(by: .seconds(5))
        people[0].peer.enter("/who")
        let list = people[0].lines.drop { $0 != "* 2 in reach:" }
        XCTAssertEqual(Set(list.dropFirst().prefix(2)), ["*   gate (gateway, bridge)", "*   adam"])
        XCTAssertTrue(list.dropFirst(3).first == "* 1 across the bridge:", "\(list)")
        XCTAssertTrue(list.last?.hasPrefix("*   bella#") == true, "\(list)")
        withExtendedLifetime(gateways) {}
    }
}

final class SwitchboardTests: XCTestCase {
    func testAGatewayAloneKeepsOneTimerAndRunsTheSameEachTime() {
        func run() -> [Int] {
            let loop = EmbeddedLoop()
            let gateway = Island(loop: loop, seed: 9).gateway("gate", cell: "u4pruy", relay: nil)
            var timers: [Int] = []
            for _ in 0..<120 {
                loop.advance(by: .seconds(1))
                timers.append(loop.pendingTimers)
            }
            withExtendedLifetime(gateway) {}
            return timers
        }
        XCTAssertEqual(run(), [Int](repeating: 1, count: 120))
        XCTAssertEqual(run(), run())
    }

    func testNoTimerSurvivesTheEnd() {
        let loop = EmbeddedLoop()
        let gateway = Island(loop: loop, seed: 9).gateway("gate", cell: "u4pruy", relay: nil)
        loop.advance(by: .seconds(3))
        gateway.perform { gateway.gateway.stop(at: $0) }
        gateway.perform { gateway.mesh.stop(at: $0) }
        gateway.stopTimer()
        gateway.radio.stop()
        loop.advance(by: .minutes(10))
        XCTAssertTrue(loop.isIdle)
    }
}

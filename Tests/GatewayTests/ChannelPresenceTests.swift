import Basics
import Crypto
import Nostr
import XCTest

@testable import Gateway

/// Chapter 05 §9: presence in location channels, and who counts as present.
final class ChannelPresenceTests: XCTestCase {
    private func configuration(_ isOn: Bool = true) throws -> GatewayConfiguration {
        GatewayConfiguration(
            channels: ["u4pru"], cell: try XCTUnwrap(RendezvousCell("u4pruy")), publishesChannelPresence: isOn)
    }

    private func presences(_ rig: Rig) -> [(event: VerifiedEvent, geohash: String)] {
        rig.published.filter { $0.event.event.kind == EventKind.presence && $0.event.event.tags.first?.first == "g" }
    }

    func testNobodyIsToldUnlessTheOperatorAsks() throws {
        let rig = Rig(try configuration(false))
        rig.run(.minutes(10))
        XCTAssertTrue(presences(rig).isEmpty)
        XCTAssertFalse(GatewayConfiguration().publishesChannelPresence)
    }

    func testRegionProvinceAndCityAreToldAboutOnceAMinuteEachByItsOwnIdentity() throws {
        let rig = Rig(try configuration())
        let seed = try XCTUnwrap(Rig.seed)
        rig.run(.seconds(39))
        XCTAssertTrue(presences(rig).isEmpty, "after one full delay")
        rig.run(.minutes(60))
        let told = presences(rig)
        for cell in ["u4", "u4pr", "u4pru"] {
            let events = told.filter { $0.geohash == cell }.map(\.event.event)
            XCTAssertTrue((43...90).contains(events.count), "\(events.count)")
            XCTAssertTrue(events.allSatisfy { $0.tags == [["g", cell]] && $0.content.isEmpty })
            XCTAssertEqual(Set(events.map(\.pubkey)), [seed.channel(cell).publicKey.hex])
            let times = events.map(\.createdAt)
            XCTAssertTrue(zip(times, times.dropFirst()).allSatisfy { (36...84).contains($1 - $0) })
        }
        XCTAssertEqual(Set(told.map(\.geohash)).count, 3, "never finer")
    }

    func testABeatWithoutARelayIsLeftOutAndStoppingCancelsWhatABeatPromised() throws {
        let rig = Rig(try configuration(), relays: false)
        rig.run(.minutes(10))
        XCTAssertTrue(presences(rig).isEmpty)
        rig.setRelays(true)
        XCTAssertTrue(presences(rig).isEmpty, "nothing was put off")
        while presences(rig).isEmpty { rig.run(.seconds(1)) }
        rig.gateway.stop(at: rig.now)
        let count = presences(rig).count
        rig.run(.minutes(10))
        XCTAssertEqual(presences(rig).count, count)
    }

    func testMessagesAndPresenceOfTheLastFiveMinutesCountByWhenTheyWereMade() throws {
        let rig = Rig(try configuration())
        let one = try Author(1)
        let two = try Author(2)
        let three = try Author(3)
        rig.relay(one.channelMessage(in: "u4pru", at: Clock.start - 299))
        rig.relay(two.event(kind: EventKind.presence, tags: [["g", "u4pru"]], "", at: Clock.start + 60))
        rig.relay(three.channelMessage(in: "u4pru", at: Clock.start - 300))
        func names() -> [String] { rig.gateway.participants(inChannel: "u4pru", at: rig.now).map(\.displayName) }
        XCTAssertEqual(names().count, 2, "an hour of history makes nobody present")
        XCTAssertTrue(names()[0].hasPrefix("anon#"))
        XCTAssertTrue(names()[1].hasPrefix("zed#"))
        rig.now = rig.now.advanced(by: .seconds(2))
        XCTAssertEqual(names().count, 1)
        rig.relay(one.event(kind: EventKind.presence, tags: [["g", "u4pru"]], "", at: Clock.start))
        XCTAssertTrue(names().contains { $0.hasPrefix("zed#") }, "presence erases no name")
        XCTAssertEqual(rig.gateway.channels(at: rig.now).map(\.participants), [2])
        rig.now = rig.now.advanced(by: .seconds(299))
        XCTAssertEqual(names().count, 0, "what came from the future counted as now")
    }

    func testForeignEventsAndOtherChannelsAreNotCounted() throws {
        let rig = Rig(try configuration())
        rig.relay(try Author(1).channelMessage(in: "u3"))
        XCTAssertEqual(rig.gateway.participants(inChannel: "u4pru", at: rig.now).count, 0)
        XCTAssertEqual(rig.gateway.participants(inChannel: "u3", at: rig.now).count, 0)
    }

    func testAFloodOfKeysIsBoundedAndForgetsTheLongestUnseen() throws {
        var people = ChannelParticipants()
        let now = Clock.now()
        var random = SeededRandom(seed: 1)
        func event(_ age: Int64) throws -> VerifiedEvent {
            let key = NostrSecretKey.generate(using: &random)
            return try XCTUnwrap(
                VerifiedEvent.signed(
                    kind: EventKind.presence, tags: [["g", "u4"]], content: "", createdAt: Clock.start - age,
                    key: key, using: &random))
        }
        let oldest = try event(250)
        people.record(oldest, in: "u4", at: now)
        for _ in 0..<2_000 { people.record(try event(1), in: "u4", at: now) }
        XCTAssertEqual(people.count(in: "u4", at: now.monotonic), 2_000)
        XCTAssertFalse(people.list(in: "u4", at: now.monotonic).contains { $0.key == oldest.author })
        people.keep(["u4pru"])
        XCTAssertEqual(people.count(in: "u4", at: now.monotonic), 0)
    }
}

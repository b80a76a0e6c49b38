import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §3.5: the configured channels, and those that deposits show to be in use.
final class ChannelFollowerTests: XCTestCase {
    func testAcceptedDepositMakesItsChannelFollowedForAnHour() throws {
        let rig = Rig(.reference(cell: nil))
        rig.deposit(try Author(1).channelMessage(in: "9q8yy"), in: "9q8yy")
        XCTAssertEqual(rig.subscribed.map(\.id), ["geo-u4pru", "geo-9q8yy"])
        rig.relay(try Author(2).channelMessage(in: "9q8yy"), "geo-9q8yy")
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.map(\.geohash), ["9q8yy"])
        rig.run(.seconds(3_597))
        XCTAssertTrue(rig.unsubscribed.isEmpty)
        rig.run(.seconds(1))
        XCTAssertEqual(rig.unsubscribed, ["geo-9q8yy"])
        XCTAssertEqual(rig.status.followedChannels, ["u4pru"])
    }

    func testEachDepositRenewsTheHour() throws {
        let author = try Author(1)
        let rig = Rig(.reference(cell: nil))
        for index in 0..<4 {
            rig.deposit(
                author.channelMessage(in: "9q8yy", at: rig.now.wall.unixSeconds + Int64(index)), in: "9q8yy")
            rig.run(.minutes(50))
        }
        XCTAssertTrue(rig.unsubscribed.isEmpty)
        XCTAssertEqual(rig.subscribed.filter { $0.id == "geo-9q8yy" }.count, 1)
        rig.run(.minutes(10))
        XCTAssertEqual(rig.unsubscribed, ["geo-9q8yy"])
    }

    func testNinthDemandedChannelReplacesTheLeastRecentlyDemanded() throws {
        let author = try Author(1)
        let rig = Rig(.reference(cell: nil))
        let channels = (2...9).map { "9q\($0)" } + ["9qb"]
        for (index, channel) in channels.enumerated() {
            rig.deposit(author.channelMessage(in: channel), in: channel, from: PeerID(value: UInt64(index)))
            if index == 4 {
                rig.deposit(author.channelMessage("again", in: "9q2"), in: "9q2", from: .bob)
            }
        }
        XCTAssertEqual(rig.unsubscribed, ["geo-9q3"])
        XCTAssertEqual(rig.status.followedChannels.count, 1 + GatewayLimits.demandedChannels)
    }

    func testRefusedDepositDemandsNothing() throws {
        let rig = Rig(.reference(cell: nil))
        let event = try Author(1).channelMessage(in: "9q8yy")
        rig.receive(NostrCarrier(.toGateway, "9q8yy", event.forged), addressedToUs: true, from: .alice)
        rig.receive(event.carrier(.fromGateway, "9q8yy"))
        XCTAssertEqual(rig.status.followedChannels, ["u4pru"])
    }

    func testConfiguredChannelsAreNeverGivenUp() throws {
        let rig = Rig(.reference(cell: nil))
        rig.deposit(try Author(1).channelMessage())
        rig.run(.minutes(120))
        XCTAssertTrue(rig.unsubscribed.isEmpty)
    }

    func testInvalidAndSurplusConfiguredChannelsAreIgnored() {
        let follower = ChannelFollower(configured: ["U4PRU", "", "u4pru", "a", "u4pru"] + (0..<40).map { "b\($0)" })
        XCTAssertEqual(follower.configured.first, "u4pru")
        XCTAssertEqual(follower.configured.count, GatewayLimits.configuredChannels)
        XCTAssertEqual(Set(follower.configured).count, follower.configured.count)
    }

    func testStoppingForgetsDemandedChannels() throws {
        let rig = Rig(.reference(cell: nil))
        rig.deposit(try Author(1).channelMessage(in: "9q8yy"), in: "9q8yy")
        rig.gateway.stop(at: rig.now)
        rig.gateway.start(at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.status.followedChannels, ["u4pru"])
    }
}

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

    func testOneDepositorDisplacesOnlyItsOwnChannels() throws {
        let author = try Author(1)
        let rig = Rig(.reference(cell: nil))
        let honest = (2...8).map { "9q\($0)" }
        for (index, channel) in honest.enumerated() {
            rig.deposit(author.channelMessage(in: channel), in: channel, from: PeerID(value: UInt64(index + 1)))
        }
        for round in 0..<3 {
            for letter in "bcdefghj" {
                rig.deposit(
                    author.channelMessage("\(round)", in: "s\(letter)"), in: "s\(letter)", from: .bob)
            }
            rig.run(.seconds(61))
        }
        XCTAssertEqual(Set(rig.status.followedChannels).intersection(honest), Set(honest))
        XCTAssertEqual(rig.status.followedChannels.count, 1 + GatewayLimits.demandedChannels)
        // Nor does writing where others are make their channels its own.
        for channel in honest { rig.deposit(author.channelMessage("too", in: channel), in: channel, from: .bob) }
        rig.run(.seconds(61))
        for letter in "kmnp" {
            rig.deposit(author.channelMessage("last", in: "s\(letter)"), in: "s\(letter)", from: .bob)
        }
        XCTAssertEqual(Set(rig.status.followedChannels).intersection(honest), Set(honest))
    }

    /// Chapter 05 §7: a relay must not learn of one building at a stranger's word. The deposit itself is carried.
    func testADepositForABuildingIsPublishedAndNotFollowed() throws {
        let author = try Author(1)
        let rig = Rig(.reference(cell: nil))
        for place in ["u33dc0cp", "u33dc0cpxxxx"] { rig.deposit(author.channelMessage(in: place), in: place) }
        XCTAssertEqual(rig.published.count, 2)
        XCTAssertEqual(rig.subscribed.map(\.id), ["geo-u4pru"])
        rig.deposit(author.channelMessage(in: "u33dc0c"), in: "u33dc0c")
        XCTAssertEqual(rig.subscribed.map(\.id), ["geo-u4pru", "geo-u33dc0c"])
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

import Basics
import Wire
import XCTest

@testable import Mesh

final class FragmentTrainTests: XCTestCase {
    private let now = Instant.zero + .hours(1)

    private func train(
        _ value: UInt64, bytes: Int = 1_000, strict: Bool = false, to recipient: PeerID? = nil
    ) throws -> FragmentTrain {
        var random = SeededRandom(seed: value)
        let frame = try Frame(
            Packet(
                version: 2, type: .fileTransfer, timestamp: WallTime(milliseconds: 1), senderID: PeerID(value: value),
                recipientID: recipient, payload: random.bytes(bytes)
            ).encoded())
        let plan = try XCTUnwrap(FragmentPlan(frame, chunk: 400, streamID: FragmentStreamID(value: value)))
        var template = Transmission(frame: frame, since: now)
        template.isStrict = strict
        return FragmentTrain(plan: plan, template: template, bytes: frame.bytes.count)
    }

    private func transfer(_ id: UInt8, to audience: PeerID? = nil) -> Transfer {
        Transfer(id: [id], audience: audience)
    }

    /// Everything due up to `milliseconds`, by stream.
    private func drain(_ trains: inout FragmentTrains, until milliseconds: Int) -> [UInt64] {
        var streams: [UInt64] = []
        for step in stride(from: 0, through: milliseconds, by: 5) {
            while let fragment = trains.takeDue(at: now + .milliseconds(step)) {
                streams.append(fragment.frame.senderID.value)
            }
        }
        return streams
    }

    func testTwoTransfersRunAndTheThirdWaitsItsTurn() throws {
        var trains = FragmentTrains()
        XCTAssertEqual(trains.start(try train(1), transfer: transfer(1), at: now), .started)
        XCTAssertEqual(trains.start(try train(2), transfer: transfer(2), at: now), .started)
        XCTAssertEqual(trains.start(try train(3), transfer: transfer(3), at: now), .queued)
        XCTAssertEqual(trains.start(try train(4), at: now), .started, "no transfer, no slot")
        XCTAssertEqual(trains.count, 3)
        let order = drain(&trains, until: 1_000)
        XCTAssertEqual(order.prefix(3), [1, 2, 4])
        XCTAssertEqual(order.filter { $0 == 3 }.count, 3)
        XCTAssertEqual(trains.count, 0)
        XCTAssertEqual(trains.waitingCount, 0)
    }

    func testSameIDWaitsAtTheFrontAndDoesNotSpendAnothersSlot() throws {
        var trains = FragmentTrains()
        let ann = PeerID(value: 100)
        _ = trains.start(try train(1, bytes: 4_000), transfer: transfer(1, to: ann), at: now)
        _ = trains.start(try train(2), transfer: transfer(2), at: now)
        XCTAssertEqual(trains.start(try train(3), transfer: transfer(3), at: now), .queued)
        XCTAssertEqual(trains.start(try train(4), transfer: transfer(1), at: now), .queued)
        // When 2 is done, the waiting second 1 is passed over, since the first is still on its way.
        let order = drain(&trains, until: 200)
        XCTAssertTrue(order.contains(3))
        XCTAssertFalse(order.contains(4))
        XCTAssertTrue(drain(&trains, until: 2_000).contains(4))
    }

    func testStrictTransferDoesNotWait() throws {
        var trains = FragmentTrains()
        _ = trains.start(try train(1), transfer: transfer(1, to: PeerID(value: 100)), at: now)
        XCTAssertEqual(trains.start(try train(2, strict: true), transfer: transfer(1), at: now), .refused)
        _ = trains.start(try train(3), transfer: transfer(3), at: now)
        XCTAssertEqual(trains.start(try train(4, strict: true), transfer: transfer(4), at: now), .refused)
    }

    func testSameFileToACoveredAudienceIsDropped() throws {
        let ann = PeerID(value: 100)
        var trains = FragmentTrains()
        _ = trains.start(try train(1), transfer: transfer(1, to: ann), at: now)
        XCTAssertEqual(trains.start(try train(2), transfer: transfer(1, to: ann), at: now), .redundant)
        XCTAssertEqual(trains.start(try train(3), transfer: transfer(1), at: now), .queued)
        // Everybody is covered by the waiting one.
        let bob = PeerID(value: 200)
        XCTAssertEqual(trains.start(try train(4), transfer: transfer(1, to: bob), at: now), .redundant)
    }

    func testTrainsAreBoundedInNumberAndBytes() throws {
        var trains = FragmentTrains()
        for value in 0..<UInt64(MeshLimits.fragmentTrains) {
            XCTAssertEqual(trains.start(try train(value, bytes: 500), at: now), .started)
        }
        XCTAssertEqual(trains.start(try train(999, bytes: 500), at: now), .refused)
        trains.removeAll()
        for value in 0..<8 as Range<UInt64> {
            XCTAssertEqual(trains.start(try train(value, bytes: 1_040_000), at: now), .started)
        }
        XCTAssertEqual(trains.start(try train(9, bytes: 1_040_000), at: now), .refused)
        XCTAssertEqual(trains.start(try train(10, bytes: 50_000), at: now), .started)
    }

    func testWaitingTransfersAreBounded() throws {
        var trains = FragmentTrains()
        for value in 0..<UInt64(MeshLimits.activeTransfers + MeshLimits.pendingTransfers) {
            let start = trains.start(try train(value), transfer: transfer(UInt8(value)), at: now)
            XCTAssertEqual(start, value < 2 ? .started : .queued)
        }
        XCTAssertEqual(trains.start(try train(99), transfer: transfer(99), at: now), .refused)
    }
}

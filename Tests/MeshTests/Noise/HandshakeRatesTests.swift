import Basics
import Wire
import XCTest

@testable import Mesh

final class HandshakeRatesTests: XCTestCase {
    private let now = Instant.zero + .hours(1)
    private func link(_ value: UInt64) -> LinkID { LinkID(value: value) }
    private func peer(_ value: UInt64) -> PeerID { PeerID(value: value) }

    func testTenAPeerAMinuteStartsAndReceivedTogether() {
        var rates = HandshakeRates()
        for count in 0..<10 as Range<UInt64> {
            let isAdmitted =
                count % 2 == 0
                ? rates.admitStart(with: peer(1), at: now)
                : rates.admitReceived(from: peer(1), .likely, on: link(count), at: now)
            XCTAssertTrue(isAdmitted, "\(count)")
        }
        XCTAssertFalse(rates.admitStart(with: peer(1), at: now))
        XCTAssertFalse(rates.admitReceived(from: peer(1), .likely, on: link(9), at: now))
        XCTAssertTrue(rates.admitStart(with: peer(2), at: now))
        XCTAssertTrue(rates.admitStart(with: peer(1), at: now + .milliseconds(60_001)))
    }

    func testRefusalsConsumeNothing() {
        var rates = HandshakeRates()
        for _ in 0..<10 { _ = rates.admitReceived(from: peer(1), .likely, on: link(1), at: now) }
        for _ in 0..<1_000 { XCTAssertFalse(rates.admitReceived(from: peer(1), .likely, on: link(1), at: now)) }
        for count in 0..<20 as Range<UInt64> {
            XCTAssertTrue(rates.admitReceived(from: peer(2 + count), .likely, on: link(1), at: now))
        }
        XCTAssertFalse(rates.admitReceived(from: peer(99), .likely, on: link(1), at: now), "thirty a link")
    }

    func testStormOnOneLinkLeavesTheOthersTheirShare() {
        var rates = HandshakeRates()
        let admitted = (0..<10_000 as Range<UInt64>).count {
            rates.admitReceived(from: peer(1_000 + $0), .likely, on: link(1), at: now)
        }
        XCTAssertEqual(admitted, 30)
        XCTAssertTrue(rates.admitReceived(from: peer(5), .likely, on: link(2), at: now))
        XCTAssertLessThanOrEqual(rates.count, 64)
    }

    func testStormInAPeersNameLeavesItsOwnLinkAShare() {
        var rates = HandshakeRates()
        let admitted = (0..<100 as Range<UInt64>).count {
            guard rates.admitReceived(from: peer(1), .elsewhere, on: link(2 + $0), at: now) else { return false }
            rates.noteSent(to: peer(1), at: now)
            return true
        }
        XCTAssertEqual(admitted, 3)
        XCTAssertTrue(rates.admitReceived(from: peer(1), .likely, on: link(1), at: now))
    }

    func testNeverMoreThanTenMessagesTowardsOnePeer() {
        var rates = HandshakeRates()
        var sent = 0
        for count in 0..<40 as Range<UInt64> {
            if rates.admitReceived(from: peer(1), count % 2 == 0 ? .elsewhere : .likely, on: link(count), at: now) {
                rates.noteSent(to: peer(1), at: now)
                sent += 1
            }
            if rates.admitStart(with: peer(1), at: now) { sent += 1 }
        }
        XCTAssertEqual(sent, 10)
    }

    func testAllTogetherThreeHundredAMinute() {
        var rates = HandshakeRates()
        let admitted = (0..<1_000 as Range<UInt64>).count {
            rates.admitReceived(from: peer($0), .likely, on: link($0), at: now)
        }
        XCTAssertEqual(admitted, 300)
        XCTAssertTrue(rates.admitStart(with: peer(5_000), at: now), "our own are not refused for others' sake")
    }

    /// Ciphertexts in the names of a crowd must not make us shake hands with all of it.
    func testWhatIsCausedByALinkIsChargedToIt() {
        var rates = HandshakeRates()
        XCTAssertEqual((0..<100).count { _ in rates.admitCause(on: link(1), at: now) }, 30)
        XCTAssertFalse(rates.admitReceived(from: peer(1), .likely, on: link(1), at: now))
        XCTAssertTrue(rates.admitCause(on: link(2), at: now))
    }

    func testCountsAreForgottenWhenTheTableIsFull() {
        var rates = HandshakeRates()
        var time = now
        for count in 0..<20_000 as Range<UInt64> {
            time = time + .milliseconds(250)
            XCTAssertTrue(rates.admitReceived(from: peer(count), .likely, on: link(count / 10), at: time))
        }
        XCTAssertLessThanOrEqual(rates.count, 2 * NoiseSessionLimits.ratedPeers)
    }
}

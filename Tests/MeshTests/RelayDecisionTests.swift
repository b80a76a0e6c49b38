import TestSupport
import Wire
import XCTest

@testable import Mesh

final class RelayDecisionTests: XCTestCase {
    /// The recorded cases set the reference's flags, also in combinations no packet has; this is their order of weight.
    private func relayClass(_ v: VectorCase) throws -> RelayClass {
        if try v.bool("isRequestSync") { return .never }
        if try v.bool("isHandshake") { return .handshake }
        if try v.bool("isDirectedFragment") || v.bool("isDirectedEncrypted") { return .directed }
        if try v.bool("isFragment") || v.bool("isVoiceFrame") { return .stream }
        if try v.bool("isAnnounce") || v.bool("isUrgentBoardPost") { return .urgent }
        return .ordinary
    }

    func testPacketsAreRelayedAsTheReferenceDoes() throws {
        try Vectors("relay_decisions.json").run { v in
            guard v.kind == "decide" else { throw v.unknownKind }
            let decision = RelayDecision.decide(
                try relayClass(v), ttl: UInt8(try v.int("ttl")), degree: try v.int("degree"),
                isOurs: try v.bool("senderIsSelf") || v.bool("recipientIsSelf"),
                highDegreeThreshold: try v.optionalInt("highDegreeThreshold") ?? 6)
            XCTAssertEqual(decision != nil, try v.bool("shouldRelay"), v.name)
            guard let decision else { return }
            XCTAssertEqual(Int(decision.ttl), try v.int("newTTL"), v.name)
            XCTAssertEqual(Int(decision.delay.lowerBound), try v.int("delayMinMs"), v.name)
            XCTAssertEqual(Int(decision.delay.upperBound), try v.int("delayMaxMs"), v.name)
        }
    }

    /// Chapter 03 D7.
    func testTimesToLiveAndDelaysAreThoseOfTheExamples() {
        func decide(_ type: MessageType, recipient: Bool = false, ttl: UInt8, degree: Int) -> RelayDecision? {
            RelayDecision.decide(
                RelayClass(type: type, hasRecipient: recipient), ttl: ttl, degree: degree, isOurs: false)
        }
        XCTAssertEqual(decide(.message, ttl: 7, degree: 1), RelayDecision(ttl: 6, delay: 10...40))
        XCTAssertEqual(decide(.message, ttl: 7, degree: 4), RelayDecision(ttl: 5, delay: 60...150))
        XCTAssertEqual(decide(.announce, ttl: 7, degree: 4), RelayDecision(ttl: 6, delay: 60...150))
        XCTAssertEqual(decide(.announce, ttl: 7, degree: 8), RelayDecision(ttl: 4, delay: 80...180))
        XCTAssertEqual(decide(.message, ttl: 2, degree: 12), RelayDecision(ttl: 1, delay: 100...220))
        for degree in 0...20 { XCTAssertNil(decide(.message, ttl: 1, degree: degree)) }
        XCTAssertEqual(decide(.fragment, ttl: 7, degree: 6), RelayDecision(ttl: 4, delay: 8...25))
        XCTAssertEqual(decide(.fragment, ttl: 7, degree: 3), RelayDecision(ttl: 6, delay: 8...25))
        XCTAssertEqual(decide(.fragment, recipient: true, ttl: 7, degree: 9), RelayDecision(ttl: 6, delay: 20...60))
        XCTAssertEqual(
            decide(.noiseEncrypted, recipient: true, ttl: 7, degree: 9), RelayDecision(ttl: 6, delay: 20...60))
        XCTAssertEqual(
            decide(.noiseHandshake, recipient: true, ttl: 3, degree: 9), RelayDecision(ttl: 2, delay: 10...35))
        XCTAssertEqual(decide(.nostrCarrier, ttl: 7, degree: 4), RelayDecision(ttl: 5, delay: 60...150))
        XCTAssertEqual(
            decide(.nostrCarrier, recipient: true, ttl: 7, degree: 4), RelayDecision(ttl: 6, delay: 20...60))
        XCTAssertEqual(decide(.message, ttl: 200, degree: 2), RelayDecision(ttl: 6, delay: 10...40))
        for ttl in UInt8.min...UInt8.max { XCTAssertNil(decide(.requestSync, ttl: ttl, degree: 1)) }
    }
}

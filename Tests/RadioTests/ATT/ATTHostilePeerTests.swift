import Basics
import Wire
import XCTest

@testable import Radio

/// Peers that mean harm: nothing they send stops the bearer, grows it, or makes it send what it should not.
final class ATTHostilePeerTests: XCTestCase {
    private var roles: [LinkRole] { [.incoming, .outgoing] }

    func testAPDUHasAtMostOneAnswerWhateverItIs() {
        for role in roles {
            for seed in 0..<30 {
                var random = SeededRandom(seed: UInt64(seed))
                var peer = BearerUnderTest(role)
                for _ in 0..<400 {
                    let effects = peer.effects(of: pdu(&random))
                    XCTAssertLessThanOrEqual(
                        effects.count { if case .transmitResponse = $0 { true } else { false } }, 1)
                    XCTAssertLessThanOrEqual(effects.count { if case .transmitRequest = $0 { true } else { false } }, 1)
                    checkForbidden(effects)
                    if case .fail = effects.last { peer = BearerUnderTest(role) }
                    peer.advance(.milliseconds(Int.random(in: 0...200, using: &random)))
                }
            }
        }
    }

    /// Mostly what begins well: random bytes alone hardly leave the first check.
    private func pdu(_ random: inout SeededRandom) -> [UInt8] {
        let openings = [
            "02", "04 01 00 ff ff", "06 01 00 ff ff 00 28", "08 01 00 ff ff 03 28", "0a 12 00", "0c 12 00 00 00",
            "10 01 00 ff ff 00 28", "12 13 00", "12 12 00 \(frameHex)", "16 12 00 00 00", "18 01",
            "52 12 00 \(frameHex)",
            "03 05 02", "07 10 00 13 00", "09 15 11 00 1e 12 00 \(characteristicHex)", "05 01 13 00 02 29", "13",
            "01 12 13 00 0e", "01 02 00 00 06", "1b 12 00 \(frameHex)", "1d 08 00 01 00 ff ff", "1e", "23",
        ]
        var pdu = bytes(openings.randomElement(using: &random) ?? "")
        switch Int.random(in: 0..<4, using: &random) {
        case 0: pdu += (0..<Int.random(in: 1...9, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random) }
        case 1: pdu.removeLast(Int.random(in: 0...pdu.count, using: &random))
        case 2 where !pdu.isEmpty:
            pdu[Int.random(in: 0..<pdu.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        default: break
        }
        return pdu
    }

    /// No reads, no prepared writes, and nothing that asks for pairing.
    private func checkForbidden(_ effects: [BearerEffect]) {
        for effect in effects {
            switch effect {
            case .transmitRequest(let pdu):
                XCTAssertTrue([0x02, 0x04, 0x06, 0x08, 0x12].contains(pdu[0]), hex(pdu))
                if pdu[0] == 0x12 { XCTAssertEqual(pdu.count, 5, hex(pdu)) }
            case .transmitResponse(let pdu) where pdu[0] == 0x01:
                XCTAssertFalse([0x05, 0x08, 0x0C, 0x0F].contains(pdu[4]), hex(pdu))
            default: break
            }
        }
    }

    func testRequestsInAFloodAreAnsweredInOrder() {
        let peer = BearerUnderTest(.incoming)
        for handle in UInt8(0)..<200 { peer.receive([0x0A, handle, 0x40]) }
        let answers = peer.take()
        XCTAssertEqual(answers, (UInt8(0)..<200).map { .transmitResponse([0x01, 0x0A, $0, 0x40, 0x01]) })
    }

    func testResponsesNobodyAskedForChangeNothing() {
        let responses = [
            "01 02 00 00 06", "01 12 13 00 0e", "03 17 00", "05 01 13 00 02 29", "07 10 00 13 00",
            "09 15 11 00 1e 12 00 \(characteristicHex)", "0b 00", "0d", "0f", "11 06 01 00 05 00 00 18", "13",
            "17 12 00 00 00", "19", "21", "1e",
        ]
        let incoming = BearerUnderTest(.incoming)
        for response in responses { XCTAssertEqual(incoming.effects(of: response), [], response) }
        XCTAssertEqual(incoming.bearer.counters.total, UInt64(responses.count))
        XCTAssertEqual(incoming.bearer.mtu, 23)

        // The client's own request stands, whatever else is said.
        let outgoing = BearerUnderTest(.outgoing)
        for response in responses where !response.hasPrefix("01 02") && !response.hasPrefix("03") {
            XCTAssertEqual(outgoing.effects(of: response), [], response)
        }
        XCTAssertEqual(outgoing.effects(of: "03 05 02").count, 1)
        XCTAssertEqual(outgoing.effects(of: "03 17 00"), [], "a second answer")
        XCTAssertEqual(outgoing.bearer.mtu, 517)
    }

    func testErrorsOfAWrongLengthAreNoAnswer() {
        let peer = BearerUnderTest(.outgoing)
        for error in ["01", "01 02", "01 02 00 00", "01 02 00 00 06 00"] {
            XCTAssertEqual(peer.effects(of: error), [], error)
        }
        XCTAssertEqual(peer.bearer.counters[.malformedPDU], 4)
        XCTAssertEqual(peer.effects(of: "01 02 00 00 06").count, 1, "the right one still is")
    }

    func testEmptyAndOneBytePDUsAreHarmless() {
        for role in roles {
            for opcode in UInt8.min...UInt8.max {
                let peer = BearerUnderTest(role)
                XCTAssertEqual(peer.effects(of: [UInt8]()), [])
                checkForbidden(peer.effects(of: [opcode]))
            }
        }
    }

    /// The server that always has one more page ends with the set-up budget, not with the handles.
    func testADiscoveryThatNeverEndsIsCutOff() {
        let peer = BearerUnderTest(.outgoing)
        peer.receive(bytes("03 05 02"))
        peer.receive(bytes("07 01 00 ff ff"))
        var handle: UInt16 = 1
        var isOver = false
        while !isOver {
            _ = peer.take()
            peer.receive(
                bytes("09 07") + [UInt8(handle & 0xFF), UInt8(handle >> 8), 0x02]
                    + [UInt8((handle + 1) & 0xFF), UInt8((handle + 1) >> 8), 0x00, 0x2A])
            peer.advance(.milliseconds(30))
            if case .fail(.setUpTimedOut) = peer.take().last { isOver = true }
            handle += 2
            XCTAssertLessThan(handle, 0x1000)
        }
    }

    func testADiscoveryThatEndsWithTheLastHandleDoesNotRunOver() {
        let peer = BearerUnderTest(.outgoing)
        peer.receive(bytes("03 05 02"))
        peer.receive(bytes("07 01 00 ff ff"))
        let effects = peer.effects(of: "09 15 fe ff 1e ff ff \(characteristicHex)")
        XCTAssertEqual(effects, [.fail(.descriptorMissing)])

        let other = BearerUnderTest(.outgoing)
        other.receive(bytes("03 05 02"))
        other.receive(bytes("07 01 00 ff ff"))
        XCTAssertEqual(other.effects(of: "09 07 fe ff 1e ff ff 00 2a"), [.fail(.characteristicMissing)])

        let third = BearerUnderTest(.outgoing)
        third.receive(bytes("03 05 02"))
        third.receive(bytes("07 ff ff ff ff"))
        XCTAssertEqual(third.effects(of: "09 07 ff ff 1e 00 00 00 2a"), [.fail(.malformedResponse)])
    }

    func testMTUGamesKeepBothSidesWithinTheirBounds() {
        let peer = BearerUnderTest(.incoming)
        peer.receive(bytes("12 13 00 01 00"))
        var random = SeededRandom(seed: 5)
        for _ in 0..<2_000 {
            let offer = UInt16.random(in: 0...UInt16.max, using: &random)
            _ = peer.effects(of: [0x02, UInt8(offer & 0xFF), UInt8(offer >> 8)])
            XCTAssertEqual(peer.bearer.mtu, max(23, min(Int(offer), 517)))
            for length in [22, 182, 512] {
                let pdu = peer.bearer.pdu(for: frame(of: length), at: peer.now)
                XCTAssertEqual(pdu != nil, length <= peer.bearer.frameLimit)
                XCTAssertLessThanOrEqual(pdu?.count ?? 0, peer.bearer.mtu)
            }
        }
    }

    func testAStreamOfHalfFramesKeepsItsBound() {
        let peer = BearerUnderTest(.outgoing)
        for answer in [
            "03 05 02", "07 10 00 13 00", "09 15 11 00 1e 12 00 \(characteristicHex)", "05 01 13 00 02 29", "13",
        ] {
            peer.receive(bytes(answer))
        }
        _ = peer.take()
        let half = bytes("1b 12 00 02 02 07 00 00 01 8b cf e5 68 7b 00 00 00 1f 00") + [UInt8](repeating: 1, count: 400)
        for _ in 0..<200 { XCTAssertEqual(peer.effects(of: half), []) }
        XCTAssertGreaterThan(peer.bearer.counters[.undecodableStream], 0)
        peer.advance(.seconds(1))
        XCTAssertEqual(peer.effects(of: "1b 12 00 \(frameHex)"), [.frame(bytes(frameHex))], "it recovers")
    }

    func testNothingFollowsAFailure() {
        for role in roles {
            let peer = BearerUnderTest(role)
            peer.advance(.seconds(30))
            guard case .fail = peer.take().last else { return XCTFail("it should have failed") }
            XCTAssertNil(peer.bearer.nextDeadline)
            for pdu in ["02 05 02", "03 05 02", "52 12 00 \(frameHex)", "12 13 00 01 00"] {
                XCTAssertEqual(peer.effects(of: pdu), [])
            }
            peer.bearer.timeout(at: peer.now + .hours(1))
            peer.drain()
            XCTAssertEqual(peer.take(), [])
            XCTAssertNil(peer.bearer.pdu(for: bytes(frameHex), at: peer.now))
        }
    }
}

import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

final class PacketGateTests: XCTestCase {
    private let me = PeerID(value: 0xaaaa)
    private let sender = PeerID(value: 0xbbbb)
    private let neighbour = PeerID(value: 0xcccc)
    private var now = Now(monotonic: .zero + .hours(1), wall: WallTime(milliseconds: 1_700_000_000_000))

    private func makeGate(capacity: Int = 4_096) -> PacketGate {
        var random = SeededRandom(seed: 1)
        return PacketGate(me: me, duplicateCapacity: capacity, random: &random)
    }

    private func frame(
        _ type: MessageType = .message, ttl: UInt8 = 7, payload: [UInt8] = [1, 2, 3], sender: PeerID? = nil,
        signature: UInt8? = nil, isSyncResponse: Bool = false, age: UInt64 = 0
    ) throws -> Frame {
        let packet = Packet(
            type: type, ttl: ttl, timestamp: WallTime(milliseconds: now.wall.milliseconds - age),
            senderID: sender ?? self.sender, payload: payload,
            signature: signature.map { [UInt8](repeating: $0, count: 64) }, isSyncResponse: isSyncResponse)
        return try Frame(packet.encoded())
    }

    private func examine(_ gate: inout PacketGate, _ frame: Frame) -> PacketGate.Outcome {
        frame.withView { gate.examine($0, boundPeer: neighbour, at: now) }
    }

    @discardableResult
    private func pass(
        _ gate: inout PacketGate, _ frame: Frame, _ judgement: PacketGate.Judgement = .accepted
    ) -> String {
        switch examine(&gate, frame) {
        case .rejected(let reason): return reason.rawValue
        case .copy(_, let reason): return reason.rawValue
        case .fresh(let admission):
            frame.withView { gate.record(admission, $0, judgement, at: now.monotonic) }
            return admission.isRepeat ? "repeat" : "fresh"
        }
    }

    func testSecondCopyWithinThreeSecondsIsARepeatAndLaterADuplicate() throws {
        var gate = makeGate()
        let packet = try frame()
        XCTAssertEqual(pass(&gate, packet), "fresh")
        now = now.advanced(by: .seconds(3))
        XCTAssertEqual(pass(&gate, packet), "repeated")
        now = now.advanced(by: .milliseconds(1))
        XCTAssertEqual(pass(&gate, packet), "duplicate")
    }

    func testTTLAndFlagsDoNotMakeAPacketNew() throws {
        var gate = makeGate()
        XCTAssertEqual(pass(&gate, try frame(ttl: 7)), "fresh")
        XCTAssertEqual(pass(&gate, try frame(ttl: 3)), "repeated")
        gate.syncRequests.noteRequest(to: neighbour, at: now.monotonic)
        XCTAssertEqual(pass(&gate, try frame(ttl: 0, isSyncResponse: true)), "repeated")
    }

    func testPayloadDigestTellsPacketsOfOneMillisecondApart() throws {
        var gate = makeGate()
        XCTAssertEqual(pass(&gate, try frame(payload: [1])), "fresh")
        XCTAssertEqual(pass(&gate, try frame(payload: [2])), "fresh")
    }

    func testDuplicatesAreRememberedForFiveMinutes() throws {
        var gate = makeGate()
        let packet = try frame()
        XCTAssertEqual(pass(&gate, packet), "fresh")
        gate.syncRequests.noteRequest(to: neighbour, at: now.monotonic + .seconds(290))
        let answer = try frame(ttl: 0, isSyncResponse: true)
        now = now.advanced(by: .seconds(300))
        XCTAssertEqual(pass(&gate, answer), "duplicate")
        now = now.advanced(by: .milliseconds(1))
        XCTAssertEqual(pass(&gate, answer), "fresh")
    }

    func testForgedCopyDoesNotShadowTheGenuineOne() throws {
        var gate = makeGate()
        let forged = try frame(signature: 1)
        XCTAssertEqual(pass(&gate, forged, .forged), "fresh")
        XCTAssertEqual(pass(&gate, forged, .forged), "known-forgery")
        XCTAssertEqual(pass(&gate, try frame(signature: 2)), "fresh")
        XCTAssertEqual(pass(&gate, try frame(signature: 2)), "repeated")
    }

    func testKnownForgeryIsKnownWhateverItsTTLAndFlags() throws {
        var gate = makeGate()
        XCTAssertEqual(pass(&gate, try frame(ttl: 7, signature: 1), .forged), "fresh")
        XCTAssertEqual(pass(&gate, try frame(ttl: 5, signature: 1), .forged), "known-forgery")
        gate.syncRequests.noteRequest(to: neighbour, at: now.monotonic)
        XCTAssertEqual(pass(&gate, try frame(ttl: 0, signature: 1, isSyncResponse: true)), "known-forgery")
    }

    func testPacketOfAnUnknownAuthorMayBeJudgedAgainButIsARepeat() throws {
        var gate = makeGate()
        let packet = try frame(signature: 1)
        XCTAssertEqual(pass(&gate, packet, .unknownAuthor), "fresh")
        XCTAssertEqual(pass(&gate, packet, .accepted), "repeat")
        XCTAssertEqual(pass(&gate, packet, .accepted), "repeated")
    }

    func testSuspectsAreBounded() throws {
        var gate = makeGate()
        for index in 0..<MeshLimits.suspectFrameCapacity + 1 {
            let payload = [UInt8(index & 0xff), UInt8(index >> 8)]
            XCTAssertEqual(pass(&gate, try frame(payload: payload, signature: 1), .forged), "fresh")
        }
        XCTAssertEqual(pass(&gate, try frame(payload: [0, 0], signature: 1), .forged), "fresh")
        XCTAssertEqual(pass(&gate, try frame(payload: [9, 0], signature: 1), .forged), "known-forgery")
    }

    func testFragmentIsRelayedOnceAMinuteButReachesTheAssemblerAgain() throws {
        var gate = makeGate()
        let fragment = try frame(.fragment, payload: [UInt8](repeating: 7, count: 20))
        XCTAssertEqual(pass(&gate, fragment), "fresh")
        XCTAssertEqual(pass(&gate, fragment), "repeated")
        now = now.advanced(by: .milliseconds(3_001))
        XCTAssertEqual(pass(&gate, fragment), "repeat")
        now = now.advanced(by: .seconds(57))
        XCTAssertEqual(pass(&gate, fragment), "fresh")
    }

    func testOwnPacketComesBackOnlyAsASyncAnswer() throws {
        var gate = makeGate()
        gate.syncRequests.noteRequest(to: neighbour, at: now.monotonic)
        XCTAssertEqual(pass(&gate, try frame(ttl: 7, sender: me)), "self-loopback")
        XCTAssertEqual(pass(&gate, try frame(ttl: 0, sender: me)), "self-loopback")
        XCTAssertEqual(pass(&gate, try frame(ttl: 3, sender: me, isSyncResponse: true)), "self-loopback")
        XCTAssertEqual(pass(&gate, try frame(ttl: 0, sender: me, isSyncResponse: true)), "fresh")
        now = now.advanced(by: .seconds(4))
        XCTAssertEqual(pass(&gate, try frame(ttl: 0, sender: me, isSyncResponse: true, age: 4_000)), "fresh")
    }

    func testSyncAnswersAreMeasuredByTheNeighbourNotTheAuthor() throws {
        var gate = makeGate()
        let old = try frame(ttl: 0, isSyncResponse: true, age: 3_000_000)
        gate.syncRequests.noteRequest(to: sender, at: now.monotonic)
        XCTAssertEqual(pass(&gate, old), "unasked-sync-answer")
        gate.syncRequests.noteRequest(to: neighbour, at: now.monotonic)
        XCTAssertEqual(pass(&gate, old), "fresh")
    }

    func testUnflaggedAnswerOfAndroidPassesOnlyWhileARequestIsOpen() throws {
        var gate = makeGate()
        let old = try frame(ttl: 0, age: 3_000_000)
        XCTAssertEqual(pass(&gate, old), "clock-skew")
        gate.syncRequests.noteRequest(to: neighbour, at: now.monotonic)
        XCTAssertEqual(pass(&gate, old), "fresh")
        now = now.advanced(by: .milliseconds(30_001))
        XCTAssertEqual(pass(&gate, try frame(ttl: 0, payload: [8], age: 3_000_000)), "clock-skew")
    }

    func testSyncRequestInAnothersNameIsRejected() throws {
        var gate = makeGate()
        XCTAssertEqual(pass(&gate, try frame(.requestSync, ttl: 0)), "sender-mismatch")
        XCTAssertEqual(pass(&gate, try frame(.requestSync, ttl: 0, sender: neighbour)), "fresh")
    }

    func testBodyThatDoesNotInflateIsNoPacket() throws {
        var gate = makeGate()
        let text = [UInt8](repeating: 0x41, count: 400)
        var bytes = try frame(payload: text).bytes
        XCTAssertTrue(bytes[11] & 0x04 != 0)
        for offset in 24..<bytes.count { bytes[offset] = 0xff }
        let broken = try Frame(bytes)
        XCTAssertEqual(pass(&gate, broken), "undecodable-payload")
    }

    func testEarlyEvictionsAreCounted() throws {
        var gate = makeGate(capacity: 16)
        for index in 0..<20 { pass(&gate, try frame(payload: [UInt8(index)])) }
        XCTAssertEqual(gate.earlyEvictions, 4)
        XCTAssertLessThanOrEqual(gate.remembered, 16)
    }

    func testRelayDecisionReadsTheFrame() throws {
        func decide(_ frame: Frame, degree: Int) -> RelayDecision? {
            frame.withView { PacketGate.relayDecision(for: $0, degree: degree, me: me) }
        }
        XCTAssertEqual(decide(try frame(), degree: 4), RelayDecision(ttl: 5, delay: 60...150))
        XCTAssertEqual(decide(try frame(.announce), degree: 4), RelayDecision(ttl: 6, delay: 60...150))
        XCTAssertNil(decide(try frame(sender: me), degree: 1))
        let urgent = try frame(.boardPost, payload: [0x09, 0, 1, 1])
        XCTAssertEqual(decide(urgent, degree: 4), RelayDecision(ttl: 6, delay: 60...150))
        XCTAssertEqual(decide(try frame(.boardPost), degree: 4), RelayDecision(ttl: 5, delay: 60...150))
    }
}

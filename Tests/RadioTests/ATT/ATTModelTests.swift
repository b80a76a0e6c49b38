import Basics
import Wire
import XCTest

@testable import Radio

/// Whole conversations: our bearer against peers as they are in the field, and against itself.
final class ATTModelTests: XCTestCase {
    /// What the phones' own stacks ask on any connection (chapter 03 A12.4), and what they get.
    private let systemQuestions: [(String, String)] = [
        ("02 05 02", "03 05 02"), ("10 01 00 ff ff 00 28", "11 06 01 00 05 00 00 18 06 00 09 00 01 18"),
        ("08 01 00 ff ff 2a 2b", "01 08 01 00 0a"), ("08 01 00 ff ff 3a 2b", "01 08 01 00 0a"),
        ("08 01 00 ff ff 00 2a", "09 09 03 00 62 69 74 63 68 61 74"), ("0a 05 00", "0b 00 00"),
        ("12 09 00 02 00", "13"), ("06 01 00 ff ff 00 28 01 18", "07 06 00 09 00"),
    ]

    /// Carries PDUs both ways until nobody has any. Both directions move at random.
    private func converse(_ ours: BearerUnderTest, _ phone: ScriptedPhone, _ random: inout SeededRandom) {
        var toPhone: [[UInt8]] = []
        for _ in 0..<10_000 {
            for effect in ours.take() {
                switch effect {
                case .transmitResponse(let pdu), .transmitRequest(let pdu): toPhone.append(pdu)
                case .up, .frameLimitChanged, .frame, .readyForFrames, .down, .fail: observed.append(effect)
                }
            }
            let sides = [toPhone.isEmpty ? nil : 0, phone.outbox.isEmpty ? nil : 1].compactMap { $0 }
            guard let side = sides.randomElement(using: &random) else { return }
            if side == 0 { phone.receive(toPhone.removeFirst()) } else { ours.receive(phone.outbox.removeFirst()) }
        }
        XCTFail("the conversation has no end")
    }

    private var observed: [BearerEffect] = []
    private var frames: [[UInt8]] { observed.compactMap { if case .frame(let frame) = $0 { frame } else { nil } } }

    private func send(_ frame: [UInt8], over ours: BearerUnderTest, to phone: ScriptedPhone) {
        guard let pdu = ours.bearer.pdu(for: frame, at: ours.now) else { return XCTFail("it does not fit") }
        phone.receive(pdu)
    }

    func testAnAndroidPhoneThatNeverAnswersReadsIsSetUpAndSubscribedToOnce() {
        for seed in 0..<50 {
            var random = SeededRandom(seed: UInt64(seed))
            observed = []
            let phone = ScriptedPhone(.init(ignoresReads: true, countsEverySubscription: true))
            let ours = BearerUnderTest(.outgoing)
            converse(ours, phone, &random)
            XCTAssertEqual(observed, [.up(frameLimit: 512)])
            XCTAssertEqual(phone.subscriptions, 1)
            send(frame(of: 512), over: ours, to: phone)
            XCTAssertEqual(phone.written, [frame(of: 512)])
            phone.notify(frame(of: 512))
            converse(ours, phone, &random)
            XCTAssertEqual(frames, [frame(of: 512)], "whole: the MTU was exchanged first")
            // Any other application on it that offers a service has the phone announce a change of everything.
            phone.outbox.append(bytes("1d 03 00 01 00 ff ff"))
            converse(ours, phone, &random)
            XCTAssertEqual(phone.subscriptions, 1)
            XCTAssertEqual(phone.offences, [])
        }
    }

    func testAPhoneThatAsksItsOwnQuestionsFirstIsAnsweredWhileOursWait() {
        for seed in 0..<100 {
            var random = SeededRandom(seed: UInt64(seed))
            observed = []
            var habits = ScriptedPhone.Habits(hasBattery: true, meshStart: 0x0035)
            habits.asksFirst = systemQuestions.map(\.0)
            let phone = ScriptedPhone(habits)
            let ours = BearerUnderTest(.outgoing)
            converse(ours, phone, &random)
            XCTAssertEqual(observed, [.up(frameLimit: 512)])
            XCTAssertEqual(phone.answers, systemQuestions.map(\.1))
            XCTAssertEqual(phone.offences, [])
        }
    }

    /// One connection, both applications: whatever half the phone uses, it is one link, and a frame is sent once.
    func testAPhoneThatUsesBothHalvesOfOneConnectionIsOneLink() {
        var random = SeededRandom(seed: 1)
        var habits = ScriptedPhone.Habits()
        habits.asksFirst = ["12 13 00 01 00"]
        let phone = ScriptedPhone(habits)
        let ours = BearerUnderTest(.outgoing)
        converse(ours, phone, &random)
        XCTAssertEqual(observed, [.up(frameLimit: 512)])
        send(bytes(frameHex), over: ours, to: phone)
        XCTAssertEqual(phone.written, [bytes(frameHex)])
        XCTAssertEqual(phone.notified, [], "not a second time")
        phone.write(frame(of: 100))
        phone.notify(frame(of: 200))
        converse(ours, phone, &random)
        XCTAssertEqual(frames, [frame(of: 100), frame(of: 200)])
        XCTAssertEqual(ours.effects(of: "12 13 00 00 00"), [.response("13")], "it is still set up as a client")
        XCTAssertEqual(ours.bearer.fit(512), .ready)
    }

    func testAPhoneThatUsesOnlyOurServerOnAConnectionOfOursIsALinkUntilSetUpFails() {
        let ours = BearerUnderTest(.outgoing)
        ours.receive(bytes("12 13 00 01 00"))
        _ = ours.take()
        XCTAssertEqual(ours.bearer.fit(32), .wait, "the MTU is being exchanged")
        let effects = ours.effects(of: "03 05 02")
        XCTAssertEqual(effects.suffix(2), [.up(frameLimit: 512), .readyForFrames])
        XCTAssertEqual(ours.bearer.pdu(for: bytes(frameHex), at: ours.now), bytes("1b 12 00 \(frameHex)"))
        XCTAssertEqual(ours.effects(of: "12 13 00 00 00"), [.response("13")], "set-up goes on")
        XCTAssertEqual(ours.bearer.fit(32), .wait)
        XCTAssertEqual(ours.effects(of: "01 06 01 00 0a"), [.fail(.serviceMissing)])
    }

    func testAPhoneOfASmallMTUGetsWhatFits() {
        for (mtu, limit) in [(185, 182), (23, 20), (247, 244)] {
            var random = SeededRandom(seed: 7)
            observed = []
            let phone = ScriptedPhone(.init(mtu: mtu))
            let ours = BearerUnderTest(.outgoing)
            converse(ours, phone, &random)
            XCTAssertEqual(observed, [.up(frameLimit: limit)])
            if limit >= 22 { send(frame(of: limit), over: ours, to: phone) }
            XCTAssertEqual(ours.bearer.fit(limit + 1), .tooLong)
            XCTAssertEqual(phone.offences, [])
        }
    }

    /// Our client against our server, frames both ways from the first moment on, PDUs in any order the channel allows.
    func testTwoOfUsExchangeEveryFrameOnceAndInOrder() {
        for seed in 0..<200 {
            var random = SeededRandom(seed: UInt64(seed))
            let ends = [BearerUnderTest(.outgoing), BearerUnderTest(.incoming)]
            var wires: [[[UInt8]]] = [[], []]
            var waiting = (0..<2).map { _ in
                (0..<20).map { frame(of: Int.random(in: 22...512, using: &random), fill: UInt8($0 + 0x40)) }
            }
            let sent = waiting
            var received: [[[UInt8]]] = [[], []]
            var limits: [Int] = []
            var idle = 0
            while idle < 100, received[0].count + received[1].count < 40 {
                let side = Int.random(in: 0...1, using: &random)
                let end = ends[side]
                for effect in end.take() {
                    switch effect {
                    case .transmitResponse(let pdu), .transmitRequest(let pdu): wires[side].append(pdu)
                    case .up(let limit): limits.append(limit)
                    case .frame(let frame): received[side].append(frame)
                    case .frameLimitChanged, .readyForFrames: break
                    case .down, .fail: XCTFail("\(effect)")
                    }
                }
                idle += 1
                if Bool.random(using: &random), !wires[1 - side].isEmpty {
                    end.receive(wires[1 - side].removeFirst())
                    idle = 0
                } else if end.bearer.isUp, let next = waiting[side].first,
                    let pdu = end.bearer.pdu(for: next, at: end.now)
                {
                    waiting[side].removeFirst()
                    wires[side].append(pdu)
                    idle = 0
                }
            }
            XCTAssertEqual(limits, [512, 512], "seed \(seed)")
            XCTAssertEqual(received[0], sent[1], "seed \(seed)")
            XCTAssertEqual(received[1], sent[0], "seed \(seed)")
            XCTAssertEqual(ends.map(\.bearer.counters.total), [0, 0], "seed \(seed): nothing was amiss")
        }
    }
}

import Basics
import XCTest

@testable import Radio

/// What a phone that connected to us can do over its link (chapter 03 A13.4, A13.6).
final class ATTServerTests: XCTestCase {
    private let subscribe = "12 13 00 01 00"
    private let unsubscribe = "12 13 00 00 00"

    private func phone(mtu: String? = "05 02", subscribed: Bool = true) -> BearerUnderTest {
        let phone = BearerUnderTest(.incoming)
        if let mtu { phone.receive(bytes("02 \(mtu)")) }
        if subscribed { phone.receive(bytes(subscribe)) }
        _ = phone.take()
        return phone
    }

    // MARK: MTU

    func testTheNewestMTUAgreedOnAppliesAtOnceTheSmallerToo() {
        let phone = phone()
        XCTAssertEqual(phone.bearer.frameLimit, 512)
        XCTAssertEqual(phone.effects(of: "02 b9 00"), [.response("03 05 02"), .frameLimitChanged(182)])
        XCTAssertEqual(phone.bearer.fit(182), .ready)
        XCTAssertEqual(phone.bearer.fit(183), .tooLong)
        XCTAssertNil(phone.bearer.pdu(for: frame(of: 183), at: phone.now))
        XCTAssertEqual(phone.effects(of: "02 b9 00"), [.response("03 05 02")], "the same once more is no change")
        XCTAssertEqual(phone.effects(of: "02 ff ff"), [.response("03 05 02"), .frameLimitChanged(512)])
        XCTAssertEqual(phone.effects(of: "02 00 00"), [.response("03 05 02"), .frameLimitChanged(20)])
        XCTAssertEqual(phone.bearer.mtu, 23, "never less")
    }

    func testOneFunctionGivesTheFrameLimit() {
        for (mtu, limit) in [(23, 20), (185, 182), (247, 244), (514, 511), (515, 512), (517, 512), (672, 512)] {
            XCTAssertEqual(RadioLimits.frameLimit(mtu: mtu), limit)
        }
    }

    /// A phone may subscribe before it exchanges the MTU: what it is sent then would be lost, or cut to 20 bytes.
    func testFramesWaitForTheMTUOfASubscriber() {
        let phone = phone(mtu: nil)
        XCTAssertFalse(phone.bearer.isUp)
        XCTAssertEqual(phone.bearer.fit(21), .wait)
        XCTAssertNil(phone.bearer.pdu(for: frame(of: 32), at: phone.now))
        XCTAssertEqual(phone.bearer.fit(513), .tooLong, "too long for any MTU")
        phone.advance(.milliseconds(1_900))
        XCTAssertEqual(
            phone.effects(of: "02 b9 00"), [.response("03 05 02"), .up(frameLimit: 182), .readyForFrames])
        XCTAssertEqual(phone.bearer.pdu(for: frame(of: 182), at: phone.now)?.count, 185)
        XCTAssertNil(phone.bearer.nextDeadline)
    }

    func testASubscriberThatForgetsTheMTUIsAskedForIt() {
        let phone = phone(mtu: nil)
        phone.advance(.seconds(2))
        XCTAssertEqual(phone.take(), [.request("02 05 02")])
        XCTAssertEqual(phone.effects(of: "03 05 02"), [.up(frameLimit: 512)])
        phone.advance(.minutes(1))
        XCTAssertEqual(phone.take(), [], "nothing else is asked of a peer that connected to us")
    }

    func testASubscriberWithoutAServerCountsAsOneOfTheSmallestMTU() {
        for answer in [nil, "01 02 00 00 06"] {
            let phone = phone(mtu: nil)
            phone.advance(.seconds(2))
            _ = phone.take()
            if let answer { phone.receive(bytes(answer)) }
            phone.advance(.seconds(3))
            XCTAssertEqual(phone.take(), [.up(frameLimit: 20)])
            XCTAssertEqual(phone.bearer.fit(22), .tooLong, "not cut, and not kept for ever")
            phone.advance(.minutes(2))
            XCTAssertEqual(phone.take(), [], "and is not disconnected for it")
            XCTAssertEqual(phone.effects(of: "02 05 02").last, .frameLimitChanged(512), "late, but not too late")
        }
    }

    func testThePatienceForAnMTUBeginsWithEachSubscription() {
        let phone = phone(mtu: nil)
        phone.advance(.milliseconds(1_500))
        phone.receive(bytes(unsubscribe))
        phone.advance(.seconds(10))
        phone.receive(bytes(subscribe))
        XCTAssertEqual(phone.take(), [.response("13"), .response("13")])
        XCTAssertEqual(phone.effects(of: "02 05 02").last, .up(frameLimit: 512))
    }

    /// A frame proves the link before anything is agreed on; what is to be sent waits all the same.
    func testALinkThatCameUpByAFrameStillWaitsForItsMTU() {
        let phone = phone(mtu: nil)
        XCTAssertEqual(phone.effects(of: "52 12 00 \(frameHex)").first, .up(frameLimit: 20))
        XCTAssertEqual(phone.bearer.fit(400), .wait)
        XCTAssertEqual(
            phone.effects(of: "02 05 02"), [.response("03 05 02"), .frameLimitChanged(512), .readyForFrames])
        XCTAssertEqual(phone.bearer.fit(400), .ready)
    }

    // MARK: Subscription

    func testASubscriptionMakesTheLinkAndItsEndUnmakesIt() {
        let phone = phone(subscribed: false)
        XCTAssertEqual(phone.bearer.fit(22), .nobodyListens)
        XCTAssertNil(phone.bearer.pdu(for: bytes(frameHex), at: phone.now))
        XCTAssertEqual(phone.effects(of: subscribe), [.response("13"), .up(frameLimit: 512)])
        XCTAssertEqual(phone.effects(of: subscribe), [.response("13")], "repeated: no new event")
        XCTAssertEqual(phone.bearer.pdu(for: bytes(frameHex), at: phone.now), bytes("1b 12 00 \(frameHex)"))
        XCTAssertEqual(phone.effects(of: unsubscribe), [.response("13"), .down])
        XCTAssertEqual(phone.effects(of: unsubscribe), [.response("13")])
        XCTAssertEqual(phone.bearer.fit(22), .nobodyListens)
        XCTAssertFalse(phone.bearer.isSubscribed)
        XCTAssertTrue(phone.bearer.wasSubscribed)
        XCTAssertEqual(phone.effects(of: subscribe), [.response("13"), .up(frameLimit: 512)])
    }

    func testOnlyNotificationsAreASubscription() {
        for value in ["00 00", "02 00", "00 01", "fc ff"] {
            let phone = phone(subscribed: false)
            XCTAssertEqual(phone.effects(of: "12 13 00 \(value)"), [.response("13")], value)
        }
        for value in ["01 00", "03 00", "01 80"] {
            let phone = phone(subscribed: false)
            XCTAssertEqual(phone.effects(of: "12 13 00 \(value)").last, .up(frameLimit: 512), value)
        }
        let phone = phone()
        XCTAssertEqual(phone.effects(of: "12 13 00 02 00"), [.response("13"), .down])
    }

    func testConfigurationsAreKeptForEachLinkAndReadBack() {
        let phone = phone(subscribed: false)
        phone.receive(bytes("12 09 00 02 00"))
        phone.receive(bytes(subscribe))
        XCTAssertEqual(phone.answer(to: "0a 09 00"), "0b 02 00")
        XCTAssertEqual(phone.answer(to: "0a 13 00"), "0b 01 00")
        XCTAssertEqual(phone.answer(to: "08 01 00 ff ff 02 29"), "09 04 09 00 02 00 13 00 01 00")
        phone.receive(bytes("12 13 00 fd ff"))
        XCTAssertEqual(phone.answer(to: "0a 13 00"), "0b 01 00", "bits without a meaning are not kept")
        XCTAssertEqual(BearerUnderTest(.incoming).answer(to: "0a 13 00"), "0b 00 00", "another link has its own")
    }

    func testCommandsCannotSubscribe() {
        let phone = phone(subscribed: false)
        XCTAssertEqual(phone.effects(of: "52 13 00 01 00"), [])
        XCTAssertEqual(phone.effects(of: "d2 13 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00"), [])
        XCTAssertEqual(phone.bearer.counters[.commandIgnored], 2)
        XCTAssertFalse(phone.bearer.isSubscribed)
    }

    func testEndlessResubscribingEndsTheConnection() {
        let phone = phone()
        var ups = 0
        for _ in 0..<20 {
            phone.receive(bytes(unsubscribe))
            phone.receive(bytes(subscribe))
        }
        let effects = phone.take()
        for case .up in effects { ups += 1 }
        XCTAssertEqual(ups, 8)
        XCTAssertEqual(effects.last, .fail(.restless))
        XCTAssertEqual(effects.count { $0 == .down }, 8)
    }

    // MARK: Frames

    func testEachWriteIsOneFrameAnsweredFirst() {
        let phone = phone(subscribed: false)
        XCTAssertEqual(
            phone.effects(of: "12 12 00 \(frameHex)"),
            [.response("13"), .up(frameLimit: 512), .frame(bytes(frameHex))], "subscribed or not")
        XCTAssertEqual(phone.effects(of: "52 12 00 \(frameHex)"), [.frame(bytes(frameHex))])
        XCTAssertEqual(phone.bearer.fit(32), .nobodyListens, "it does not listen all the same")
    }

    func testAWriteThatIsNoFrameIsNeverAnError() {
        let phone = phone()
        let tooLong = "01 02 07 00 00 01 8b cf e5 68 7b 00 00 0b" + frameHex.dropFirst(41)
        for value in ["00", "01", "03 \(frameHex)", String(frameHex.dropLast(3)), tooLong] {
            XCTAssertEqual(phone.effects(of: "12 12 00 \(value)"), [.response("13")], value)
            XCTAssertEqual(phone.effects(of: "52 12 00 \(value)"), [], value)
        }
        XCTAssertEqual(phone.bearer.counters[.notAFrame], 10)
        XCTAssertEqual(phone.effects(of: "12 12 00"), [.response("13")], "an empty write is no frame either")
        XCTAssertEqual(phone.effects(of: "52 12 00"), [])
        XCTAssertEqual(phone.bearer.counters[.notAFrame], 10)
        XCTAssertNil(phone.bearer.lastFrame)
    }

    func testTwoHalvesOfAFrameInTwoWritesAreNotJoined() {
        let phone = phone()
        let half = frameHex.prefix(60)
        XCTAssertEqual(phone.effects(of: "52 12 00 \(half)"), [])
        XCTAssertEqual(phone.effects(of: "52 12 00 \(frameHex.dropFirst(60))"), [])
    }

    func testPaddingBehindAFrameIsTakenOff() {
        XCTAssertEqual(phone().effects(of: "52 12 00 \(frameHex) 03 03 03"), [.frame(bytes(frameHex))])
    }

    func testWritesLongerThanTheMTUAreAccepted() {
        let phone = phone(mtu: nil, subscribed: false)
        let long = frame(of: 669)
        let first: [BearerEffect] = [.up(frameLimit: 20), .frame(long)]
        XCTAssertEqual(phone.effects(of: bytes("52 12 00") + long), first)
        let value = frame(of: 512)
        XCTAssertEqual(phone.effects(of: bytes("12 12 00") + value), [.response("13"), .frame(value)])
        XCTAssertEqual(phone.effects(of: "02 05 02").last, .frameLimitChanged(512))
    }

    // MARK: Long writes

    func testAFrameMayComeInPreparedParts() {
        let phone = phone(mtu: nil, subscribed: false)
        let parts = stride(from: 0, to: 32, by: 18).map { ($0, Array(bytes(frameHex)[$0..<min($0 + 18, 32)])) }
        for (offset, part) in parts {
            let rest = bytes("12 00") + [UInt8(offset), 0] + part
            XCTAssertEqual(phone.effects(of: [0x16] + rest), [.transmitResponse([0x17] + rest)])
        }
        XCTAssertEqual(
            phone.effects(of: "18 01"), [.response("19"), .up(frameLimit: 20), .frame(bytes(frameHex))])
        XCTAssertEqual(phone.effects(of: "18 01"), [.response("19")], "the queue is empty then")
    }

    func testACancelledQueueLeavesNothing() {
        let phone = phone()
        phone.receive(bytes("16 12 00 00 00 \(frameHex)"))
        XCTAssertEqual(phone.effects(of: "18 00"), [.response("19")])
        XCTAssertEqual(phone.effects(of: "18 01"), [.response("19")])
    }

    func testPartsThatLeaveAGapAreAnInvalidOffset() {
        for offsets in [[1], [0, 3], [0, 1], [0, 2, 2], [0, 2, 5]] {
            let phone = phone()
            for offset in offsets { phone.receive(bytes("16 12 00") + [UInt8(offset), 0, 0xAA, 0xBB]) }
            XCTAssertEqual(phone.effects(of: "18 01"), [.response("01 18 12 00 07")], "\(offsets)")
            XCTAssertEqual(phone.effects(of: "18 01"), [.response("19")], "what failed is gone")
        }
    }

    func testASubscriptionMayBePrepared() {
        let phone = phone(subscribed: false)
        phone.receive(bytes("16 13 00 00 00 01"))
        phone.receive(bytes("16 13 00 01 00 00"))
        XCTAssertEqual(phone.effects(of: "18 01").suffix(2), [.response("19"), .up(frameLimit: 512)])
        phone.receive(bytes("16 13 00 00 00 00"))
        XCTAssertEqual(phone.effects(of: "18 01").last, .response("01 18 13 00 0d"), "half a configuration")
        XCTAssertTrue(phone.bearer.isSubscribed)
    }

    func testSeveralValuesAreAppliedInOrderOrNotAtAll() {
        let phone = phone(subscribed: false)
        let other = hex(frame(of: 22))
        for part in ["12 00 00 00 \(frameHex)", "13 00 00 00 01 00", "12 00 00 00 \(other)"] {
            phone.receive(bytes("16 \(part)"))
        }
        _ = phone.take()
        XCTAssertEqual(
            phone.effects(of: "18 01"),
            [.response("19"), .up(frameLimit: 512), .frame(bytes(frameHex)), .frame(bytes(other))])
        for part in ["12 00 00 00 \(frameHex)", "13 00 00 00 00 00", "09 00 00 00 01"] {
            phone.receive(bytes("16 \(part)"))
        }
        XCTAssertEqual(phone.effects(of: "18 01").last, .response("01 18 09 00 0d"))
        XCTAssertTrue(phone.bearer.isSubscribed, "nothing was applied")
    }

    func testTheQueueHolds64PartsAnd4096Bytes() {
        let parts = phone()
        for _ in 0..<64 { XCTAssertEqual(parts.answer(to: "16 12 00 00 00"), "17 12 00 00 00") }
        XCTAssertEqual(parts.answer(to: "16 12 00 00 00"), "01 16 12 00 09")
        XCTAssertEqual(parts.answer(to: "18 00"), "19")
        XCTAssertEqual(parts.answer(to: "16 12 00 00 00"), "17 12 00 00 00", "there is room again")

        let full = phone()
        let part = bytes("12 00 00 00") + [UInt8](repeating: 0, count: 512)
        for _ in 0..<8 { XCTAssertEqual(full.answer(to: [0x16] + part), hex([0x17] + part)) }
        XCTAssertEqual(full.answer(to: "16 13 00 00 00 01"), "01 16 13 00 09")
        XCTAssertEqual(full.answer(to: "16 12 00 00 00"), "17 12 00 00 00", "no byte more is one part more")
        XCTAssertEqual(full.answer(to: "18 01"), "19")
    }

    func testAJoinedValueKeepsTheLongestLengthOfAValue() {
        for (length, answer) in [(512, "19"), (513, "01 18 12 00 0d")] {
            let phone = phone()
            let value = frame(of: length)
            for offset in stride(from: 0, to: length, by: 256) {
                let part = value[offset..<min(offset + 256, length)]
                phone.receive([0x16, 0x12, 0x00, UInt8(offset & 0xFF), UInt8(offset >> 8)] + part)
            }
            _ = phone.take()
            XCTAssertEqual(phone.answer(to: "18 01"), answer)
        }
    }

    func testAPartThatCouldNotBeEchoedIsRefused() {
        let phone = phone(mtu: nil)
        let part = bytes("16 12 00 00 00") + [UInt8](repeating: 0, count: 19)
        XCTAssertEqual(phone.answer(to: part), "01 16 00 00 04")
    }

    // MARK: Supervision

    func testAConnectionOfNoUseEndsAfter30Seconds() {
        let idle = phone(mtu: nil, subscribed: false)
        idle.receive(bytes("02 05 02"))
        idle.receive(bytes("52 12 00 00 01 02"))
        _ = idle.take()
        idle.advance(.milliseconds(29_999))
        XCTAssertEqual(idle.take(), [])
        idle.advance(.milliseconds(1))
        XCTAssertEqual(idle.take(), [.fail(.unused)])
        XCTAssertEqual(idle.effects(of: "0a 03 00"), [], "it is over")
        XCTAssertEqual(idle.bearer.fit(22), .nobodyListens)

        let subscriber = phone()
        let writer = phone(subscribed: false)
        writer.receive(bytes("52 12 00 \(frameHex)"))
        _ = writer.take()
        for useful in [subscriber, writer] {
            useful.advance(.minutes(10))
            XCTAssertEqual(useful.take(), [])
            XCTAssertNil(useful.bearer.nextDeadline)
        }
        subscriber.receive(bytes(unsubscribe))
        _ = subscriber.take()
        subscriber.advance(.seconds(30))
        XCTAssertEqual(subscriber.take(), [.fail(.unused)])
    }

    func testALateSubscriptionIsNotCutOffWhileItsMTUIsAwaited() {
        let phone = phone(mtu: nil, subscribed: false)
        phone.advance(.seconds(29))
        phone.receive(bytes(subscribe))
        phone.advance(.seconds(60))
        XCTAssertEqual(phone.take(), [.response("13"), .request("02 05 02"), .up(frameLimit: 20)])
    }
}

import Basics
import XCTest

@testable import Radio

/// The client procedure of chapter 03 A13.5, one scripted server at a time.
final class ATTClientTests: XCTestCase {
    private let find = "06 01 00 ff ff 00 28 \(serviceHex)"
    private let declaration = "09 15 11 00 1e 12 00 \(characteristicHex)"
    /// Answers that set a client up, in order, with what it asks before each.
    private var steps: [(request: String, response: String)] {
        [
            ("02 05 02", "03 05 02"), (find, "07 10 00 13 00"), ("08 10 00 13 00 03 28", declaration),
            ("04 13 00 13 00", "05 01 13 00 02 29"), ("12 13 00 01 00", "13"),
        ]
    }

    /// A client that has had the first `count` answers; its last request is the effect to take.
    private func client(after count: Int) -> BearerUnderTest {
        let client = BearerUnderTest(.outgoing)
        for step in steps.prefix(count) {
            XCTAssertEqual(client.take(), [.request(step.request)])
            client.receive(bytes(step.response))
        }
        return client
    }

    private func ready(with declaration: String? = nil) -> BearerUnderTest {
        let client = BearerUnderTest(.outgoing)
        for (index, step) in steps.enumerated() {
            client.receive(bytes(index == 2 ? declaration ?? step.response : step.response))
        }
        XCTAssertEqual(client.take().last, .up(frameLimit: 512))
        return client
    }

    // MARK: Set-up

    func testMTUExchangeIsTheFirstPDUAndARefusedOneIsNotTheEnd() {
        let client = client(after: 0)
        XCTAssertEqual(client.take(), [.request("02 05 02")])
        XCTAssertEqual(client.effects(of: "01 02 00 00 06"), [.request(find)])
        for step in steps[1...] { client.receive(bytes(step.response)) }
        XCTAssertEqual(client.take().last, .up(frameLimit: 20))
        XCTAssertEqual(client.bearer.fit(20), .ready)
        XCTAssertEqual(client.bearer.fit(21), .tooLong)
    }

    func testAgreedMTUIsTheSmallerAndNeverBelow23() {
        for (server, limit) in [("05 02", 512), ("ff ff", 512), ("b9 00", 182), ("03 02", 512), ("02 02", 511)] {
            let client = client(after: 0)
            client.receive(bytes("03 \(server)"))
            XCTAssertEqual(client.bearer.frameLimit, limit)
        }
        for server in ["00 00", "16 00", "17 00"] {
            let client = client(after: 0)
            client.receive(bytes("03 \(server)"))
            XCTAssertEqual(client.bearer.mtu, 23)
        }
    }

    func testAPeerWithoutTheServiceIsLeftAloneForLong() {
        XCTAssertEqual(client(after: 1).effects(of: "01 06 01 00 0a").last, .fail(.serviceMissing))
        XCTAssertEqual(client(after: 2).effects(of: "01 08 10 00 0a").last, .fail(.characteristicMissing))
        XCTAssertEqual(client(after: 3).effects(of: "01 04 13 00 0a").last, .fail(.descriptorMissing))
        for failure in [BearerFailure.serviceMissing, .characteristicMissing, .descriptorMissing] {
            XCTAssertTrue(failure.isLasting)
        }
    }

    func testAnyOtherErrorOfSetUpEndsItWithoutBlame() {
        for (count, opcode) in [(1, "06"), (2, "08"), (3, "04"), (4, "12")] {
            for code in ["01", "05", "06", "0e", "0f", "80"] {
                let effects = client(after: count).effects(of: "01 \(opcode) 10 00 \(code)")
                XCTAssertEqual(effects.last, .fail(.refused))
            }
        }
        XCTAssertFalse(BearerFailure.refused.isLasting)
    }

    func testCharacteristicsAreReadPageByPage() {
        let client = client(after: 1)
        client.receive(bytes("07 10 00 ff ff"))
        XCTAssertEqual(client.take().last, .request("08 10 00 ff ff 03 28"))
        let other = "09 07 11 00 02 12 00 00 2a 13 00 02 14 00 01 2a"
        XCTAssertEqual(client.effects(of: other), [.request("08 15 00 ff ff 03 28")])
        let mine = "09 15 15 00 1e 16 00 \(characteristicHex)"
        XCTAssertEqual(client.effects(of: mine), [.request("04 17 00 ff ff")])
        XCTAssertEqual(client.effects(of: "05 01 17 00 01 29 18 00 04 29"), [.request("04 19 00 ff ff")])
        XCTAssertEqual(client.effects(of: "05 02 19 00 \(characteristicHex)"), [.request("04 1a 00 ff ff")])
        XCTAssertEqual(client.effects(of: "05 01 1a 00 02 29"), [.request("12 1a 00 01 00")])
        XCTAssertEqual(client.effects(of: "13"), [.up(frameLimit: 512)])
        XCTAssertEqual(client.bearer.pdu(for: bytes(frameHex), at: client.now), bytes("52 16 00 \(frameHex)"))
    }

    func testAServiceThatEndsBeforeWhatIsLookedForLacksIt() {
        let characteristic = client(after: 2)
        let other = "09 07 11 00 02 13 00 00 2a"
        XCTAssertEqual(characteristic.effects(of: other).last, .fail(.characteristicMissing))

        let descriptor = client(after: 2)
        let last = "09 15 12 00 1e 13 00 \(characteristicHex)"
        XCTAssertEqual(descriptor.effects(of: last).last, .fail(.descriptorMissing))

        let another = client(after: 3)
        XCTAssertEqual(another.effects(of: "05 01 13 00 03 28").last, .fail(.descriptorMissing), "the next begins")
    }

    func testACharacteristicMustNotifyAndTakeWrites() {
        for properties in ["00", "02", "0e", "12", "2e", "32"] {
            let client = client(after: 2)
            let answer = "09 15 11 00 \(properties) 12 00 \(characteristicHex)"
            XCTAssertEqual(client.effects(of: answer).last, .fail(.characteristicUnsuitable), properties)
        }
    }

    func testMalformedResponsesEndSetUp() {
        let malformed: [(Int, [String])] = [
            (0, ["03", "03 05", "03 05 02 00"]),
            (1, ["07", "07 10 00", "07 10 00 13", "07 10 00 13 00 00", "07 00 00 13 00", "07 13 00 10 00"]),
            (
                2,
                [
                    "09", "09 15", "09 00", "09 07 11 00", "09 06 11 00 1e 12 00 aa", "09 15 11 00 1e 12 00 5d",
                    "09 15 0f 00 1e 12 00 \(characteristicHex)", "09 15 11 00 1e 14 00 \(characteristicHex)",
                    "09 15 11 00 1e 11 00 \(characteristicHex)", "09 15 12 00 1e 11 00 \(characteristicHex)",
                    "09 07 12 00 02 13 00 00 2a 12 00 02 13 00 00 2a",
                ]
            ),
            (
                3,
                [
                    "05", "05 01", "05 03 13 00 02 29", "05 00 13 00 02 29", "05 01 13 00 02", "05 02 13 00 02 29",
                    "05 01 12 00 02 29", "05 01 14 00 02 29", "05 01 13 00 01 29 13 00 02 29",
                ]
            ),
        ]
        for (count, responses) in malformed {
            for response in responses {
                let effects = client(after: count).effects(of: response)
                XCTAssertEqual(effects, [.fail(.malformedResponse)], response)
            }
        }
    }

    func testNothingForbiddenTowardsAndroidIsEverSent() {
        let client = client(after: 5)
        var sent: [[UInt8]] = steps.map { bytes($0.request) }
        for length in [22, 200, 512] {
            if let pdu = client.bearer.pdu(for: frame(of: length), at: client.now) { sent.append(pdu) }
        }
        // Reads, prepared writes and executing them.
        for pdu in sent { XCTAssertFalse([0x0A, 0x0C, 0x0E, 0x16, 0x18, 0x20].contains(pdu[0])) }
        XCTAssertEqual(sent.count { $0.starts(with: bytes("12 13 00")) }, 1, "subscribed once")
    }

    // MARK: Time

    func testARequestUnansweredFor10SecondsOfSetUpEndsIt() {
        for count in 0..<5 {
            let client = client(after: count)
            _ = client.take()
            client.advance(.milliseconds(9_999))
            XCTAssertEqual(client.take(), [])
            client.advance(.milliseconds(1))
            XCTAssertEqual(client.take(), [.fail(.setUpTimedOut)])
            XCTAssertNil(client.bearer.nextDeadline)
        }
    }

    func testABudgetIsForTheWholeSetUpAndNotForEachStep() {
        let client = client(after: 0)
        for step in steps.dropLast() {
            client.advance(.seconds(2))
            client.receive(bytes(step.response))
        }
        _ = client.take()
        client.advance(.seconds(2))
        XCTAssertEqual(client.take(), [.fail(.setUpTimedOut)])
    }

    func testAWriteRequestUnansweredFor30SecondsEndsTheBearer() {
        let client = ready(with: "09 15 11 00 1a 12 00 \(characteristicHex)")
        XCTAssertNotNil(client.bearer.pdu(for: bytes(frameHex), at: client.now))
        client.advance(.milliseconds(29_999))
        XCTAssertEqual(client.take(), [])
        client.advance(.milliseconds(1))
        XCTAssertEqual(client.take(), [.fail(.requestTimedOut)])
    }

    // MARK: Frames

    func testWriteRequestsWhereCommandsAreNotTakenGoOneAtATime() {
        let client = ready(with: "09 15 11 00 1a 12 00 \(characteristicHex)")
        XCTAssertEqual(client.bearer.pdu(for: bytes(frameHex), at: client.now), bytes("12 12 00 \(frameHex)"))
        XCTAssertEqual(client.bearer.fit(22), .wait)
        XCTAssertNil(client.bearer.pdu(for: bytes(frameHex), at: client.now))
        XCTAssertEqual(client.effects(of: "13"), [.readyForFrames])
        XCTAssertNotNil(client.bearer.pdu(for: bytes(frameHex), at: client.now))
        _ = client.bearer.fit(22)
        XCTAssertEqual(client.effects(of: "01 12 12 00 0e"), [.readyForFrames], "refused, and over all the same")
        XCTAssertEqual(client.bearer.counters[.writeRefused], 1)
    }

    func testWriteCommandsWaitForNothing() {
        let client = ready()
        for _ in 0..<3 {
            XCTAssertEqual(client.bearer.pdu(for: frame(of: 512), at: client.now)?.count, 515)
        }
        XCTAssertEqual(client.bearer.fit(513), .tooLong)
        XCTAssertNil(client.bearer.pdu(for: frame(of: 513), at: client.now), "never cut")
    }

    /// Chapter 03 D4: what is notified goes through the assembler.
    func testNotificationsAreAStream() {
        let client = ready()
        let f1 = "01020700000000000001110000040011223344556677deadbeef"
        let f2 = "01020700000000000002220000020011223344556677cafe"
        XCTAssertEqual(client.effects(of: "1b 12 00 \(f1.prefix(40))"), [])
        client.advance(.milliseconds(10))
        let both = client.effects(of: "1b 12 00 \(f1.dropFirst(40)) \(f2)")
        XCTAssertEqual(both, [.frame(bytes(f1)), .frame(bytes(f2))])
        XCTAssertEqual(client.effects(of: "1b 12 00 00 \(f1)"), [.frame(bytes(f1))], "a stray byte before it")
        XCTAssertEqual(client.bearer.counters[.undecodableStream], 1)
        XCTAssertEqual(client.effects(of: "1b 12 00 \(f2) 05 05 05 05 05"), [.frame(bytes(f2))], "padded")
        XCTAssertEqual(client.bearer.lastFrame, client.now)
    }

    func testANotificationFarLongerThanTheMTUIsAccepted() {
        let client = client(after: 0)
        client.receive(bytes("01 02 00 00 06"))
        for step in steps[1...] { client.receive(bytes(step.response)) }
        XCTAssertEqual(client.bearer.mtu, 23)
        let long = frame(of: 514)
        XCTAssertEqual(client.effects(of: bytes("1b 12 00") + long).last, .frame(long))
    }

    func testOnlyTheMeshCharacteristicIsListenedTo() {
        let client = ready()
        for handle in ["11 00", "00 00", "13 00", "ff ff"] {
            XCTAssertEqual(client.effects(of: "1b \(handle) \(frameHex)"), [])
        }
        XCTAssertEqual(client.bearer.counters[.unexpectedValue], 4)
        XCTAssertEqual(client.effects(of: "1b 12"), [])
        XCTAssertEqual(client.bearer.counters[.malformedPDU], 1)
        XCTAssertEqual(client.effects(of: "1b 12 00"), [], "an empty value is none")
        XCTAssertEqual(client.effects(of: "23 12 00 20 00 \(frameHex)"), [])
    }

    func testANotificationMayOvertakeTheSubscriptionsAnswer() {
        let client = client(after: 4)
        _ = client.take()
        let effects = client.effects(of: "1b 12 00 \(frameHex)")
        XCTAssertEqual(effects, [.up(frameLimit: 512), .frame(bytes(frameHex))])
        XCTAssertEqual(client.effects(of: "13"), [], "it is up")
        XCTAssertEqual(client.bearer.fit(512), .ready)
    }

    // MARK: Changed services

    func testAChangedServiceIsFoundAgainAndItsNewDescriptorWritten() {
        let client = ready()
        client.receive(bytes("1b 12 00 01 02 07 00 00"))
        _ = client.take()
        XCTAssertEqual(client.effects(of: "1d 08 00 01 00 ff ff"), [.response("1e"), .request(find)])
        XCTAssertEqual(client.bearer.fit(22), .wait, "nobody knows where to write now")
        XCTAssertEqual(client.effects(of: "1b 12 00 \(frameHex)"), [], "what was known is void")
        XCTAssertEqual(client.effects(of: "07 20 00 23 00"), [.request("08 20 00 23 00 03 28")])
        client.receive(bytes("09 15 21 00 1e 22 00 \(characteristicHex)"))
        XCTAssertEqual(client.effects(of: "05 01 23 00 02 29"), [.request("12 23 00 01 00")])
        XCTAssertEqual(client.effects(of: "13"), [.readyForFrames])
        XCTAssertEqual(client.bearer.pdu(for: bytes(frameHex), at: client.now), bytes("52 22 00 \(frameHex)"))
        XCTAssertEqual(client.effects(of: "1b 22 00 \(frameHex)"), [.frame(bytes(frameHex))])
    }

    /// A second write of the same descriptor doubles every notification of an Android phone.
    func testAServiceFoundWhereItWasIsNotSubscribedToTwice() {
        let client = ready()
        client.receive(bytes("1d 08 00 01 00 ff ff"))
        client.receive(bytes("07 10 00 13 00"))
        client.receive(bytes(declaration))
        _ = client.take()
        XCTAssertEqual(client.effects(of: "05 01 13 00 02 29"), [])
        XCTAssertEqual(client.bearer.fit(22), .ready)
        XCTAssertNil(client.bearer.nextDeadline)
    }

    /// An application that is restarted takes its service away for a moment: no reason to shun the phone.
    func testAServiceThatWentAwayIsNotLackingForLong() {
        let service = ready()
        service.receive(bytes("1d 08 00 10 00 13 00"))
        XCTAssertEqual(service.effects(of: "01 06 01 00 0a").last, .fail(.serviceGone))
        let characteristic = ready()
        characteristic.receive(bytes("1d 08 00 10 00 13 00"))
        characteristic.receive(bytes("07 10 00 13 00"))
        XCTAssertEqual(characteristic.effects(of: "01 08 10 00 0a").last, .fail(.serviceGone))
        XCTAssertFalse(BearerFailure.serviceGone.isLasting)
    }

    func testAChangeElsewhereChangesNothing() {
        let client = ready()
        for range in ["14 00 ff ff", "01 00 0f 00", "13 00 10 00", "00 00 ff ff"] {
            XCTAssertEqual(client.effects(of: "1d 08 00 \(range)"), [.response("1e")])
        }
        XCTAssertEqual(client.effects(of: "1d 08 00"), [.response("1e")])
        XCTAssertEqual(client.effects(of: "1d 12 00 10 00 13 00"), [.response("1e")], "a value of the mesh's own")
        XCTAssertEqual(client.effects(of: "1d 08"), [], "no indication at all")
        XCTAssertEqual(client.bearer.fit(22), .ready)
    }

    func testAChangeDuringSetUpBeginsDiscoveryAnew() {
        for (count, answer) in [(2, declaration), (3, "05 01 13 00 02 29"), (3, "01 04 13 00 0a"), (4, "13")] {
            let client = client(after: count)
            _ = client.take()
            XCTAssertEqual(client.effects(of: "1d 08 00 01 00 ff ff"), [.response("1e")], "one request at a time")
            XCTAssertEqual(client.effects(of: answer), [.request(find)])
        }
    }

    func testChangesWithoutEndAreConfirmedButNotFollowed() {
        let client = ready()
        var discoveries = 0
        for _ in 0..<50 {
            for effect in client.effects(of: "1d 08 00 01 00 ff ff") where effect == .request(find) {
                discoveries += 1
            }
            for step in steps[1...] { client.receive(bytes(step.response)) }
        }
        XCTAssertEqual(discoveries, 4)
        XCTAssertEqual(client.bearer.counters[.serviceChangeIgnored], 46)
    }

    func testARediscoveryHasABudgetOfItsOwn() {
        let client = ready()
        client.advance(.minutes(5))
        client.receive(bytes("1d 08 00 01 00 ff ff"))
        _ = client.take()
        client.advance(.seconds(10))
        XCTAssertEqual(client.take(), [.fail(.setUpTimedOut)])
    }
}

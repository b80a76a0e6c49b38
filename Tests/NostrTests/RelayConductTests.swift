import Basics
import XCTest

@testable import Nostr

/// A relay may be broken or hostile: what it sends without being asked is bounded, counted and ends in its being left.
final class RelayConductTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB

    /// Says frames until the relay is left; returns how many it took.
    private func framesUntilLeft(_ harness: ClientHarness, atMost limit: Int, _ frame: (Int) -> String) -> Int {
        for index in 0..<limit {
            harness.say(frame(index), from: a)
            if harness.socket(a) == nil { return index + 1 }
        }
        return limit
    }

    func testEveryKindOfRubbishEndsInTheRelayBeingLeft() {
        let rubbish: [(String, NostrDrop)] = [
            ("garbage", .frameMalformed), ("[\"EOSE\",\"nothing\"]", .endOfStoredUnmatched),
            ("[\"CLOSED\",\"nothing\",\"error: x\"]", .closedUnmatched),
            ("[\"OK\",\"\(String(repeating: "0", count: 64))\",true,\"\"]", .answerUnmatched),
            ("[\"OK\",\"\",false,\"rate-limited: x\"]", .answerUnmatched), ("[\"NOTICE\",\"x\"]", .notice),
            ("[\"COUNT\",\"s\",{}]", .frameUnknown), ("[\"AUTH\",\"\"]", .authIgnored),
            ("[\"AUTH\",\"challenge\"]", .authIgnored),
            ("[\"EVENT\",\"s\",{}]", .eventMalformed),
        ]
        for (frame, reason) in rubbish {
            let harness = ClientHarness.channel()
            XCTAssertEqual(framesUntilLeft(harness, atMost: 10_000) { _ in frame }, 201, frame)
            XCTAssertEqual(harness.client.drops[reason], 201, frame)
            XCTAssertEqual(harness.status(a)?.lastFailure, .misbehaving)
            XCTAssertEqual(harness.closes.map(\.code), [1_008])
            XCTAssertEqual(harness.status(b)?.state, .connected)
            XCTAssertTrue(harness.events.isEmpty)
        }
    }

    func testARelayThatSaysThatItHasNothingMoreAgainAndAgainIsLeft() {
        let harness = ClientHarness.channel()
        XCTAssertEqual(framesUntilLeft(harness, atMost: 1_000) { _ in "[\"EOSE\",\"s\"]" }, 202)
        XCTAssertEqual(harness.client.drops[.endOfStoredUnmatched], 201)
        XCTAssertEqual(harness.loads.count, 0, "the other relay may still have something")
    }

    func testOneAnswerToAnEventIsEnough() {
        let harness = ClientHarness.channel()
        let event = harness.event()
        harness.perform { $0.publish(event, to: [self.a], at: $1) }
        let frame = "[\"OK\",\"\(event.id.hex)\",true,\"\"]"
        XCTAssertEqual(framesUntilLeft(harness, atMost: 1_000) { _ in frame }, 202)
        XCTAssertEqual(harness.client.answers[.accepted], 1)
        XCTAssertEqual(harness.client.drops[.answerUnmatched], 201)
    }

    func testAnEventWrittenAgainIsAnsweredAgain() {
        let harness = ClientHarness.channel()
        let event = harness.event()
        for round in 1...3 {
            harness.perform { _ = $0.publishConfirmed(event, to: [self.a], at: $1) }
            harness.answer(event, round == 3, "error: not now", from: a)
            harness.advance(.seconds(1))
        }
        XCTAssertEqual(
            harness.published.map(\.outcome),
            [
                .failed(.rejected), .failed(.rejected), .accepted(by: a),
            ])
        XCTAssertEqual(harness.client.drops[.answerUnmatched], 0)
    }

    func testARelayThatSendsBinaryMessagesIsLeft() throws {
        let harness = ClientHarness.channel()
        let socket = try XCTUnwrap(harness.socket(a))
        for _ in 0..<200 { harness.perform { $0.receivedBinary(on: socket, at: $1) } }
        XCTAssertEqual(harness.status(a)?.state, .connected)
        for _ in 0..<10 { harness.perform { $0.receivedBinary(on: socket, at: $1) } }
        XCTAssertEqual(harness.client.drops[.frameBinary], 201)
        XCTAssertEqual(harness.status(a)?.lastFailure, .misbehaving)
        XCTAssertEqual(harness.client.drops[.staleSocket], 9)
    }

    func testAFloodOfWhatIsOutOfDateEndsInTheRelayBeingLeft() {
        for tags in [[], [["expiration", "1"]]] {
            let harness = ClientHarness.channel()
            let event = harness.event(age: tags.isEmpty ? 3_601 : 0, extraTags: tags)
            let json = String(decoding: event.json(), as: UTF8.self)
            let left = framesUntilLeft(harness, atMost: 10_000) { _ in "[\"EVENT\",\"s\",\(json)]" }
            XCTAssertEqual(left, 8_193)
            XCTAssertEqual(harness.status(a)?.lastFailure, .misbehaving)
        }
    }

    func testNowAndThenAFrameThatMeansNothingIsBorne() {
        let harness = ClientHarness.channel()
        for _ in 0..<3_000 {
            harness.advance(.seconds(2))
            harness.say("[\"NOTICE\",\"x\"]", from: a)
        }
        XCTAssertEqual(harness.status(a)?.state, .connected)
    }

    func testForgedEventsEndInTheRelayBeingLeft() {
        let harness = ClientHarness.channel()
        let event = harness.event()
        let left = framesUntilLeft(harness, atMost: 100) { index in
            var forged = event.event
            forged.sig = String(repeating: "\(index % 10)", count: 128)
            return "[\"EVENT\",\"s\",\(String(decoding: forged.json(), as: UTF8.self))]"
        }
        XCTAssertEqual(left, 20)
        harness.deliver(event.event, under: "s", from: b)
        XCTAssertEqual(harness.events.map(\.event), [event])
    }

    func testTenThousandEventsOutsideTheFilterAreCutShortAfterTwenty() {
        let harness = ClientHarness.channel()
        let foreign = harness.event(geohash: "u3").event
        XCTAssertEqual(
            framesUntilLeft(harness, atMost: 10_000) { _ in
                "[\"EVENT\",\"s\",\(String(decoding: foreign.json(), as: UTF8.self))]"
            }, 20)
        XCTAssertEqual(harness.client.activity[.signatureChecked], 0, "no signature is checked for what nobody wants")
        XCTAssertEqual(harness.status(a)?.state, .failed)
        harness.advance(.seconds(590))
        XCTAssertEqual(harness.status(a)?.state, .failed)
    }

    func testAFloodOfDuplicatesIsDroppedUncheckedAndEndsInTheRelayBeingLeft() {
        let harness = ClientHarness.channel()
        let event = harness.event()
        harness.deliver(event.event, under: "s", from: b)
        let frame = "[\"EVENT\",\"s\",\(String(decoding: event.json(), as: UTF8.self))]"
        XCTAssertEqual(framesUntilLeft(harness, atMost: 10_000) { _ in frame }, 8_193)
        XCTAssertEqual(harness.client.activity[.signatureChecked], 1)
        XCTAssertEqual(harness.client.drops[.eventDuplicate], 8_193)
    }

    func testHugeTagsCostAParseAndNothingElse() {
        let harness = ClientHarness.channel()
        let tag = "[\"g\",\"" + String(repeating: "u", count: 1_025) + "\"]"
        let tags = Array(repeating: tag, count: 64).joined(separator: ",")
        var json = String(decoding: harness.event().json(), as: UTF8.self)
        json = json.replacingTags(with: "[\(tags)]")
        harness.say("[\"EVENT\",\"s\",\(json)]", from: b)
        XCTAssertEqual(harness.client.drops[.eventBeyondLimits], 1)
    }

    /// Relays have limits of their own: anybody can leave such events there, and must not make us leave the relay.
    func testManyEventsBeyondTheLimitsAreBorneAndAFloodOfThemIsNot() {
        let harness = ClientHarness.channel()
        let tags = Array(repeating: "[]", count: 65).joined(separator: ",")
        let json = String(decoding: harness.event().json(), as: UTF8.self).replacingTags(with: "[\(tags)]")
        XCTAssertEqual(framesUntilLeft(harness, atMost: 10_000) { _ in "[\"EVENT\",\"s\",\(json)]" }, 8_193)
        XCTAssertEqual(harness.client.drops[.eventBeyondLimits], 8_193)
        XCTAssertEqual(harness.client.activity[.signatureChecked], 0)
    }
}

extension String {
    /// The event's JSON with other tags.
    fileprivate func replacingTags(with tags: String) -> String {
        guard let start = range(of: "\"tags\":")?.upperBound, let end = range(of: ",\"content\"")?.lowerBound
        else { return self }
        return String(self[..<start]) + tags + String(self[end...])
    }

    private func range(of text: String) -> Range<String.Index>? {
        indices.first { self[$0...].hasPrefix(text) }.map { $0..<index($0, offsetBy: text.count) }
    }
}

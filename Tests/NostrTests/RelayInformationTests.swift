import Basics
import XCTest

@testable import Nostr

/// NIP-11: what a relay says of itself makes us send it less, and never more.
final class RelayInformationTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB

    private func information(_ text: String) -> RelayInformation? { RelayInformation(json: [UInt8](text.utf8)) }

    func testTheLimitsAreReadAndAllElseIsSkipped() throws {
        let read = try XCTUnwrap(
            information(
                """
                {"name":"x","supported_nips":[1,11],"fees":{"admission":[{"amount":1}]},"limitation":
                {"max_message_length":70000,"max_subscriptions":20,"max_limit":500,"min_pow_difficulty":12,
                "auth_required":true,"payment_required":false,"restricted_writes":true,"max_filters":1.5}}
                """))
        var expected = RelayInformation()
        expected.maximumMessageBytes = 70_000
        expected.maximumSubscriptions = 20
        expected.maximumLimit = 500
        expected.minimumWork = 12
        expected.requiresAuthentication = true
        expected.restrictsWrites = true
        XCTAssertEqual(read, expected)
    }

    func testNonsenseCountsAsAbsent() {
        for limit in ["0", "-1", "1.5", "\"20\"", "null", "[]", "{}", "99999999999999999999", "true"] {
            let members = ["max_message_length", "max_subscriptions", "max_limit", "min_pow_difficulty"]
            let limitation = members.map { "\"\($0)\":\(limit)" }.joined(separator: ",")
            let read = information("{\"limitation\":{\(limitation)}}")
            XCTAssertEqual(read, RelayInformation(), limit)
        }
        XCTAssertNil(information("{\"limitation\":{\"max_message_length\":1023}}")?.maximumMessageBytes)
        XCTAssertEqual(information("{\"limitation\":{\"auth_required\":1}}"), RelayInformation())
        XCTAssertEqual(information("{\"limitation\":7}"), RelayInformation())
        XCTAssertEqual(information("{}"), RelayInformation())
        for text in ["", "[]", "{", "{}x", "{\"limitation\":{\"max_limit\":}}", "<html>"] {
            XCTAssertNil(information(text), text)
        }
        let deep = "{\"a\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}"
        XCTAssertNil(information(deep))
        XCTAssertNil(information("{\"a\":\"" + String(repeating: "x", count: 65_536) + "\"}"))
        XCTAssertNil(RelayInformation(json: [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))
    }

    private func tell(_ harness: ClientHarness, _ limitation: String) {
        let document = [UInt8]("{\"limitation\":{\(limitation)}}".utf8)
        harness.perform { client, _ in client.informationReceived(document, from: a) }
    }

    func testItIsAskedForAfterConnectingDailyOrAnHourAfterAFailure() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        XCTAssertEqual(harness.asked, [a])
        func reconnect(after span: Interval) {
            harness.advance(span)
            harness.reconnect()
            harness.open(a)
        }
        reconnect(after: .minutes(59))
        XCTAssertEqual(harness.asked.count, 1)
        reconnect(after: .minutes(1))
        XCTAssertEqual(harness.asked.count, 2)
        tell(harness, "")
        reconnect(after: .hours(23))
        XCTAssertEqual(harness.asked.count, 2)
        reconnect(after: .hours(1))
        XCTAssertEqual(harness.asked.count, 3)
    }

    func testSubscriptionsBeyondTheRelaysNumberWaitForOneToEnd() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        tell(harness, "\"max_subscriptions\":2")
        for id in ["1", "2", "3"] { harness.subscribe(id, harness.channelFilter("u3\(id)"), to: a) }
        XCTAssertEqual(harness.takeSent().count, 2)
        harness.advance(.seconds(40))
        XCTAssertEqual(harness.takeSent(), [])
        XCTAssertEqual(harness.status(a)?.subscriptions.filter(\.isActive).map(\.id), ["1", "2"])
        harness.perform { $0.unsubscribe("1", at: $1) }
        harness.advance(.zero)
        let sent = harness.takeSent()
        XCTAssertEqual(sent.first, "[\"CLOSE\",\"1\"]")
        XCTAssertTrue(sent.last?.hasPrefix("[\"REQ\",\"3\"") ?? false)
    }

    func testARequestAsksForNoMoreThanTheRelayGives() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        tell(harness, "\"max_limit\":50")
        harness.subscribe("s", to: a)
        XCTAssertTrue(harness.takeSent().first?.contains("\"limit\":50") ?? false)
    }

    func testAnEventThatTheRelayWouldNotTakeIsNotSent() {
        let harness = ClientHarness(defaults: [a, b])
        harness.open(a)
        harness.open(b)
        tell(harness, "\"max_message_length\":1024,\"min_pow_difficulty\":8")
        let long = harness.event(String(repeating: "x", count: 1_024))
        harness.perform { $0.publish(long, to: [self.a, self.b], at: $1) }
        XCTAssertEqual(harness.sent.map(\.relay), [b])
        harness.sent.removeAll()
        let idle = harness.event("no work")
        harness.perform { _ = $0.publishConfirmed(idle, to: [self.a], at: $1) }
        XCTAssertEqual(harness.published.map(\.outcome), [.failed(.rejected)], "nobody is left to take it")
        XCTAssertEqual(harness.sent.count, 0)
        XCTAssertEqual(harness.client.drops[.publicationBeyondRelay], 2)
        XCTAssertEqual(harness.client.work(askedBy: [a, b]), 8)
        XCTAssertEqual(harness.client.work(askedBy: [b]), 0)
        tell(harness, "\"min_pow_difficulty\":200")
        XCTAssertEqual(harness.client.work(askedBy: [a]), 20, "nobody makes us mine for hours")
    }

    func testARelayThatAnnouncesItWantsAuthenticationGetsIt() {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        tell(harness, "\"auth_required\":true")
        harness.say("[\"AUTH\",\"c\"]", from: a)
        XCTAssertTrue(harness.takeSent().last?.hasPrefix("[\"AUTH\",") ?? false)
    }
}

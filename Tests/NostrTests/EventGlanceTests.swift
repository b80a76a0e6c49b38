import Basics
import XCTest

@testable import Nostr

/// A copy is recognised without being parsed, and nothing but a copy is.
final class EventGlanceTests: XCTestCase {
    private let a = ClientHarness.relayA
    private let b = ClientHarness.relayB
    private let id = String(repeating: "0123456789abcdef", count: 4)
    private let otherID = String(repeating: "f", count: 64)

    private func glance(_ frame: String) -> (subscription: String, event: String)? {
        glance(Array(frame.utf8))
    }

    private func glance(_ frame: [UInt8]) -> (subscription: String, event: String)? {
        frame.withUnsafeBytes { bytes in
            EventGlance(bytes).map { (String(decoding: $0.subscription, as: UTF8.self), $0.event.hex) }
        }
    }

    private func assertFound(_ frame: String, line: UInt = #line) {
        let found = glance(frame)
        XCTAssertEqual(found?.subscription, "s", frame, line: line)
        XCTAssertEqual(found?.event, id, frame, line: line)
    }

    private func assertLeftToTheParser(_ frame: String, line: UInt = #line) {
        XCTAssertNil(glance(frame), frame, line: line)
    }

    func testTheIDIsFoundAtAnyPlaceInTheEvent() {
        let members = ["\"pubkey\":\"x\"", "\"created_at\":-17", "\"tags\":[[\"g\",\"u\"],[]]", "\"content\":\"\""]
        for place in 0...members.count {
            var members = members
            members.insert("\"id\":\"\(id)\"", at: place)
            assertFound("[\"EVENT\",\"s\",{\(members.joined(separator: ","))}]")
        }
        assertFound("[\"EVENT\",\"s\",{\"id\":\"\(id)\"}]")
    }

    func testTheTimeIsReadWhereItIsWrittenInPlainDigits() {
        func time(_ members: String) -> Int64? {
            Array("[\"EVENT\",\"s\",{\(members)}]".utf8).withUnsafeBytes { EventGlance($0)?.createdAt }
        }
        let id = "\"id\":\"\(id)\""
        XCTAssertEqual(time("\"created_at\":1700000000,\(id)"), 1_700_000_000)
        XCTAssertEqual(time("\(id) , \"created_at\" : \n 7 "), 7)
        XCTAssertEqual(time("\"created_at\":1,\(id),\"created_at\":2"), 2)
        XCTAssertEqual(time("\"created_at\":\(String(repeating: "9", count: 18)),\(id)"), 999_999_999_999_999_999)
        for odd in ["-1", "1.0", "1e3", "\"1\"", "null", "[1]", "1234567890123456789", "1 2"] {
            XCTAssertNil(time("\"created_at\":\(odd),\(id)"), odd)
        }
        XCTAssertNil(time(id))
    }

    func testWhiteSpaceMayStandWhereJSONAllowsIt() {
        assertFound(" [\n\"EVENT\"\t,\r\"s\" , { \"kind\" : 1 , \"id\" : \"\(id)\" } \n] ")
        assertLeftToTheParser("[\"EVENT\",\"s\",{\"id\":\" \(id)\"}]")
    }

    func testOnlyAMemberOfTheEventItselfIsItsID() {
        let inside = [
            "\"tags\":[[\"id\",\"\(otherID)\"],[\"e\",\"\(otherID)\"]]",
            "\"content\":\"\\\"id\\\":\\\"\(otherID)\\\"\"",
            "\"content\":\"{\\\"id\\\":\"", "\"seen\":{\"id\":\"\(otherID)\"}", "\"x\":[{\"id\":\"\(otherID)\"}]",
            "\"content\":\"\\\\\"", "\"content\":\"}]\"", "\"x\":{\"y\":[[],{},null,true,1e-5]}",
        ]
        for member in inside {
            assertFound("[\"EVENT\",\"s\",{\(member),\"id\":\"\(id)\"}]")
            assertFound("[\"EVENT\",\"s\",{\"id\":\"\(id)\",\(member)}]")
            assertLeftToTheParser("[\"EVENT\",\"s\",{\(member)}]")
        }
    }

    func testNamesThatMightBeTheIDAreLeftToTheParser() {
        assertLeftToTheParser("[\"EVENT\",\"s\",{\"\\u0069d\":\"\(id)\"}]")
        assertLeftToTheParser("[\"EVENT\",\"s\",{\"id\":\"\(id)\",\"i\\u0064\":\"\(otherID)\"}]")
        assertLeftToTheParser("[\"EVENT\",\"s\",{\"id\":\"\(id)\",\"id\":\"\(otherID)\"}]")
        assertLeftToTheParser("[\"EVENT\",\"s\",{\"id\":\"\(id)\",\"id\":null}]")
        assertLeftToTheParser("[\"EVENT\",\"s\",{\"id\":\"\(id)\",\"id\":\"\(id)\"}]")
    }

    func testAnIDThatIsSpelledAsNoneIsLeftToTheParser() {
        let spellings = [
            "\"\(id.uppercased())\"", "\"\(id.dropLast())\"", "\"\(id)0\"", "\"\(id.dropLast())g\"",
            "\"\(id.dropLast())\\u0066\"", "\"\(id.dropLast(2))é\"", "null", "1", "[\"\(id)\"]", "{}", "",
        ]
        for spelling in spellings { assertLeftToTheParser("[\"EVENT\",\"s\",{\"id\":\(spelling)}]") }
    }

    func testWhatIsNoPlainEventFrameIsLeftToTheParser() {
        let event = "{\"id\":\"\(id)\"}"
        for frame in [
            "", "[", "{}", "[\"EVENT\"]", "[\"EVENT\",\"s\"]", "[\"EVENT\",\"s\",[\(event)]]", "[\"EVENT\",1,\(event)]",
            "[\"EVEN\\u0054\",\"s\",\(event)]", "[\"EVENT\",\"\\u0073\",\(event)]", "[\"EVENT\",\"s\",\(event),1]",
            "[\"EVENT\",\"s\",\(event)] x", "[\"EVENT\",\"s\",\(event)}", "[\"event\",\"s\",\(event)]",
            "[\"EVENT\",\(event)]",
            "[\"EVENT\",\"s\",{\"x\":],\"id\":\"\(id)\"}]", "[\"EVENT\",\"s\",{\"x\":,\"id\":\"\(id)\"}]",
            "[\"EVENT\",\"s\",{\"id\":\"\(id)\",}]", "[\"EVENT\",\"s\",{\"id\":\"\(id)\" \"x\":1}]",
            "[\"EVENT\",\"s\",{}]",
            "[\"EVENT\",\"s\",{\"x\":1 2,\"id\":\"\(id)\"}]", "[\"EVENT\",\"s\",{\"id\"}]",
        ] { assertLeftToTheParser(frame) }
    }

    func testTheEndOfTheFrameIsNeverPassed() {
        let frame = Array("[\"EVENT\",\"s\",{\"content\":\"a\\\"b\",\"tags\":[[\"g\",\"u\"]],\"id\":\"\(id)\"}]".utf8)
        for length in 0..<frame.count { XCTAssertNil(glance(Array(frame.prefix(length))), "\(length)") }
        XCTAssertNotNil(glance(frame))
    }

    /// Of everything that the parser takes for an event, the look finds the same id or none.
    func testTheLookNeverContradictsTheParser() {
        var random = SeededRandom(seed: 6)
        let frame = Array(
            """
            ["EVENT","s",{"tags":[["g","u\\u0034"],["id","\(otherID)"]],"id":"\(id)","pubkey":"p","created_at":1,\
            "kind":2,"content":"\\"id\\":\\"\(otherID)\\"","sig":null,"x":{"id":"\(otherID)"}}]
            """.utf8)
        let pieces = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "\"id\":\"\(otherID)\",", "\"id\"", "\\u0069d", " ", "0",
        ]
        .map { Array($0.utf8) }
        var (agreed, accepted) = (0, 0)
        for _ in 0..<20_000 {
            var mutant = frame
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<mutant.count, using: &random)
                let end = min(mutant.count, place + Int.random(in: 0...3, using: &random))
                mutant.replaceSubrange(place..<end, with: pieces.randomElement(using: &random) ?? [])
            }
            let parsed: String? = mutant.withUnsafeBytes { bytes in
                guard bytes.isValidUTF8, case .event(_, _, .success(let layout)) = try? RelayFrame.parse(bytes)
                else { return nil }
                return layout.eventID?.hex ?? ""
            }
            guard let parsed else { continue }
            accepted += 1
            guard let found = glance(mutant)?.event else { continue }
            agreed += 1
            XCTAssertEqual(found, parsed, String(decoding: mutant, as: UTF8.self))
        }
        XCTAssertGreaterThan(accepted, 500)
        XCTAssertGreaterThan(agreed, 300)
    }

    // MARK: In the client

    func testACopyIsDroppedWhateverElseItsFrameSays() {
        let harness = ClientHarness.channel()
        let event = harness.event()
        harness.deliver(event.event, under: "s", from: a)
        harness.say("[\"EVENT\",\"s\",{\"content\":\"other\",\"id\":\"\(event.id.hex)\"}]", from: b)
        XCTAssertEqual(harness.client.drops[.eventDuplicate], 1)
        XCTAssertEqual(harness.events.map(\.event), [event])
        harness.say("[\"EVENT\",\"t\",{\"id\":\"\(event.id.hex)\"}]", from: b)
        XCTAssertEqual(harness.client.drops[.eventUnrequested], 1, "known under another subscription only")
        harness.say("[\"CLOSED\",\"s\",\"error: x\"]", from: b)
        harness.deliver(event.event, under: "s", from: b)
        XCTAssertEqual(harness.client.drops[.eventUnrequested], 2, "known, but not in force at that relay")
        XCTAssertEqual(harness.client.drops[.eventDuplicate], 1)
    }

    func testAKnownIDBesideTheGenuineOneShadowsNothing() {
        let harness = ClientHarness.channel()
        let (known, fresh) = (harness.event("known"), harness.event("fresh"))
        harness.deliver(known.event, under: "s", from: a)
        let json = String(decoding: fresh.json(), as: UTF8.self)
        for name in ["id", "\\u0069d"] {
            // Of equal names the last counts.
            harness.say("[\"EVENT\",\"s\",{\"\(name)\":\"\(known.id.hex)\",\(json.dropFirst())]", from: b)
            XCTAssertEqual(harness.events.last?.event, fresh, name)
        }
        XCTAssertEqual(harness.client.drops[.eventDuplicate], 1, "the second time it is a copy of itself")
        XCTAssertEqual(harness.events.count, 2)
    }

    func testAFrameOfTheLargestSizeIsDeliveredOnceAndOneByteMoreIsNotLookedAt() {
        let harness = ClientHarness.channel()
        let empty = harness.event("").json().count + "[\"EVENT\",\"s\",]".utf8.count
        let event = harness.event(String(repeating: "x", count: NostrLimits.messageBytes - empty))
        let frame = "[\"EVENT\",\"s\",\(String(decoding: event.json(), as: UTF8.self))]"
        XCTAssertEqual(frame.utf8.count, NostrLimits.messageBytes)
        for _ in 0..<2 { harness.say(frame, from: a) }
        XCTAssertEqual(harness.events.count, 1)
        XCTAssertEqual(harness.client.drops[.eventDuplicate], 1)
        harness.say(frame + " ", from: a)
        XCTAssertEqual(harness.client.drops[.frameOversized], 1)
        XCTAssertEqual(harness.client.drops[.eventDuplicate], 1)
    }
}

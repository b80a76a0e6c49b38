import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §18.2, the rows on carriers, and what random ones do.
final class MalformedCarrierTests: XCTestCase {
    private let directions = NostrCarrier.Direction.allCases

    /// Everything that could have been touched.
    private func assertUntouched(_ rig: Rig, _ message: String, line: UInt = #line) {
        XCTAssertTrue(rig.published.isEmpty && rig.broadcasts.isEmpty && rig.shown.isEmpty, message, line: line)
        let status = rig.status
        let waiting = [status.channels, status.bridge].map { $0.queuedDeposits.used + $0.pendingDownlinks.used }
        XCTAssertEqual(waiting, [0, 0], message, line: line)
        XCTAssertTrue(status.participants.isEmpty, message, line: line)
    }

    private func outcomes(_ rig: Rig, _ outcome: CarriageOutcome) -> UInt64 {
        let counters = rig.counters
        return [
            counters.channelDeposits, counters.channelBroadcasts, counters.bridgeDeposits, counters.bridgeBroadcasts,
        ].reduce(0) { $0 + $1[outcome] }
    }

    func testUndecodableCarriersNeverGetHere() {
        XCTAssertNil(NostrCarrier(payload: []))
        XCTAssertNil(NostrCarrier(payload: [1, 0, 1, 9, 2, 0, 1, 0x75, 3, 0, 1, 0x7b]), "unknown direction")
    }

    /// Wrong addressing changes nothing.
    func testWrongDirectionCarriersDropped() throws {
        let rig = Rig()
        let channel = try Author(1).channelMessage()
        let bridge = try Author(1).bridgeMessage()
        rig.receive(channel.carrier(.toGateway, "u4pru"), addressedToUs: false, from: .alice)
        rig.receive(bridge.carrier(.toBridge, "u4pruy"), addressedToUs: false, from: .alice)
        rig.receive(channel.carrier(.fromGateway, "u4pru"), addressedToUs: true, from: .alice)
        rig.receive(bridge.carrier(.fromBridge, "u4pruy"), addressedToUs: true, from: .alice)
        assertUntouched(rig, "misaddressed")
        XCTAssertEqual(outcomes(rig, .misaddressed), 4)
        rig.deposit(channel)
        rig.bridgeDeposit(bridge)
        XCTAssertEqual(rig.published.count, 2, "no ID was marked")
    }

    func testDepositWithoutAProvenDepositorChangesNothing() throws {
        let rig = Rig()
        rig.receive(try Author(1).channelMessage().carrier(.toGateway, "u4pru"), addressedToUs: true, from: nil)
        rig.receive(try Author(1).bridgeMessage().carrier(.toBridge, "u4pruy"), addressedToUs: true, from: nil)
        assertUntouched(rig, "unproven depositor")
        XCTAssertEqual(outcomes(rig, .misaddressed), 2)
    }

    func testUnparsableEventsCostNeitherTokenNorVerification() throws {
        let author = try Author(1)
        let manyTags = author.event(tags: [["g", "u4pru"], ["r", "u4pruy"]]).event
        var tooMany = manyTags
        tooMany.tags += (0..<63).map { ["x", "\($0)"] }
        var tooWide = manyTags
        tooWide.tags.append([String](repeating: "x", count: 17))
        var tooLarge = manyTags
        tooLarge.tags.append(["x", String(repeating: "x", count: 1_025)])
        var texts = [tooMany, tooWide, tooLarge].map { $0.json() }
        texts += ["{", "[]", "{}", "null", "{\"id\":1}", "{\"pubkey\":\"\",\"created_at\":1.5,\"kind\":20000}"].map {
            Array($0.utf8)
        }
        texts.append([0xff, 0xfe])
        let rig = Rig()
        for direction in directions {
            let isDirected = direction == .toGateway || direction == .toBridge
            for text in texts {
                rig.receive(
                    NostrCarrier(direction: direction, geohash: "u4pru", event: text), addressedToUs: isDirected,
                    from: isDirected ? .alice : nil)
            }
        }
        assertUntouched(rig, "unparsable")
        XCTAssertEqual(outcomes(rig, .unparsable), UInt64(4 * texts.count))
        XCTAssertEqual(outcomes(rig, .depositorLimit), 0)
    }

    /// Wrong kind tag place or age is dropped before crypto.
    func testForgedSignatureWrongKindGeohashMismatchStaleNothing() throws {
        let author = try Author(1)
        let rig = Rig()
        let tags = [["g", "u4pru"], ["r", "u4pru"]]
        let cases: [(NostrEvent, String, CarriageOutcome)] = [
            (author.event(kind: 1, tags: tags).forged, "u4pru", .wrongKind),
            (author.event(kind: 1_401, tags: tags).forged, "u4pru", .wrongKind),
            (author.event(tags: [["g", "9q8yy"], ["r", "9q8yy"]]).forged, "u4pru", .wrongTag),
            (author.event(tags: [["G", "u4pru"], ["g"]]).forged, "u4pru", .wrongTag),
            (author.event(tags: [["g", "U4PRU"], ["r", "U4PRU"]]).forged, "U4PRU", .invalidGeohash),
            (author.event(tags: [["g", "aaa"], ["r", "aaa"]]).forged, "aaa", .invalidGeohash),
            (author.event(tags: tags, at: Clock.start - 901).forged, "u4pru", .stale),
            (author.event(tags: tags, at: Clock.start + 901).forged, "u4pru", .stale),
            (author.event(tags: tags, at: .max).forged, "u4pru", .stale),
            (author.event(tags: tags, at: .min).forged, "u4pru", .stale),
        ]
        for (event, geohash, _) in cases {
            for direction in directions {
                let isDirected = direction == .toGateway || direction == .toBridge
                rig.receive(
                    NostrCarrier(direction, geohash, event), addressedToUs: isDirected, from: isDirected ? .alice : nil)
            }
        }
        assertUntouched(rig, "structure")
        for outcome in [CarriageOutcome.wrongKind, .wrongTag, .invalidGeohash] {
            XCTAssertEqual(outcomes(rig, outcome), 8, outcome.rawValue)
        }
        XCTAssertEqual(outcomes(rig, .stale), 16)
        XCTAssertEqual(outcomes(rig, .forged), 0, "no signature was looked at")
        XCTAssertEqual(outcomes(rig, .depositorLimit), 0, "no token was taken")
        rig.receive(
            NostrCarrier(.toGateway, "u4pru", author.channelMessage().forged), addressedToUs: true, from: .alice)
        XCTAssertEqual(outcomes(rig, .forged), 1)
        XCTAssertTrue(rig.published.isEmpty && rig.shown.isEmpty)
    }

    func testOversizeEventIsRefused() throws {
        let event = try Author(1).channelMessage(String(repeating: "a", count: 16_384))
        let rig = Rig()
        for direction in directions {
            let isDirected = direction == .toGateway || direction == .toBridge
            rig.receive(event.carrier(direction, "u4pru"), addressedToUs: isDirected, from: isDirected ? .alice : nil)
        }
        assertUntouched(rig, "oversize")
        XCTAssertEqual(outcomes(rig, .oversize), 4)
    }

    func testEventWithoutIDOrSignatureIsForged() throws {
        var anonymous = try Author(1).channelMessage().event
        anonymous.id = ""
        var unsigned = try Author(1).channelMessage().event
        unsigned.sig = nil
        var shouting = try Author(1).channelMessage().event
        shouting.id = shouting.id.uppercased()
        let rig = Rig()
        for event in [anonymous, unsigned, shouting] {
            rig.receive(NostrCarrier(.toGateway, "u4pru", event), addressedToUs: true, from: .alice)
            rig.receive(NostrCarrier(.fromGateway, "u4pru", event))
        }
        assertUntouched(rig, "incomplete")
        XCTAssertEqual(outcomes(rig, .forged), 6)
    }

    func testFloodOfOneKeyIsBoundedOnTheAir() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<150 {
            rig.relayBridge(author.bridgeMessage("\(index)"))
            rig.run(.milliseconds(390))
        }
        XCTAssertEqual(rig.counters.bridgeDownlinks[.keyOrTotalLimit], 30)
        XCTAssertLessThanOrEqual(rig.broadcasts.count, 20)
    }

    func testFloodOfRotatingDepositorsStaysBounded() throws {
        let author = try Author(1)
        let rig = Rig(relays: false)
        for index in 0..<2_000 {
            let event = author.channelMessage("\(index)").forged
            rig.receive(
                NostrCarrier(.toGateway, "u4pru", event), addressedToUs: true, from: PeerID(value: UInt64(index)))
        }
        XCTAssertEqual(rig.counters.channelDeposits[.forged], 512)
        XCTAssertEqual(rig.counters.channelDeposits[.depositorLimit], 1_488)
        assertUntouched(rig, "forged deposits")
    }

    func testTenThousandRandomCarriersTrapNothingAndTablesStayBounded() throws {
        var random = SeededRandom(seed: 0xbeef)
        let authors = try (1...20).map { try Author($0) }
        var genuine: [VerifiedEvent] = []
        for index in 0..<200 {
            let author = authors[index % authors.count]
            let time = Clock.start + Int64(index % 5) - 2
            genuine.append(
                index.isMultiple(of: 2)
                    ? author.channelMessage("\(index)", at: time) : author.bridgeMessage("\(index)", at: time))
        }
        let rig = Rig(.reference(echo: true))
        rig.gateway.view("u4pru", at: rig.now)
        for _ in 0..<10_000 {
            let event = genuine[Int.random(in: 0..<genuine.count, using: &random)]
            var json = event.json()
            if Bool.random(using: &random) {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    json[Int.random(in: 0..<json.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            let geohash = ["u4pru", "u4pruy", "\u{0}", "zzzzzzzzzzzz", "é"][Int.random(in: 0..<5, using: &random)]
            let direction = directions[Int.random(in: 0..<4, using: &random)]
            rig.receive(
                NostrCarrier(direction: direction, geohash: geohash, event: json),
                addressedToUs: Bool.random(using: &random),
                from: Bool.random(using: &random) ? PeerID(value: random.next() % 700) : nil)
            if Int.random(in: 0..<8, using: &random) == 0 { rig.relay(event) } else { rig.relayBridge(event) }
            switch Int.random(in: 0..<50, using: &random) {
            case 0: rig.setRelays(Bool.random(using: &random))
            case 1: rig.run(random.interval(.zero, .seconds(2)))
            case 2: rig.radioSeen("\(random.next() % 100)")
            default: break
            }
            let status = rig.status
            for service in [status.channels, status.bridge] {
                XCTAssertLessThanOrEqual(service.queuedDeposits.used, service.queuedDeposits.limit)
                XCTAssertLessThanOrEqual(service.pendingDownlinks.used, service.pendingDownlinks.limit)
                XCTAssertLessThanOrEqual(service.carriers.used, service.carriers.limit)
            }
            XCTAssertLessThanOrEqual(status.participants.count, GatewayLimits.participants)
            XCTAssertLessThanOrEqual(status.followedChannels.count, 1 + GatewayLimits.demandedChannels)
        }
        XCTAssertLessThanOrEqual(rig.published.count, genuine.count, "no event went up twice")
    }
}

import Basics
import Crypto
import Foundation
import Gateway
import Nostr
import Wire
import XCTest

@testable import Messenger
@testable import Station

/// Own letters on their way to relays, of which few may be under way at a time.
final class RelayDropsTests: XCTestCase {
    private let relays = (1...4).compactMap { NostrRelayURL("wss://relay-\($0).example") }
    private var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000))
    private var random = SeededRandom(seed: 5)
    private lazy var client = NostrClient(defaultRelays: relays, random: SeededRandom(seed: 6))
    private lazy var own = NoiseStaticKey.generate(using: &random).publicKey
    private lazy var drops = RelayDrops(client: client, own: own, random: SeededRandom(seed: 7))
    /// What a relay makes of an event; nil: it says nothing.
    private var answer: Bool? = true
    private var open: Set<NostrSocketID> = []
    private var mostOpen = 0
    /// Tags of the letters in the order in which they were begun to be written.
    private var written: [String] = []
    private var events: Set<String> = []
    private var outcomes: [(messageID: String, isConfirmed: Bool)] = []
    /// Of the first relay, which is asked for what it keeps; nil: none is.
    private var lasting: NostrSocketID?
    private var requests: [String] = []

    override func setUp() {
        client.setGate(.open, at: now)
        drops.onOutcome = { [unowned self] in outcomes.append(($0.messageID, $1)) }
        settle()
    }

    private func settle() {
        while let effect = client.nextEffect() {
            switch effect {
            case .dial(let socket):
                guard socket.isolation != nil else {
                    if socket.relay == relays[0] { lasting = socket }
                    continue
                }
                open.insert(socket)
                mostOpen = max(mostOpen, open.count)
                client.relayOpened(socket, at: now)
            case .close(let socket, _): open.remove(socket)
            case .send(let frame, let socket): take(String(decoding: frame, as: UTF8.self), on: socket)
            case .published(let id, let outcome): drops.published(id, outcome, at: now)
            case .event(let event, _): drops.take(event, at: now)
            case .endOfStored(let subscription, let extent): drops.loaded(subscription, extent, at: now)
            default: break
            }
        }
    }

    private func take(_ frame: String, on socket: NostrSocketID) {
        guard frame.hasPrefix("[\"EVENT\"") else { return requests.append(frame) }
        func member(after mark: String) -> String? {
            frame.range(of: mark).map { String(frame[$0.upperBound...].prefix { $0 != "\"" }) }
        }
        guard let id = member(after: "\"id\":\""), let tag = member(after: "[\"x\",\"") else { return XCTFail(frame) }
        if events.insert(id).inserted { written.append(tag) }
        guard let answer else { return }
        client.received(Array("[\"OK\",\"\(id)\",\(answer),\"\"]".utf8), on: socket, at: now)
    }

    private func leave(_ messageID: String, for person: UInt8) {
        let envelope = CourierEnvelope(
            recipientTag: [UInt8](repeating: person, count: 16),
            expiry: WallTime(milliseconds: now.wall.milliseconds + 86_400_000), ciphertext: [1, 2, 3], copies: 1)
        drops.leave(
            envelope, DropTicket(operation: 1, key: messageID, peer: PeerID(value: 1), messageID: messageID), at: now)
        settle()
    }

    private func advance(by span: Interval) {
        let end = now.monotonic + span
        while let due = client.nextDeadline, due <= end {
            now = now.advanced(by: due > now.monotonic ? due - now.monotonic : .milliseconds(1))
            client.timeout(at: now)
            settle()
        }
        now = now.advanced(by: max(.zero, end - now.monotonic))
    }

    private func tag(_ person: UInt8) -> String { Hex.encode([UInt8](repeating: person, count: 16)) }

    func testTheNextLetterGoesAsSoonAsOneIsDone() {
        for number in 0..<20 { leave("\(number)", for: 1) }
        XCTAssertLessThanOrEqual(mostOpen, 16)
        // Three a second may be written.
        advance(by: .seconds(8))
        XCTAssertEqual(outcomes.filter(\.isConfirmed).map(\.messageID), (0..<20).map { "\($0)" })
        XCTAssertEqual(outcomes.count, 20, "each once")
        XCTAssertLessThanOrEqual(mostOpen, 16)
        XCTAssertTrue(open.isEmpty)
    }

    func testManyLettersForOneHoldUpNobodyElses() {
        for number in 0..<30 { leave("many \(number)", for: 1) }
        leave("one", for: 2)
        leave("two", for: 3)
        advance(by: .seconds(20))
        XCTAssertEqual(outcomes.count, 32)
        XCTAssertLessThan(written.firstIndex(of: tag(2)) ?? .max, 12)
        XCTAssertLessThan(written.firstIndex(of: tag(3)) ?? .max, 12)
    }

    func testRelaysThatRefuseOrSaySilentHoldUpNothingForEver() {
        answer = nil
        for number in 0..<12 { leave("\(number)", for: 1) }
        XCTAssertEqual(outcomes.count, 0)
        advance(by: .minutes(2))
        XCTAssertEqual(outcomes.map(\.isConfirmed), [Bool](repeating: false, count: 12))
        answer = false
        for number in 12..<24 { leave("\(number)", for: 1) }
        advance(by: .minutes(1))
        XCTAssertEqual(outcomes.count, 24)
        XCTAssertTrue(outcomes.allSatisfy { !$0.isConfirmed })
    }

    func testWhatWaitsIsBoundAndEndsWhereNothingMayBeDialled() {
        answer = nil
        for number in 0..<70 { leave("\(number)", for: 1) }
        XCTAssertEqual(outcomes.map(\.messageID), (64..<70).map { "\($0)" })
        client.setGate(.closed, at: now)
        settle()
        XCTAssertEqual(outcomes.count, 70)
        XCTAssertTrue(outcomes.allSatisfy { !$0.isConfirmed })
    }

    func testWhatIsNotWantedAnyMoreIsNotLeft() {
        answer = nil
        var unwanted: Set<String> = []
        drops.isWanted = { !unwanted.contains($0.messageID) }
        for number in 0..<64 { leave("\(number)", for: 1) }
        unwanted = Set((20..<64).map { "\($0)" })
        leave("64", for: 2)
        XCTAssertEqual(outcomes.count, 0, "there is room where nothing is wanted")
        advance(by: .minutes(5))
        XCTAssertEqual(events.count, 21)
        XCTAssertEqual(Set(outcomes.map(\.messageID)), Set((0..<20).map { "\($0)" } + ["64"]))
    }

    func testTurnsAreRememberedOnlyOfThoseForWhomSomethingWaits() {
        answer = nil
        for person in 2..<12 as Range<UInt8> { leave("to \(person)", for: person) }
        for number in 0..<40 { leave("\(number)", for: 1) }
        advance(by: .minutes(1))
        XCTAssertEqual(Set(drops.turns.keys), [[UInt8](repeating: 1, count: 16)])
    }

    /// Chapter 06 §5.6.
    func testALetterIsOpenedOnceAndWhatIsNoDropNever() throws {
        let mail = CourierEnvelope(
            recipientTag: [UInt8](repeating: 1, count: 16),
            expiry: WallTime(milliseconds: now.wall.milliseconds + 1_000), ciphertext: [1, 2, 3])
        let drop = try XCTUnwrap(Courier.drop(of: mail, at: now.wall, using: &random))
        func alike(_ kind: Int, _ content: String, tag: String) throws -> VerifiedEvent {
            try XCTUnwrap(
                VerifiedEvent.signed(
                    kind: kind, tags: [["x", tag]], content: content, createdAt: now.wall.unixSeconds,
                    key: .generate(using: &random), using: &random))
        }
        let content = drop.event.content
        let bad = [
            try alike(1, content, tag: tag(1)), try alike(EventKind.courierDrop, content, tag: tag(2)),
            try alike(EventKind.courierDrop, content + "=", tag: tag(1)),
        ]
        var (letters, opens): ([CourierEnvelope], Bool) = ([], false)
        drops.onLetter = {
            letters.append($0)
            return opens
        }
        for event in bad { drops.take(event, at: now) }
        XCTAssertEqual(letters, [])
        drops.take(drop, at: now)
        opens = true
        for _ in 0..<2 { drops.take(drop, at: now) }
        XCTAssertEqual(letters, [mail, mail], "what does not open may later")
        now = now.advanced(by: .seconds(1))
        drops.take(try XCTUnwrap(Courier.drop(of: mail, at: now.wall, using: &random)), at: now)
        XCTAssertEqual(letters.count, 2, "too late")
    }

    /// Anybody can leave them under anybody's tag.
    func testWorthlessDropsOfAFullAnswerHideNoLetter() throws {
        client.setDefaultRelays([relays[0]], at: now)
        drops.ask(at: now)
        settle()
        let socket = try XCTUnwrap(lasting)
        client.relayOpened(socket, at: now)
        settle()
        let made = now.wall.unixSeconds
        var letters: [CourierEnvelope] = []
        drops.onLetter = {
            letters.append($0)
            return true
        }
        let tag = Hex.encode(CourierTag.tag(for: own, day: CourierEnvelope.day(at: now.wall)))
        let worthless = try XCTUnwrap(
            VerifiedEvent.signed(
                kind: EventKind.courierDrop, tags: [["x", tag]], content: "", createdAt: made - 3,
                key: .generate(using: &random), using: &random))
        let mail = CourierEnvelope(
            recipientTag: try XCTUnwrap(Hex.decode(tag)),
            expiry: WallTime(milliseconds: now.wall.milliseconds + 1_000), ciphertext: [1])
        let past = WallTime(milliseconds: now.wall.milliseconds - 3_600_000)
        let letter = try XCTUnwrap(Courier.drop(of: mail, at: past, using: &random))
        func say(_ text: String) {
            client.received(Array(text.utf8), on: socket, at: now)
            settle()
        }
        func tell(_ event: VerifiedEvent, under id: String) {
            say("[\"EVENT\",\"\(id)\",\(String(decoding: event.event.json(), as: UTF8.self))]")
        }
        for _ in 0..<100 { tell(worthless, under: "bridge-courier-drops") }
        say("[\"EOSE\",\"bridge-courier-drops\"]")
        XCTAssertEqual(requests.count, 2)
        XCTAssertTrue(requests[1].hasPrefix("[\"REQ\",\"bridge-courier-drops-older\""), requests[1])
        XCTAssertTrue(requests[1].contains("\"until\":\(made - 3)"), requests[1])
        for _ in 0..<3 { tell(worthless, under: "bridge-courier-drops-older") }
        tell(letter, under: "bridge-courier-drops-older")
        say("[\"EOSE\",\"bridge-courier-drops-older\"]")
        XCTAssertEqual(letters, [mail])
        XCTAssertEqual(requests[2], "[\"CLOSE\",\"bridge-courier-drops-older\"]")
        tell(letter, under: "bridge-courier-drops-older-2")
        say("[\"EOSE\",\"bridge-courier-drops-older-2\"]")
        XCTAssertEqual(requests.count, 5, "it has nothing older")
        XCTAssertEqual(letters, [mail])
    }
}

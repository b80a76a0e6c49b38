import Basics
import Crypto
import XCTest

@testable import Nostr

/// A relay client in virtual time. The test plays the relays: it sees what is dialled and sent, and answers.
final class ClientHarness {
    static let relayA = url("wss://a.example.com")
    static let relayB = url("wss://b.example.com")

    /// Two connected relays with the channel `u4pruyd` subscribed as `s`.
    static func channel() -> ClientHarness {
        let harness = ClientHarness(defaults: [relayA, relayB])
        harness.open(relayA)
        harness.open(relayB)
        harness.subscribe("s", to: relayA, relayB)
        _ = harness.takeSent()
        return harness
    }

    static func url(_ text: String) -> NostrRelayURL {
        guard let url = NostrRelayURL(text) else { preconditionFailure("a test's own address") }
        return url
    }

    let client: NostrClient
    private(set) var now: Now
    var random = SeededRandom(seed: 7)
    let key: NostrSecretKey
    private var sockets: [NostrRelayURL: NostrSocketID] = [:]

    /// Relays answer pings at once.
    var answersPings = true

    // What came out, in order; tests clear what they have looked at.
    var dials: [(relay: NostrRelayURL, at: Instant)] = []
    var closes: [(relay: NostrRelayURL, code: UInt16)] = []
    var sent: [(relay: NostrRelayURL, text: String, at: Instant)] = []
    var pings: [NostrRelayURL] = []
    var reading: [Bool] = []
    var events: [(event: VerifiedEvent, subscription: String)] = []
    var loads: [(subscription: String, at: Instant)] = []
    var extents: [StoredExtent] = []
    var published: [(id: PublicationID, outcome: PublicationOutcome)] = []
    var asked: [NostrRelayURL] = []
    var states: [(relay: NostrRelayURL, isConnected: Bool)] = []

    init(
        defaults: [NostrRelayURL] = [], configuration: NostrClient.Configuration = .init(), seed: UInt64 = 1,
        gate: NetworkGate = .open
    ) {
        now = Now(monotonic: Instant(nanoseconds: 1_000), wall: WallTime(milliseconds: 1_700_000_000_000))
        key = NostrSecretKey.generate(using: &random)
        client = NostrClient(
            defaultRelays: defaults, configuration: configuration, random: SeededRandom(seed: seed))
        client.setGate(gate, at: now)
        drain()
    }

    /// Carries out every effect.
    func drain() {
        while let effect = client.nextEffect() {
            switch effect {
            case .dial(let socket):
                XCTAssertNil(sockets[socket.relay], "one socket at most")
                sockets[socket.relay] = socket
                dials.append((socket.relay, now.monotonic))
            case .close(let socket, let code):
                XCTAssertEqual(sockets[socket.relay], socket)
                sockets[socket.relay] = nil
                closes.append((socket.relay, code))
            case .send(let bytes, let socket):
                XCTAssertEqual(sockets[socket.relay], socket, "nothing is written to a socket that is gone")
                sent.append((socket.relay, String(decoding: bytes, as: UTF8.self), now.monotonic))
            case .ping(let socket):
                pings.append(socket.relay)
                if answersPings { client.heard(on: socket, at: now) }
            case .setReading(let isOn, _): reading.append(isOn)
            case .event(let event, let subscription): events.append((event, subscription))
            case .endOfStored(let subscription, let extent):
                loads.append((subscription, now.monotonic))
                extents.append(extent)
            case .published(let id, let outcome): published.append((id, outcome))
            case .relayStateChanged(let relay, let isConnected): states.append((relay, isConnected))
            case .fetchInformation(let relay): asked.append(relay)
            }
        }
    }

    /// Moves time forward, serving every deadline on the way.
    func advance(_ span: Interval, file: StaticString = #filePath, line: UInt = #line) {
        let end = now.monotonic + span
        var turns = 0
        while let deadline = client.nextDeadline, deadline <= end {
            move(to: max(deadline, now.monotonic))
            client.timeout(at: now)
            drain()
            turns += 1
            guard turns < 100_000 else { return XCTFail("a deadline that stays due", file: file, line: line) }
        }
        move(to: end)
    }

    /// Moves time forward until all these relays have been dialled anew; returns when the last of them was.
    func advanceToDial(_ relays: NostrRelayURL..., file: StaticString = #filePath, line: UInt = #line) -> Instant {
        let known = dials.count
        while let deadline = client.nextDeadline, deadline <= now.monotonic + .hours(2) {
            move(to: max(deadline, now.monotonic))
            client.timeout(at: now)
            drain()
            if Set(dials[known...].map(\.relay)).isSuperset(of: relays) { return now.monotonic }
        }
        XCTFail("not dialled", file: file, line: line)
        return now.monotonic
    }

    /// Moves time forward without serving anything.
    func move(to instant: Instant) { now = now.advanced(by: instant - now.monotonic) }

    func setClockBack(bySeconds seconds: Int64) {
        now.wall = WallTime(milliseconds: UInt64(Int64(now.wall.milliseconds) - seconds * 1_000))
    }

    func perform(_ body: (NostrClient, Now) -> Void) {
        body(client, now)
        drain()
    }

    /// Ends all connections and dials anew.
    func reconnect() {
        perform { $0.setGate(.closed, at: $1) }
        perform { $0.setGate(.open, at: $1) }
    }

    // MARK: The relays' side

    func socket(_ relay: NostrRelayURL) -> NostrSocketID? { sockets[relay] }

    func open(_ relay: NostrRelayURL, file: StaticString = #filePath, line: UInt = #line) {
        guard let socket = sockets[relay] else { return XCTFail("\(relay) is not dialled", file: file, line: line) }
        perform { $0.relayOpened(socket, at: $1) }
    }

    func fail(
        _ relay: NostrRelayURL, _ failure: RelayFailure = .unreachable, file: StaticString = #filePath,
        line: UInt = #line
    ) {
        guard let socket = sockets.removeValue(forKey: relay) else {
            return XCTFail("\(relay) is not dialled", file: file, line: line)
        }
        perform { $0.relayClosed(socket, failure, at: $1) }
    }

    func say(_ text: String, from relay: NostrRelayURL) { say([UInt8](text.utf8), from: relay) }

    func say(_ bytes: [UInt8], from relay: NostrRelayURL) {
        guard let socket = sockets[relay] else { return }
        perform { $0.received(bytes, on: socket, at: $1) }
    }

    func deliver(_ event: NostrEvent, under subscription: String, from relay: NostrRelayURL) {
        say("[\"EVENT\",\"\(subscription)\",\(String(decoding: event.json(), as: UTF8.self))]", from: relay)
    }

    func answer(_ event: VerifiedEvent, _ isAccepted: Bool, _ message: String = "", from relay: NostrRelayURL) {
        say("[\"OK\",\"\(event.id.hex)\",\(isAccepted),\"\(message)\"]", from: relay)
    }

    // MARK: What tests ask

    func takeSent(to relay: NostrRelayURL? = nil) -> [String] {
        let texts = sent.filter { relay == nil || $0.relay == relay }.map(\.text)
        sent.removeAll { relay == nil || $0.relay == relay }
        return texts
    }

    func status(_ relay: NostrRelayURL) -> NostrRelayStatus? { client.relays(at: now).first { $0.url == relay } }

    /// A fresh event of a channel, `age` seconds old.
    func event(
        _ text: String = "hello", geohash: String = "u4pruyd", kind: Int = 20_000, age: Int64 = 0,
        extraTags: [[String]] = []
    ) -> VerifiedEvent {
        let event = VerifiedEvent.signed(
            kind: kind, tags: [["g", geohash]] + extraTags, content: text, createdAt: now.wall.unixSeconds - age,
            key: key, using: &random)
        guard let event else { preconditionFailure("a test's own event") }
        return event
    }

    /// The filter of a location channel (chapter 05 §5.3).
    func channelFilter(_ geohash: String = "u4pruyd") -> NostrFilter {
        NostrFilter(
            kinds: [20_000, 20_001], tags: ["g": [geohash]], since: now.wall.unixSeconds - 3_600, limit: 200)
    }

    func subscribe(_ id: String, _ filter: NostrFilter? = nil, to relays: NostrRelayURL...) {
        perform { $0.subscribe(id, filter ?? channelFilter(), to: .listed(relays), at: $1) }
    }
}

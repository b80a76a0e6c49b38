import Basics
import Gateway
import Nostr
import TestSupport
import Wire
import XCTest

/// What a case of kind loop or rate does. Such cases carry no input: their names say it in words, as in "9 offline
/// deposits from one peer" or "radio first, then relay copy and deposit".
struct GatewayStory: Equatable {
    enum Step: Equatable {
        /// Carriers for relays, addressed to us by so many peers in turn.
        case deposit(count: Int, peers: Int)
        /// The same, but addressed to everybody.
        case stray
        /// A gateway's carrier, heard on the mesh.
        case heard
        case relayed(count: Int)
        case pause(seconds: Int)
        case reconnected
    }

    private(set) var steps: [Step] = []
    private(set) var isOffline = false
    /// Goes on from where the case before ended.
    private(set) var goesOn = false

    private static let numbers = [
        "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    ]
    private static let units = [
        "s": 1, "second": 1, "seconds": 1, "minute": 60, "minutes": 60, "min": 60, "h": 3_600, "hour": 3_600,
        "hours": 3_600,
    ]
    private static let relayWords: Set = ["echo", "copy", "copies", "event", "events", "first", "message", "messages"]

    /// - Throws: where the case's name says nothing to do, rather than to pass for nothing.
    init(of vector: VectorCase) throws {
        self.init(vector.name, label: vector.kind)
        guard !steps.isEmpty else { throw VectorError.malformed("the name says nothing to do") }
    }

    /// - Parameter label: the case's kind, which its name may begin with.
    init(_ text: String, label: String) {
        var words = text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init)
        if words.first?.hasPrefix(label.lowercased() + "-") ?? false { words.removeFirst() }
        var number: Int?
        for (index, word) in words.enumerated() {
            let next = index + 1 < words.count ? words[index + 1] : ""
            let previous = index > 0 ? words[index - 1] : ""
            if let value = Int(word) ?? Self.numbers[word] {
                number = value
                continue
            }
            if let unit = Self.units[word], let value = number {
                let pause = Step.pause(seconds: value * unit)
                if next == "later" { steps.insert(pause, at: max(steps.count - 1, 0)) }
                if words.prefix(max(index - 1, 0)).last == "after" { steps.append(pause) }
                number = nil
                continue
            }
            switch word {
            case "offline": isOffline = true
            case "reconnect", "reconnects", "reconnected": steps.append(.reconnected)
            case "then" where steps.isEmpty: goesOn = true
            case "deposit", "deposits":
                steps.append(.deposit(count: number ?? 1, peers: 1))
                number = nil
            case "peer", "peers", "depositor", "depositors":
                if let peers = number, case .deposit(let count, _) = steps.last {
                    steps[steps.count - 1] = .deposit(count: count, peers: max(peers, 1))
                }
                number = nil
            case "twice": repeatLast(2)
            case "times": repeatLast(number ?? 1)
            case "again": if let last = steps.last { steps.append(last) }
            case "relay" where Self.relayWords.contains(next):
                steps.append(.relayed(count: number ?? 1))
                number = nil
            case "echo" where previous != "relay": steps.append(.relayed(count: 1))
            case "learned", "heard": steps.append(.heard)
            case "radio" where next == "first" || next == "copy", "fromgateway", "frombridge": steps.append(.heard)
            case "togateway", "tobridge": if previous == "broadcast" || next == "broadcast" { steps.append(.stray) }
            default: break
            }
        }
        // What was heard can only be told from what it keeps from happening.
        if steps == [.heard] { steps += [.deposit(count: 1, peers: 1), .relayed(count: 1)] }
    }

    private mutating func repeatLast(_ times: Int) {
        switch steps.last {
        case .deposit(let count, let peers): steps[steps.count - 1] = .deposit(count: count * times, peers: peers)
        case .relayed(let count): steps[steps.count - 1] = .relayed(count: count * times)
        default: break
        }
    }

    /// With the number of deposits given apart.
    func depositing(_ count: Int) -> GatewayStory {
        var story = self
        story.steps = steps.map { step in
            if case .deposit(_, let peers) = step { .deposit(count: count, peers: peers) } else { step }
        }
        return story
    }
}

extension Rig {
    enum Place {
        case channel(String)
        case cell(String)
    }

    /// Plays a story with an event for each carrier, spread over somewhat less than a minute.
    ///
    /// - Parameter nextEvent: fresh events, or one and the same.
    func play(_ story: GatewayStory, in place: Place, _ nextEvent: () -> VerifiedEvent) {
        for step in story.steps {
            switch step {
            case .deposit(let count, let peers):
                for number in 0..<count {
                    deposit(nextEvent(), in: place, from: peer(number % peers, of: story))
                    run(.milliseconds(55_000 / max(count, 1)))
                }
            case .stray: receive(carrier(of: nextEvent(), in: place, isToUs: true), from: .alice)
            case .heard: receive(carrier(of: nextEvent(), in: place, isToUs: false))
            case .relayed(let count):
                for _ in 0..<count {
                    switch place {
                    case .channel(let geohash): relay(nextEvent(), "geo-\(geohash)")
                    case .cell: relayBridge(nextEvent())
                    }
                    run(.milliseconds(55_000 / max(count, 1)))
                }
                run(.seconds(2))
            case .pause(let seconds): run(.seconds(seconds))
            case .reconnected: setRelays(true)
            }
        }
    }

    /// Those of a story that goes on are not those before.
    private func peer(_ number: Int, of story: GatewayStory) -> PeerID {
        PeerID(value: (story.goesOn ? 0x2000 : 0x1000) + UInt64(number))
    }

    private func deposit(_ event: VerifiedEvent, in place: Place, from depositor: PeerID) {
        receive(carrier(of: event, in: place, isToUs: true), addressedToUs: true, from: depositor)
    }

    private func carrier(of event: VerifiedEvent, in place: Place, isToUs: Bool) -> NostrCarrier {
        switch place {
        case .channel(let geohash): event.carrier(isToUs ? .toGateway : .fromGateway, geohash)
        case .cell(let cell): event.carrier(isToUs ? .toBridge : .fromBridge, cell)
        }
    }
}

extension Rig {
    /// What a case of kind loop or rate comes to, as far as it says.
    /// - Parameter key: under which the case has its count of rebroadcasts.
    func checkTotals(of service: GatewayStatus.Service, rebroadcasts key: String, _ vector: VectorCase) throws {
        if let count = try vector.optionalInt("published") { XCTAssertEqual(published.count, count, vector.name) }
        if let queued = try vector.optionalInt("queued") {
            XCTAssertEqual(service.queuedDeposits.used, queued, vector.name)
        }
        if let count = try vector.optionalInt(key) { XCTAssertEqual(broadcasts.count, count, vector.name) }
    }
}

import Basics
import Crypto
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Somebody who signs events, from a small number.
struct Author {
    let key: NostrSecretKey

    init(_ number: UInt8) throws {
        key = try XCTUnwrap(NostrSecretKey([UInt8](repeating: 0, count: 31) + [number]))
    }

    func event(
        kind: Int = EventKind.channelMessage, tags: [[String]], _ content: String = "hi", at time: Int64 = Clock.start
    ) -> VerifiedEvent {
        var random = SeededRandom(seed: 7)
        guard
            let event = VerifiedEvent.signed(
                kind: kind, tags: tags, content: content, createdAt: time, key: key, using: &random)
        else { fatalError("a test event breaks the limits") }
        return event
    }

    func channelMessage(_ content: String = "hi", in geohash: String = "u4pru", at time: Int64 = Clock.start)
        -> VerifiedEvent
    {
        event(tags: [["g", geohash], ["n", "zed"]], content, at: time)
    }

    func bridgeMessage(
        _ content: String = "hi", in cell: String = "u4pruy", at time: Int64 = Clock.start,
        radio: (sender: PeerID, time: WallTime)? = nil
    ) -> VerifiedEvent {
        var tags = [["r", cell], ["n", "zed"]]
        if let radio {
            let id = StableMessageID.make(sender: radio.sender, timestamp: radio.time, content: content)
            tags.append(["m", id, radio.sender.hex, String(radio.time.milliseconds)])
        }
        return event(tags: tags, content, at: time)
    }

    func presence(in cell: String = "u4pruy", at time: Int64 = Clock.start) -> VerifiedEvent {
        event(kind: EventKind.presence, tags: [["r", cell]], "", at: time)
    }
}

enum Clock {
    static let start: Int64 = 1_750_000_000
    static func now(unix: Int64 = start) -> Now {
        Now(monotonic: Instant(nanoseconds: 5_000_000_000), wall: WallTime(milliseconds: UInt64(unix) * 1_000))
    }
}

extension VerifiedEvent {
    func carrier(_ direction: NostrCarrier.Direction, _ geohash: String) -> NostrCarrier {
        NostrCarrier(direction: direction, geohash: geohash, event: json())
    }

    /// The same event with a signature that does not verify.
    var forged: NostrEvent {
        var event = event
        var digits = Array(event.sig ?? "")
        digits[7] = digits[7] == "0" ? "1" : "0"
        event.sig = String(digits)
        return event
    }
}

extension NostrCarrier {
    init(_ direction: Direction, _ geohash: String, _ event: NostrEvent) {
        self.init(direction: direction, geohash: geohash, event: event.json())
    }
}

extension PeerID {
    static let alice = PeerID(value: 0xa11c_e000_0000_0001)
    static let bob = PeerID(value: 0xb0b0_0000_0000_0002)
    static let us = PeerID(value: 0x0011_2233_4455_6677)
}

/// A gateway in virtual time, with everything it wanted done.
final class Rig {
    let gateway: Gateway
    var now: Now
    var published: [(event: VerifiedEvent, geohash: String)] = []
    var broadcasts: [NostrCarrier] = []
    var deposited: [(carrier: NostrCarrier, to: PeerID)] = []
    var subscribed: [GatewaySubscription] = []
    var unsubscribed: [String] = []
    var advertised: [GatewayAdvertisement] = []
    var shown: [GatewayMessage] = []
    var retracted: [EventID] = []
    /// Called for each broadcast, to carry it to other nodes.
    var onBroadcast: (NostrCarrier) -> Void = { _ in }

    static let seed = DeviceSeed([UInt8](0..<32))

    init(
        _ configuration: GatewayConfiguration = .reference(), seed: DeviceSeed? = Rig.seed, random: UInt64 = 1,
        relays: Bool = true, start: Bool = true, at now: Now = Clock.now()
    ) {
        self.now = now
        gateway = Gateway(configuration: configuration, seed: seed, random: SeededRandom(seed: random))
        guard start else { return }
        gateway.setClockTrusted(true, at: now)
        gateway.start(at: now)
        if relays { gateway.relayConnectivityChanged(true, at: now) }
        drain()
    }

    func drain() {
        while let effect = gateway.nextEffect() {
            switch effect {
            case .publish(let event, let geohash): published.append((event, geohash))
            case .broadcast(let carrier):
                broadcasts.append(carrier)
                onBroadcast(carrier)
            case .deposit(let carrier, let to): deposited.append((carrier, to))
            case .subscribe(let subscription): subscribed.append(subscription)
            case .unsubscribe(let id): unsubscribed.append(id)
            case .advertise(let advertisement): advertised.append(advertisement)
            case .show(let message): shown.append(message)
            case .retract(let id): retracted.append(id)
            }
        }
    }

    /// Runs every timer that falls due up to `span` from now.
    func run(_ span: Interval) {
        let end = now.advanced(by: span)
        while let due = gateway.nextDeadline, due <= end.monotonic {
            now = now.advanced(by: max(.zero, due - now.monotonic))
            gateway.timeout(at: now)
            drain()
        }
        now = end
    }

    /// The hold of everything pending ends, on a wall clock that stands still.
    func holdPasses() {
        now.monotonic = now.monotonic + GatewayLimits.longestHold
        gateway.timeout(at: now)
        drain()
    }

    func receive(_ carrier: NostrCarrier, addressedToUs: Bool = false, from depositor: PeerID? = nil) {
        gateway.carrierReceived(carrier, addressedToUs: addressedToUs, depositor: depositor, at: now)
        drain()
    }

    func deposit(_ event: VerifiedEvent, in geohash: String = "u4pru", from depositor: PeerID = .alice) {
        receive(event.carrier(.toGateway, geohash), addressedToUs: true, from: depositor)
    }

    func bridgeDeposit(_ event: VerifiedEvent, in cell: String = "u4pruy", from depositor: PeerID = .alice) {
        receive(event.carrier(.toBridge, cell), addressedToUs: true, from: depositor)
    }

    func relay(_ event: VerifiedEvent, _ subscription: String = "geo-u4pru") {
        gateway.relayEvent(event, subscription: subscription, at: now)
        drain()
    }

    func relayBridge(_ event: VerifiedEvent) { relay(event, "bridge-rendezvous") }

    func radioSeen(_ stableID: String) {
        gateway.radioSeen(stableID: stableID, at: now)
        drain()
    }

    func setRelays(_ connected: Bool) {
        gateway.relayConnectivityChanged(connected, at: now)
        drain()
    }

    var counters: GatewayCounters { gateway.counters }
    var status: GatewayStatus { gateway.status(at: now) }
}

extension GatewayConfiguration {
    /// All jobs in cell u4pruy and channel u4pru, without the echo of uplinks, as the phones' own gateway works.
    static func reference(
        jobs: Jobs = .all, echo: Bool = false, channels: [String] = ["u4pru"], cell: String? = "u4pruy",
        extraCells: [String] = [], presence: Bool = false
    ) -> GatewayConfiguration {
        GatewayConfiguration(
            jobs: jobs, echoesUplinks: echo, channels: channels, cell: cell.flatMap { RendezvousCell($0) },
            extraCells: extraCells.compactMap { RendezvousCell($0) }, publishesPresence: presence)
    }
}

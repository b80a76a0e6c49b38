import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Two parties over a channel that loses, repeats, bends, delays and invents; whatever it does, nothing is delivered
/// that was not sent, nothing twice, and when it calms down they can talk.
final class SessionChaosTests: XCTestCase {
    private enum Kind { case handshake, transport }
    private struct Flight {
        let to: Int
        let kind: Kind
        let bytes: [UInt8]
        let due: Instant
    }

    private final class Channel {
        var parties: [SessionParty]
        var random: SeededRandom
        var flights: [Flight] = []
        var recorded: [Flight] = []
        var isCalm = false
        var now: Instant
        var delivered: [[UInt8]: Int] = [:]
        var sent: Set<[UInt8]> = []
        var starts = 0

        init(seed: UInt64) {
            let (low, high) = SessionParty.pair(seed: seed)
            parties = [low, high]
            random = SeededRandom(seed: seed)
            now = low.now
        }

        func other(_ index: Int) -> SessionParty { parties[1 - index] }

        func put(_ bytes: [UInt8], _ kind: Kind, to index: Int) {
            if kind == .handshake, bytes.count == 32 { starts += 1 }
            let flight = Flight(
                to: index, kind: kind, bytes: bytes,
                due: now + .milliseconds(isCalm ? 20 : Int.random(in: 5...1_500, using: &random)))
            recorded.append(flight)
            if isCalm { return flights.append(flight) }
            switch Int.random(in: 0..<10, using: &random) {
            case 0: break
            case 1: flights += [flight, Flight(to: index, kind: kind, bytes: bytes, due: flight.due + .seconds(2))]
            case 2:
                var bent = bytes
                let position = Int.random(in: bent.indices, using: &random)
                bent[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                flights.append(Flight(to: index, kind: kind, bytes: bent, due: flight.due))
            default: flights.append(flight)
            }
        }

        func step(by span: Interval) {
            now = now + span
            for index in 0..<2 {
                for message in parties[index].advance(by: span) { put(message, .handshake, to: 1 - index) }
            }
            let due = flights.filter { $0.due <= now }
            flights.removeAll { $0.due <= now }
            for flight in due { deliver(flight) }
            // Time within a party moves only by `advance`.
            XCTAssertEqual(parties[0].now, now)
        }

        private func deliver(_ flight: Flight) {
            let (party, peer) = (parties[flight.to], other(flight.to))
            switch flight.kind {
            case .handshake:
                if let answer = party.receive(flight.bytes, from: peer.id) {
                    put(answer, .handshake, to: 1 - flight.to)
                }
            case .transport:
                if let plaintext = party.decrypt(flight.bytes, from: peer.id) { delivered[plaintext, default: 0] += 1 }
            }
            if let session = party.manager[peer.id]?.session {
                XCTAssertEqual(session.remoteKey, peer.identity.publicKey)
            }
        }

        /// Whether a message gets through each way at this moment.
        func talks() -> Bool {
            (0..<2).allSatisfy { index in
                let message = parties[index].encrypt([7], to: other(index).id)
                return message.flatMap { other(index).decrypt($0, from: parties[index].id) } == [7]
            }
        }

        func act() {
            let index = Int.random(in: 0..<2, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                if let first = parties[index].start(with: other(index).id) { put(first, .handshake, to: 1 - index) }
            case 1:
                if let old = recorded.randomElement(using: &random) {
                    flights.append(Flight(to: old.to, kind: old.kind, bytes: old.bytes, due: now))
                }
            case 2:
                let length = [32, 64, 96, 40].randomElement(using: &random) ?? 32
                let kind: Kind = length == 40 ? .transport : .handshake
                flights.append(Flight(to: index, kind: kind, bytes: random.bytes(length), due: now))
            default:
                let plaintext = random.bytes(12)
                if let message = parties[index].encrypt(plaintext, to: other(index).id) {
                    sent.insert(plaintext)
                    put(message, .transport, to: 1 - index)
                }
            }
        }
    }

    func testNothingForgedNothingTwiceAndTalkWhenItCalmsDown() {
        var deliveries = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            let channel = Channel(seed: seed)
            for _ in 0..<600 {
                channel.act()
                channel.step(by: .milliseconds(250))
            }
            for (plaintext, count) in channel.delivered {
                XCTAssertEqual(count, 1, "seed \(seed)")
                XCTAssertTrue(channel.sent.contains(plaintext), "seed \(seed)")
            }
            channel.isCalm = true
            // What still flies may yet do harm, and rate limits need a minute to forget.
            for _ in 0..<400 { channel.step(by: .milliseconds(250)) }
            if !channel.talks() {
                // Either may have to ask once more, as the next announce or message would have it.
                if let first = channel.parties[0].start(with: channel.parties[1].id) {
                    channel.put(first, .handshake, to: 1)
                }
                for _ in 0..<120 { channel.step(by: .milliseconds(250)) }
            }
            XCTAssertTrue(channel.talks(), "seed \(seed)")
            deliveries += channel.delivered.count
        }
        XCTAssertGreaterThan(deliveries, 2_000, "the channel is bad, not dead")
    }
}

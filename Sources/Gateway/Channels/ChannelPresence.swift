import Basics
import Crypto
import Nostr

/// Tells the coarse location channels around this place that somebody is here (chapter 05 §9.2). Off unless the
/// operator asks for it: it counts the box as a person.
struct ChannelPresence {
    /// Region, province and city around the place; never finer.
    let cells: [String]
    private let seed: DeviceSeed
    private var nextBeat: Instant?
    private var delayed = DeadlineQueue<String>()

    /// - Parameter cell: the place.
    init(cell: RendezvousCell, seed: DeviceSeed) {
        cells = [ChannelLevel.region, .province, .city].map { String(cell.geohash.prefix($0.length)) }
        self.seed = seed
    }

    var nextDeadline: Instant? { [nextBeat, delayed.nextDeadline].compactMap { $0 }.min() }

    /// The first beat follows after one full delay.
    mutating func start(_ surroundings: inout GatewaySurroundings, at now: Now) {
        nextBeat = now.monotonic + interval(GatewayLimits.presenceBeat, using: &surroundings.random)
    }

    /// Nothing follows any more, not even what a beat has promised.
    mutating func stop() {
        nextBeat = nil
        delayed = DeadlineQueue()
    }

    mutating func timeout(_ surroundings: inout GatewaySurroundings, at now: Now) {
        if let due = nextBeat, due <= now.monotonic {
            // Without a relay the beat is left out, not put off: nobody is told what was some time ago.
            if surroundings.relayConnected {
                for cell in cells {
                    let delay = interval(GatewayLimits.presenceSpread, using: &surroundings.random)
                    delayed.add(cell, due: now.monotonic + delay)
                }
            }
            nextBeat = now.monotonic + interval(GatewayLimits.presenceBeat, using: &surroundings.random)
        }
        while let cell = delayed.takeDue(at: now.monotonic) {
            guard surroundings.relayConnected,
                let event = VerifiedEvent.signed(
                    .channelPresence(geohash: cell), createdAt: now.wall.unixSeconds, key: seed.channel(cell),
                    using: &surroundings.random)
            else { continue }
            surroundings.effects.append(.publish(event, geohash: cell))
        }
    }

    private func interval(
        _ range: ClosedRange<Int>, using random: inout some RandomNumberGenerator
    ) -> Interval {
        .milliseconds(Int.random(in: range, using: &random))
    }
}

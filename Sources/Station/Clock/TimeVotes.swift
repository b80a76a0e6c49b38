import Basics
import Wire

/// Milliseconds between a clock and the running time, which is how every reading of a clock is kept: so it ages with
/// the time that passes.
typealias ClockOffset = Int64

extension Array where Element == ClockOffset {
    /// The median of the largest group within ten seconds, if it has the quorum and is more than half of all.
    func agreed(quorum: Int) -> ClockOffset? {
        let votes = sorted()
        var best = 0..<0
        var first = 0
        for last in votes.indices {
            while votes[last] - votes[first] > ClockLimits.agreement { first += 1 }
            if last + 1 - first > best.count { best = first..<(last + 1) }
        }
        guard best.count >= quorum, best.count * 2 > count, !best.isEmpty else { return nil }
        return votes[best].median
    }
}

extension RandomAccessCollection where Element == ClockOffset, Index == Int {
    /// Of a sorted collection that is not empty: the middle one, or the mean of the middle two.
    fileprivate var median: ClockOffset {
        let high = self[startIndex + count / 2]
        let low = self[startIndex + (count - 1) / 2]
        return low + (high - low) / 2
    }
}

/// What the clocks of peers say, by their verified announces: one vote each, a few for each link. Whoever is behind a
/// link can have as many names as they like, and replay what others said long ago.
struct PeerTimes {
    private struct Sample {
        var offset: ClockOffset
        var timestamp: WallTime
        var link: LinkID
        /// Running time.
        var heard: Instant
        let since: Instant
    }

    private var samples: [PeerID: Sample] = [:]

    /// - Parameter running: running time.
    mutating func note(_ timestamp: WallTime, of peer: PeerID, on link: LinkID, at running: Instant) {
        guard let offset = timestamp.offset(from: running) else { return }
        if var known = samples[peer], running - known.heard <= ClockLimits.peerSampleLife {
            // An announce of before, replayed or late, says nothing new.
            guard timestamp > known.timestamp else { return }
            known.offset = offset
            known.timestamp = timestamp
            known.link = link
            known.heard = running
            samples[peer] = known
            return
        }
        expire(at: running)
        guard samples.count < ClockLimits.peers,
            samples.values.lazy.filter({ $0.link == link }).count < ClockLimits.peersPerLink
        else { return }
        samples[peer] = Sample(offset: offset, timestamp: timestamp, link: link, heard: running, since: running)
    }

    mutating func forget(_ link: LinkID) { samples = samples.filter { $0.value.link != link } }

    private mutating func expire(at running: Instant) {
        samples = samples.filter { running - $0.value.heard <= ClockLimits.peerSampleLife }
    }

    /// The votes of those heard of longest on each link.
    func votes(at running: Instant) -> [ClockOffset] {
        let live = samples.filter { running - $0.value.heard <= ClockLimits.peerSampleLife }
        return Dictionary(grouping: live) { $0.value.link }.values.flatMap { group in
            group.sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
                .prefix(ClockLimits.votesPerLink).map(\.value.offset)
        }
    }
}

/// What the clocks of relays say: one vote each, by the `Date` of its last answer, or by what several authors dated
/// just now where it gives none.
struct RelayTimes {
    private struct Sample {
        var date: (offset: ClockOffset, heard: Instant)?
        var events: [(author: [UInt8], offset: ClockOffset, heard: Instant)] = []
    }

    private var samples: [String: Sample] = [:]

    /// - Parameters:
    ///   - date: of the answer's `Date` header, whole seconds.
    ///   - asked: running time when the question was sent.
    mutating func note(date: WallTime, of relay: String, asked: Instant, at running: Instant) {
        let delay = running - asked
        guard delay >= .zero, delay <= ClockLimits.slowestAnswer,
            let offset = date.offset(from: asked + Interval(nanoseconds: delay.nanoseconds / 2)), makeRoom(for: relay)
        else { return }
        samples[relay, default: Sample()].date = (offset + 500, running)
    }

    /// A verified event that a relay passed on while it was new, as far as it says.
    mutating func note(event createdAt: Int64, by author: [UInt8], of relay: String, at running: Instant) {
        let (milliseconds, overflows) = createdAt.multipliedReportingOverflow(by: 1_000)
        guard !overflows, createdAt > 0,
            let offset = WallTime(milliseconds: UInt64(milliseconds)).offset(from: running), makeRoom(for: relay)
        else { return }
        var events = samples[relay]?.events.filter { $0.author != author } ?? []
        if events.count >= ClockLimits.eventsPerRelay { events.removeFirst() }
        events.append((author, offset, running))
        samples[relay, default: Sample()].events = events
    }

    private mutating func makeRoom(for relay: String) -> Bool {
        samples[relay] != nil || samples.count < ClockLimits.relays
    }

    /// Forgets what all other relays said.
    mutating func keep(_ relays: Set<String>) { samples = samples.filter { relays.contains($0.key) } }

    func votes(at running: Instant) -> [ClockOffset] {
        func isLive(_ heard: Instant) -> Bool { running - heard <= ClockLimits.relaySampleLife }
        return samples.values.compactMap { sample in
            if let date = sample.date, isLive(date.heard) { return date.offset }
            let events = sample.events.filter { isLive($0.heard) }.map(\.offset).sorted()
            return events.count >= ClockLimits.eventAuthors ? events.median : nil
        }
    }
}

extension WallTime {
    /// Later than any clock is set, and far from where arithmetic ends: the year 3000.
    private static let latest: UInt64 = 32_503_680_000_000

    /// How far this clock is from the running time; `nil` for a time no clock shows.
    func offset(from running: Instant) -> ClockOffset? {
        guard milliseconds <= WallTime.latest else { return nil }
        return Int64(milliseconds) - running.nanoseconds / 1_000_000
    }
}

extension Instant {
    /// The time of a clock that is so far from the running time.
    func wall(_ offset: ClockOffset) -> WallTime {
        WallTime(milliseconds: UInt64(max(0, nanoseconds / 1_000_000 + offset)))
    }
}

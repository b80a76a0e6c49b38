import Basics

/// Times of accepted packets, for the announce rule and the scanner's duty rule (chapter 03 B17).
struct TrafficMonitor {
    private var times: [Instant] = []
    private var next = 0

    mutating func note(at now: Instant) {
        if times.count < MeshLimits.trafficSamples {
            times.append(now)
        } else {
            times[next] = now
            next = (next + 1) % times.count
        }
    }

    func hasTraffic(within span: Interval, at now: Instant) -> Bool {
        let span = min(span, MeshLimits.trafficSampleAge)
        return times.contains { now - $0 <= span }
    }
}

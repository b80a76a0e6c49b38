import Basics
import Nostr

/// State shared by the services of a gateway.
struct GatewaySurroundings {
    var relayConnected = false
    var display = MessageDisplay()
    var effects = Queue<GatewayEffect>()
    var random: any RandomNumberGenerator

    init(random: any RandomNumberGenerator) { self.random = random }
}

extension GatewaySurroundings {
    /// Publishes an accepted deposit, unless it waits for a relay, and counts what became of it.
    mutating func carryOut(_ accepted: AcceptedDeposit, counting outcomes: inout GatewayCounters.Outcomes) {
        if accepted.displacedAnother { outcomes.count(.displaced) }
        if accepted.isPublished {
            outcomes.count(.published)
            effects.append(.publish(accepted.event, geohash: accepted.geohash))
        } else {
            outcomes.count(.queued)
        }
    }

    /// Publishes what waited for a relay, and counts it.
    mutating func carryOut(_ flushed: FlushedDeposits, counting outcomes: inout GatewayCounters.Outcomes) {
        outcomes.count(.expired, UInt64(flushed.expired))
        outcomes.count(.repeated, UInt64(flushed.repeated))
        outcomes.count(.published, UInt64(flushed.publish.count))
        for deposit in flushed.publish {
            effects.append(.publish(deposit.event, geohash: deposit.geohash))
        }
    }
}

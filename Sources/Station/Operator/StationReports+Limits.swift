import Basics
import Gateway
import Mesh
import Nostr
import Vault

/// Every bound that traffic can reach, in one place.
extension Station {
    var limitReports: [LimitReport] {
        // What the box never does has no bound worth telling.
        (meshLimits + serviceLimits + mailLimits + relayLimits + storageLimits).filter { $0.limit > 0 }
    }

    private func limit(
        _ part: String, _ name: String, _ limit: Int, used: Int?, refused: UInt64? = nil
    ) -> LimitReport {
        LimitReport(part: part, name: name, limit: limit, used: used, refused: refused)
    }

    private func limit(
        _ part: String, _ name: String, _ use: GatewayStatus.Use, refused: UInt64? = nil
    ) -> LimitReport {
        limit(part, name, use.limit, used: use.used, refused: refused)
    }

    private var meshLimits: [LimitReport] {
        var limits: [LimitReport] = []
        mesh.measure { table, count, bound in
            limits.append(limit("mesh", Station.stableName("\(table)"), bound, used: count))
        }
        return limits
    }

    private var serviceLimits: [LimitReport] {
        let status = gateway.status(at: now)
        let counters = gateway.counters
        func limits(
            _ part: String, _ service: GatewayStatus.Service, _ deposits: GatewayCounters.Outcomes,
            _ downlinks: GatewayCounters.Outcomes
        ) -> [LimitReport] {
            [
                limit(part, "carriers_a_minute", service.carriers), limit(part, "bytes_a_minute", service.bytes),
                limit(part, "waiting_for_airtime", service.pendingDownlinks, refused: downlinks[.displaced]),
                limit(part, "waiting_for_a_relay", service.queuedDeposits, refused: deposits[.displaced]),
                limit(
                    part, "waiting_of_one_peer", GatewayLimits.queuedDepositsEach, used: nil,
                    refused: deposits[.depositorQueueFull]),
                limit(
                    part, "deposits_of_one_peer_a_minute", GatewayLimits.depositTokens, used: nil,
                    refused: deposits[.depositorLimit]),
            ]
        }
        return limits("gateway", status.channels, counters.channelDeposits, counters.channelDownlinks) + [
            limit(
                "gateway", "channels_in_use", GatewayLimits.demandedChannels,
                used: max(0, status.followedChannels.count - configuration.gateway.channels.count))
        ] + limits("bridge", status.bridge, counters.bridgeDeposits, counters.bridgeDownlinks) + [
            limit(
                "bridge", "events_of_relays_a_minute", GatewayLimits.inboundEvents, used: nil,
                refused: counters.bridgeDownlinks[.keyOrTotalLimit]),
            limit(
                "bridge", "signature_checks_in_a_burst", Int(GatewayLimits.verifications), used: nil,
                refused: counters.bridgeDownlinks[.verificationLimit]),
            limit("bridge", "people", GatewayLimits.participants, used: status.participants.count),
        ]
    }

    private var mailLimits: [LimitReport] {
        guard let courier else { return [] }
        let status = courier.status(at: now)
        let outcomes = courier.outcomes
        let quota = CourierLimits.gateway
        return [
            limit(
                "mail", "letters", quota.total, used: status.favorite.carried + status.verified.carried,
                refused: outcomes[.storeFull]),
            limit(
                "mail", "letters_of_verified_peers", quota.verified, used: status.verified.carried,
                refused: outcomes[.verifiedFull]),
            limit(
                "mail", "letters_of_one_peer", quota.perVerified, used: nil, refused: outcomes[.depositorQuota]),
            limit("mail", "letters_of_one_trusted_peer", quota.perFavorite, used: nil),
            limit(
                "mail", "sent_on_chance_in_a_burst", Int(CourierLimits.speculativeBurst), used: nil,
                refused: outcomes[.speculativeThrottled]),
            limit("mail", "fetched_and_undelivered", CourierLimits.undelivered, used: status.undelivered),
            limit("mail", "neighbours_watched", CourierLimits.watchedPeers, used: status.watchedPeers),
            limit("mail", "copies_published_at_once", CourierLimits.publicationsAtOnce, used: status.publishing),
        ]
    }

    private var relayLimits: [LimitReport] {
        let client = uplink.client
        return [
            limit(
                "relays", "subscriptions", NostrLimits.subscriptions, used: client.subscriptionIDs.count,
                refused: client.drops[.subscriptionRefused]),
            limit(
                "relays", "events_waiting", NostrLimits.pendingEvents, used: client.queuedEvents,
                refused: client.drops[.publicationOverflow]),
            limit(
                "relays", "kept_until_confirmed", NostrLimits.durablePublications,
                used: uplink.durable.publications.waiting),
        ]
    }

    private var storageLimits: [LimitReport] {
        BoxStores.all.map { limit("storage", Station.stableName($0.name), $0.records, used: vault.count(in: $0)) }
    }
}

import Basics
import Gateway

/// What the operator may know of letters: numbers, never who (chapter 06 §13).
extension Station {
    var mailReport: MailReport {
        let status = courier?.status(at: now)
        func tier(_ name: String, _ tier: CourierStatus.Tier?) -> MailReport.Tier {
            MailReport.Tier(
                name: name, carried: tier?.carried ?? 0, limit: tier?.limit ?? 0,
                oldestHours: tier?.oldestHours)
        }
        return MailReport(
            enabled: configuration.courier.isEnabled, working: status?.isOn ?? false,
            usingRelays: status?.isUsingRelays ?? false,
            tiers: [tier("trusted", status?.favorite), tier("verified", status?.verified)],
            atRelays: status?.published ?? 0, publishing: status?.publishing ?? 0,
            undelivered: status?.undelivered ?? 0, watched: status?.watchedPeers ?? 0,
            subscriptions: status?.subscriptions ?? 0, outcomes: named(courier?.outcomes.all ?? []))
    }

    var mailStatus: StatusReport.Mail {
        let report = mailReport
        return StatusReport.Mail(
            enabled: report.enabled, working: report.working, usingRelays: report.usingRelays,
            carried: report.tiers.reduce(0) { $0 + $1.carried }, limit: CourierLimits.gateway.total,
            atRelays: report.atRelays, undelivered: report.undelivered)
    }

    var mailAttention: [StatusReport.Attention] {
        guard let status = courier?.status(at: now), status.isOn, status.isVerifiedFull
        else { return [] }
        return [
            StatusReport.Attention(
                code: "mail_full", message: "There is no room for letters of people who are not trusted.",
                remedy: "Letters go when they are fetched, when a relay has a copy, or after a day. "
                    + "courier.trusted gives people you know room of their own.")
        ]
    }
}

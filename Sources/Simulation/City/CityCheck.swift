import Basics
import Crypto
import Gateway
import Messenger
import Wire

/// What must hold in a city whatever happens. Everything is counted from outside, beside the engines.
struct CityCheck {
    private(set) var violations: [String] = []
    private var shown: [Int: Interval] = [:]
    private var carried: [Int: [MailID: (depositor: NoisePublicKey, tier: CourierTier)]] = [:]
    private var quotas: [Int: CourierQuota] = [:]
    /// Bytes of speculative copies of the last hour, by node.
    private var flooded: [Int: [(at: Interval, bytes: Int)]] = [:]
    private(set) var busiestHour = 0
    private(set) var mostCarried = 0

    /// What speculative copies may take in any hour: the burst, and the steady rate (chapter 06 §6.4, and our budget).
    static let floodBytesAnHour =
        Int(CourierLimits.speculativeBurst) + Int(CourierLimits.speculativePerSecond) * 3_600
    private static let mostViolations = 20

    var deliveries: [Int: Interval] { shown }

    private mutating func report(_ text: String) {
        if violations.count < CityCheck.mostViolations { violations.append(text) }
    }

    mutating func expect(_ quota: CourierQuota, of node: Int) { quotas[node] = quota }

    // MARK: Letters

    mutating func shown(_ letter: Int, to node: Int, addressee: Int, at time: Interval) {
        if node != addressee { report("letter \(letter) was shown to \(node)") }
        if shown.updateValue(time, forKey: letter) != nil { report("letter \(letter) was shown twice") }
    }

    mutating func stored(_ record: OutboxRecord, of node: Int) {
        if Set(record.couriers).count != record.couriers.count
            || record.couriers.count > MessengerLimits.couriersPerMessage
        {
            report("phone \(node) gave a message to \(record.couriers.count) couriers")
        }
    }

    // MARK: Quotas

    mutating func kept(_ mail: CarriedEnvelope, at node: Int) {
        carried[node, default: [:]][mail.id] = (mail.depositor, mail.tier)
        guard let quota = quotas[node], let all = carried[node] else { return }
        mostCarried = max(mostCarried, all.count)
        if all.count > quota.total { report("node \(node) carries \(all.count) envelopes") }
        if all.values.count(where: { $0.tier == .verified }) > quota.verified {
            report("node \(node) carries too much of the merely verified")
        }
        let each = mail.tier == .favorite ? quota.perFavorite : quota.perVerified
        if all.values.count(where: { $0.depositor == mail.depositor }) > each {
            report("node \(node) carries too much of one depositor")
        }
    }

    mutating func forgot(_ id: MailID, at node: Int) { carried[node]?[id] = nil }

    // MARK: Airtime

    mutating func flooded(_ bytes: Int, by node: Int, at time: Interval) {
        var hour = flooded[node] ?? []
        hour.removeAll { time - $0.at > .hours(1) }
        hour.append((time, bytes))
        flooded[node] = hour
        let sum = hour.reduce(0) { $0 + $1.bytes }
        busiestHour = max(busiestHour, sum)
        if sum > CityCheck.floodBytesAnHour { report("node \(node) flooded \(sum) bytes in an hour") }
    }
}

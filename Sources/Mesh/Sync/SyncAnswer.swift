import Basics
import Wire

/// What of our store answers one request, in the order it goes out (chapter 04 §7.2).
public enum SyncAnswer {
    /// Where serving less than what was asked for helps nobody's radio but costs no peer anything.
    public struct Policy: Sendable {
        /// Milliseconds. A phone that receives an announce older than a minute drops everything its author said (T7).
        public var announceAge: UInt64
        /// Milliseconds; see T6.
        public var fragmentAge: UInt64
        /// Requesters without a types field (Android) drop messages whose author they do not know, so they get those
        /// only whose author's announce is in the same answer (§7.3).
        public var pairsMessages: Bool

        public static let gateway = Policy(
            announceAge: SyncLimits.announceStaleMilliseconds, fragmentAge: SyncLimits.fragmentServingMilliseconds,
            pairsMessages: true)
        public static let reference = Policy(
            announceAge: SyncLimits.announceMaxAgeMilliseconds, fragmentAge: SyncLimits.fragmentMaxAgeMilliseconds,
            pairsMessages: false)
    }

    public static func entries(
        for request: RequestSync, _ inventory: SyncInventory, policy: Policy = .gateway, at now: WallTime
    ) -> [GossipEntry] {
        let store = inventory.store
        let types = request.requestedTypes
        let known = request.filter.members()
        let since = request.since ?? WallTime(milliseconds: 0)
        let streams = request.fragmentFilter
        var answer: [GossipEntry] = []

        func offer(_ entry: GossipEntry, notBefore oldest: WallTime, honouring cursor: WallTime?) {
            guard entry.timestamp >= oldest, entry.timestamp >= cursor ?? oldest, !known.contains(entry.hash) else {
                return
            }
            answer.append(entry)
        }
        func offer(_ family: GossipFamily, age: UInt64, where isWanted: (GossipEntry) -> Bool = { _ in true }) {
            let oldest = now.cutoff(age: age)
            for entry in family.inOrder where isWanted(entry) { offer(entry, notBefore: oldest, honouring: since) }
        }

        let announcesSince = now.cutoff(age: policy.announceAge)
        if types.contains(.announce) {
            for entry in store.announces.inOrder { offer(entry, notBefore: announcesSince, honouring: nil) }
        }
        if types.contains(.message) {
            let isPaired = policy.pairsMessages && request.types == nil
            offer(store.messages, age: store.policy.messages.maxAge) { entry in
                !isPaired || store.announces[entry.sender].map { $0.timestamp >= announcesSince } ?? false
            }
        }
        if types.contains(.fragment) {
            let oldest = now.cutoff(age: policy.fragmentAge)
            for entry in store.fragments.inOrder {
                if let streams {
                    guard let stream = entry.fragmentStream, streams.contains(stream) else { continue }
                    offer(entry, notBefore: oldest, honouring: nil)
                } else {
                    offer(entry, notBefore: oldest, honouring: since)
                }
            }
        }
        if types.contains(.fileTransfer) { offer(store.files, age: store.policy.files.maxAge) }
        if types.contains(.groupMessage) { offer(store.groupMessages, age: store.policy.groupMessages.maxAge) }
        if types.contains(.prekeyBundle) {
            let oldest = now.cutoff(age: SyncLimits.prekeyMaxAgeMilliseconds)
            for entry in store.prekeys.inOrder { offer(entry, notBefore: oldest, honouring: nil) }
        }
        if types.contains(.boardPost) {
            for entry in inventory.board {
                offer(entry, notBefore: WallTime(milliseconds: 0), honouring: since)
            }
        }
        return answer
    }
}

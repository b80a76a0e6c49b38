import Basics
import Wire

/// Whether a packet may pass the clock as an answer to our sync request (chapter 04 §8, chapter 03 B3 rules 4 and 5).
/// The flag is easily set, so an answer must be of a type that sync carries, asked of the very neighbour it comes
/// from, and within the age that its type may have. A replayed goodbye, above all, must never get in this way.
enum SyncAcceptance {
    enum Verdict: Equatable {
        /// Near our clock, and no answer.
        case live
        case answer
        case refused(MeshDrop)
    }

    /// The header fields that matter.
    struct Claim {
        var type: MessageType
        var ttl: UInt8
        var isFlagged: Bool
        var timestamp: WallTime
        /// Has a recipient: a fragment of an answer that was too long for the link.
        var isDirected: Bool
    }

    /// - Parameter asked: types with an open request to the neighbour bound to the link; empty without a binding.
    static func judge(_ claim: Claim, asked: @autoclosure () -> SyncTypes, now: WallTime) -> Verdict {
        if claim.isFlagged { return judge(flagged: claim, asked: asked(), now: now) }
        if claim.timestamp.distance(to: now) <= MeshLimits.timestampSkewMilliseconds { return .live }
        // Android sets no flag. Its answers are known by their TTL, and are announces and messages.
        let isLegacyAnswer = claim.ttl == 0 && isWithinAge(legacy: claim, now: now) && asked().contains(claim.type)
        return isLegacyAnswer ? .answer : .refused(.clockSkew)
    }

    private static func judge(flagged claim: Claim, asked: SyncTypes, now: WallTime) -> Verdict {
        guard claim.ttl == 0, SyncRequestLog.answerable.contains(claim.type) else {
            return .refused(.syncAnswerRefused)
        }
        // Fragments may carry a long answer of any type.
        let isAsked = claim.type == .fragment ? !asked.isEmpty : asked.contains(claim.type)
        guard isAsked else { return .refused(.unaskedSyncAnswer) }
        guard !isAhead(claim, now: now) else { return .refused(.clockSkew) }
        let isFresh = maxAge(of: claim).map { !claim.timestamp.isOlder(thanMilliseconds: $0, at: now) } ?? true
        return isFresh ? .answer : .refused(.stale)
    }

    private static func isWithinAge(legacy claim: Claim, now: WallTime) -> Bool {
        guard !isAhead(claim, now: now) else { return false }
        switch claim.type {
        case .announce:
            return !claim.timestamp.isOlder(
                thanMilliseconds: SyncLimits.legacyAnnounceMaxAgeMilliseconds, at: now)
        case .message: return !claim.timestamp.isOlder(thanMilliseconds: SyncLimits.messageMaxAgeMilliseconds, at: now)
        default: return false
        }
    }

    private static func isAhead(_ claim: Claim, now: WallTime) -> Bool {
        claim.timestamp.isBeyond(now, byMilliseconds: MeshLimits.timestampSkewMilliseconds)
    }

    /// Milliseconds; nil for board posts, which carry an end of their own.
    private static func maxAge(of claim: Claim) -> UInt64? {
        switch claim.type {
        case .announce: SyncLimits.announceMaxAgeMilliseconds
        case .message: SyncLimits.messageMaxAgeMilliseconds
        // A fragment is as old as what it carries. Whether that is too old shows once it is put together.
        case .fragment: claim.isDirected ? nil : SyncLimits.fragmentMaxAgeMilliseconds
        case .fileTransfer: SyncLimits.fileMaxAgeMilliseconds
        case .groupMessage: SyncLimits.groupMessageMaxAgeMilliseconds
        case .prekeyBundle: SyncLimits.prekeyMaxAgeMilliseconds
        default: nil
        }
    }
}

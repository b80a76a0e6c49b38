import Basics
import Wire

/// What waits for wall time: tags, expiry, ages and the life of prekeys follow it, so that a wrong clock would make
/// letters that nobody finds, give up those that wait and lose those that come (chapter 06 §20 trap 1).
extension Messenger {
    /// Whether wall time can be believed, from now on.
    public func setClock(isGood: Bool, at now: Now) {
        guard isGood != isClockGood else { return }
        isClockGood = isGood
        guard isGood else { return }
        judgeAges(at: now)
        if offersPrekeys { desk?.start(at: now) }
        drainDesk(at: now)
        for envelope in heldMail {
            take(envelope, at: now)
            emit(.discardHeld(envelope))
        }
        heldMail.removeAll()
        for peer in outbox.peers { leaveWithOthers(peer, at: now) }
    }

    func judgeAges(at now: Now) {
        for (peer, entry) in outbox.date(at: now) { report(entry, to: peer, .failed(.expired)) }
    }

    /// Keeps what cannot be opened yet: whoever brought it need not have it any more.
    func hold(_ envelope: CourierEnvelope) -> Bool {
        guard let desk, desk.mayBeForUs(envelope) else { return false }
        guard !heldMail.contains(where: { $0.ciphertext == envelope.ciphertext }) else { return true }
        guard heldMail.count < MessengerLimits.heldMail else {
            drops.count(.noRoomForMail)
            return false
        }
        heldMail.append(envelope)
        emit(.store(.held(envelope)))
        return true
    }
}

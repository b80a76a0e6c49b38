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
        openHeldMail(at: now)
        for peer in outbox.peers { leaveWithOthers(peer, at: now) }
    }

    func judgeAges(at now: Now) {
        for (peer, entry) in outbox.date(at: now) { report(entry, to: peer, .failed(.expired)) }
    }

    /// What is sealed to a prekey that is not there stays until it expires: keys may come back with a backup.
    private func openHeldMail(at now: Now) {
        guard let desk else { return }
        heldMail = heldMail.filter { envelope in
            let isDone = desk.takeHeld(envelope, at: now) { trust.isBlocked($0.fingerprint) }
            drainDesk(at: now)
            if isDone { emit(.discardHeld(envelope)) }
            return !isDone
        }
    }

    /// Keeps what cannot be opened yet: whoever brought it need not have it any more.
    func hold(_ envelope: CourierEnvelope) -> Bool {
        guard let desk, desk.mayBeForUs(envelope) else { return false }
        // Whatever else differs is another letter: anybody can make it, and have it come first.
        let envelope = envelope.withCopies(1)
        guard !heldMail.contains(envelope) else { return true }
        if heldMail.count >= MessengerLimits.heldMail {
            // What may never open makes room for what does: anybody can seal to keys that nobody has.
            guard desk.hasKey(of: envelope), let locked = heldMail.firstIndex(where: { !desk.hasKey(of: $0) }) else {
                drops.count(.noRoomForMail)
                return false
            }
            emit(.discardHeld(heldMail.remove(at: locked)))
        }
        heldMail.append(envelope)
        emit(.store(.held(envelope)))
        return true
    }
}

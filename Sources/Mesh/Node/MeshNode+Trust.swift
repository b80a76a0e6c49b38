import Basics
import Crypto
import Wire

extension MeshNode {
    enum Authentication {
        case verified(VerifiedFrame)
        case unknownAuthor
        case forged
    }

    /// Verifies a packet's signature under the key bound to its sender: the live registry's, else the pinned one
    /// (chapter 02 §2.3). Our own packets, offered back by sync, verify under our own.
    /// - Parameter liveOnly: pinned identities do not count.
    func authenticate(_ arrival: Arrival, liveOnly: Bool = false) -> Authentication {
        guard let key = signingKey(of: arrival.sender, liveOnly: liveOnly) else { return .unknownAuthor }
        guard let verified = VerifiedFrame(verifying: arrival.frame, under: key, memory: memory) else {
            return .forged
        }
        return .verified(verified)
    }

    /// The key bound to a peer, ours included.
    func signingKey(of peer: PeerID, liveOnly: Bool = false) -> SigningPublicKey? {
        if peer == me { return identity.signing.publicKey }
        if let live = registry[peer] { return live.signingKey }
        return liveOnly ? nil : identities[peer]?.signingKey
    }

    /// The name a peer last announced.
    func nickname(of peer: PeerID) -> String? {
        if peer == me { return announcer.name }
        return registry[peer]?.nickname ?? identities[peer]?.nickname
    }

    // MARK: Advertisement

    /// What announces say from now on; a change announces at once (chapter 03 B19). Set bits and cell together.
    public func setAdvertisement(capabilities: Capabilities, bridgeCell: String?, at now: Now) {
        self.now = now
        announcer.advertise(capabilities, cell: bridgeCell, in: self)
    }

    /// Announces this node before long: what was said before may have borne a wrong time.
    public func announceSoon(at now: Now) {
        self.now = now
        if isRunning { announcer.announceSoon(in: self) }
    }

    public func setNickname(_ nickname: String, at now: Now) {
        self.now = now
        announcer.rename(nickname, in: self)
    }
}

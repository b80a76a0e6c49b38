import Wire

/// A frame whose signature was checked under the sender's bound key. Handlers of signed packet types take only this, so
/// that nothing can act on an unverified one (chapter 01 §6.3).
public struct VerifiedFrame: Sendable {
    /// The frame as received: what is relayed and archived.
    public let frame: Frame
    /// The same, parsed, with the payload that the signature covers.
    public let packet: Packet

    /// Tries the body as received, then what our encoders would make of the same payload, since relays on iOS compress
    /// anew (chapter 01 §6.4). All forms decode to one payload, so accepting any is safe.
    ///
    /// - Parameter memory: where the outcome of the check is looked up and kept, if anywhere.
    /// - Returns: `nil` without a signature, for one that fits no form, or for a body that does not inflate.
    public init?(verifying frame: Frame, under key: SigningPublicKey, memory: SignatureMemory? = nil) {
        let check = { key.verify(frame) }
        guard memory?.outcome(of: frame, under: key, check: check) ?? check(), let packet = frame.packet()
        else { return nil }
        self.frame = frame
        self.packet = packet
    }
}

extension SigningPublicKey {
    fileprivate func verify(_ frame: Frame) -> Bool {
        guard let signature = frame.signature else { return false }
        return frame.signingCandidates.contains { verify(signature, over: $0) }
    }
}

extension NodeIdentity {
    /// Signs a packet of ours. TTL and RSR flag may change afterwards, nothing else (chapter 01 §6.2).
    public func sign(_ packet: inout Packet) throws(PacketEncodingError) {
        packet.signature = signing.sign(try packet.signingInput())
    }
}

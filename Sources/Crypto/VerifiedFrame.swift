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
    public init?(verifying frame: Frame, under key: SigningPublicKey, memory: FrameMemory? = nil) {
        guard key.verify(frame, memory: memory), let packet = frame.packet() else { return nil }
        self.frame = frame
        self.packet = packet
    }

    /// Signs a packet of ours and encodes it.
    public init(
        signing packet: Packet, as identity: NodeIdentity, memory: FrameMemory? = nil
    ) throws(PacketEncodingError) {
        var packet = packet
        // Encoded once, with room for the signature: what it covers follows from the bytes.
        packet.signature = [UInt8](repeating: 0, count: SigningKey.signatureSize)
        guard var frame = try? Frame(try packet.encoded()), let input = frame.signingInput() else {
            throw .payloadTooLong
        }
        let signature = identity.signing.sign(input)
        frame.setSignature(signature)
        packet.signature = signature
        memory?.note(ownFrame: frame, under: identity.signing)
        self.frame = frame
        self.packet = packet
    }
}

extension SigningPublicKey {
    func verify(_ frame: Frame, memory: FrameMemory?) -> Bool {
        memory?.outcome(of: frame, under: self) { verify(frame) } ?? verify(frame)
    }

    private func verify(_ frame: Frame) -> Bool {
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

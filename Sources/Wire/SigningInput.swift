/// Which form of the payload a signing input is built over (chapter 01 §6.4).
public enum SigningBody: Hashable, Sendable, CaseIterable {
    /// The received body bytes, compressed or not.
    case received
    /// What our own encoder writes.
    case deflatedLevel5
    /// What Android's encoder writes.
    case deflatedLevel6
    case uncompressed
}

extension Frame {
    /// What the packet signature covers, over the given form of the payload (chapter 01 §6.1).
    ///
    /// - Returns: `nil` for a form other than `.received` when the payload does not inflate or cannot be encoded so.
    public func signingInput(body: SigningBody = .received) -> [UInt8]? {
        switch body {
        case .received: receivedSigningInput()
        case .deflatedLevel5: rebuilt(.deflated(level: Compression.defaultLevel))
        case .deflatedLevel6: rebuilt(.deflated(level: Compression.androidLevel))
        case .uncompressed: rebuilt(.uncompressed)
        }
    }

    /// Every distinct signing input worth a verification, the likeliest first. All decode to the same payload, so
    /// accepting any is safe; the later ones cover frames recompressed by a relay.
    public var signingCandidates: SigningCandidates { SigningCandidates(frame: self) }

    /// The frame up to the signature, with what is outside the signature cleared.
    private func receivedSigningInput() -> [UInt8] {
        let isEmptyRoute = layout.hasRouteCount && layout.routeCount == 0
        let length = layout.signatureOffset - (isEmptyRoute ? 1 : 0)
        var input = [UInt8]()
        input.reserveCapacity(length + Padding.length(for: length))
        input.append(contentsOf: bytes[..<layout.routeOffset])
        input.append(contentsOf: bytes[(layout.routeOffset + (isEmptyRoute ? 1 : 0))..<layout.signatureOffset])

        input[FrameLayout.ttlOffset] = 0
        var flags: PacketFlags = []
        if layout.hasRecipient { flags.insert(.hasRecipient) }
        if layout.isCompressed { flags.insert(.isCompressed) }
        if layout.routeCount > 0 { flags.insert(.hasRoute) }
        input[FrameLayout.flagsOffset] = flags.rawValue

        let pad = Padding.length(for: length)
        input.append(contentsOf: repeatElement(UInt8(truncatingIfNeeded: pad), count: pad))
        return input
    }

    private func rebuilt(_ body: PacketBody) -> [UInt8]? { try? packet()?.signingInput(body: body) }
}

/// The signing inputs of one frame, computed one by one as they are asked for (chapter 01 §6.4).
public struct SigningCandidates: Sequence, IteratorProtocol {
    private let frame: Frame
    private var pending = SigningBody.allCases[...]
    private var tried: [[UInt8]] = []

    init(frame: Frame) {
        self.frame = frame
        // Below the threshold nobody compresses, so the received form is the only one.
        if frame.layout.payloadLength < Compression.threshold { pending = pending.prefix(1) }
    }

    public mutating func next() -> [UInt8]? {
        while let body = pending.popFirst() {
            guard let input = frame.signingInput(body: body), !tried.contains(input) else { continue }
            tried.append(input)
            return input
        }
        return nil
    }
}

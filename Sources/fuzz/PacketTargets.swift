import Basics
import Wire

extension FuzzTarget {
    static let packets = [
        FuzzTarget("packet", checkPacket), FuzzTarget("frame", checkFrame),
        FuzzTarget("signing-input", checkSigningInput), FuzzTarget("compression", checkCompression),
        FuzzTarget("padding", checkPadding),
    ]

    /// Decoding is total, bounded, blind to what follows the frame, and stable under encoding.
    private static func checkPacket(_ buffer: UnsafeRawBufferPointer) {
        let bytes = [UInt8](buffer)
        guard let packet = Packet(decoding: bytes) else {
            require(Packet(decoding: Padding.unpad(bytes)) == nil, "cutting padding rescues nothing")
            return
        }
        require(packet.payload.count <= WireLimits.payload, "the payload keeps its bound")
        require(packet.route.count <= WireLimits.routeHops, "the route keeps its bound")
        require(Packet(decoding: bytes + [0xff, 0x01]) == packet, "trailing bytes change nothing")
        guard let encoded = try? packet.encoded(), let padded = try? packet.encoded(padded: true) else {
            // Only a version 1 payload that compresses to just below its own 65,535 bytes has no frame.
            return require(packet.version == 1 && packet.payload.count > 65_500, "what was decoded can be encoded")
        }
        require(Packet(decoding: encoded) == packet, "decode, encode, decode is the identity")
        require(Packet(decoding: padded) == packet, "padding changes nothing")
        require(padded.starts(with: encoded), "padding is added behind")
    }

    /// Patching touches the byte it says; views and copies agree.
    private static func checkFrame(_ buffer: UnsafeRawBufferPointer) {
        let bytes = [UInt8](buffer)
        guard case .success(let view) = FrameView.parse(buffer), let frame = try? Frame(bytes) else { return }
        require(frame == Frame(view) && bytes.starts(with: frame.bytes), "the frame is a prefix of its input")
        require(frame.bytes.count == view.layout.length, "the layout tells the length")

        var patched = frame
        patched.setTTL(frame.ttl ^ 0x55)
        require(differences(patched.bytes, frame.bytes) == [2], "the TTL is byte 2 and nothing else")
        patched = frame
        patched.setSyncResponse(!frame.isSyncResponse)
        require(differences(patched.bytes, frame.bytes) == [11], "the RSR flag is in byte 11 and nowhere else")
        require(patched.isSyncResponse != frame.isSyncResponse, "the RSR flag is set and cleared")

        var random = SeededRandom(seed: 1)
        let key = SipHash128.Key(using: &random)
        guard let packet = frame.packet() else {
            require(DuplicateKey(view, under: key) == nil && PacketID(view) == nil, "no identifiers without payload")
            return
        }
        require(view.withPayload { [UInt8]($0) } == packet.payload, "the payload is the same in place")
        require(DuplicateKey(view, under: key) == DuplicateKey(packet, under: key), "duplicate keys agree")
        require(PacketID(view) == packet.id, "packet IDs agree")
        require(messageIDText(view) == messageIDText(packet), "message IDs agree")
        require(patched.id(under: key) == DuplicateKey(packet, under: key), "the RSR flag is not identity")
    }

    /// The signing input covers nothing that may change on the way.
    private static func checkSigningInput(_ buffer: UnsafeRawBufferPointer) {
        guard let frame = try? Frame([UInt8](buffer)), let input = frame.signingInput() else { return }
        var altered = frame
        altered.setTTL(frame.ttl &+ 1)
        altered.setSyncResponse(!frame.isSyncResponse)
        require(altered.signingInput() == input, "TTL and RSR are outside the signature")
        let candidates = Array(frame.signingCandidates)
        require(candidates.first == input, "the received form comes first")
        require(candidates.count <= SigningBody.allCases.count, "the forms are few")
        require(Set(candidates).count == candidates.count, "no form is tried twice")
        guard let packet = frame.packet(), packet.payload.count >= Compression.threshold,
            let own = try? packet.signingInput()
        else { return }
        require(candidates.contains(own), "our own encoding is among the forms")
    }

    private static func checkCompression(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        let size = Int(input.short())
        let body = input.rest()
        if let payload = Compression.inflate([UInt8](body), originalSize: size) {
            require(payload.count == size, "inflating gives the announced size")
            require(Compression.withInflated(body, size: size) { [UInt8]($0) } == payload, "both ways agree")
        }
        guard let deflated = Compression.deflate(body) else { return }
        require(deflated.count < body.count, "compressing makes shorter")
        require(Compression.inflate(deflated, originalSize: body.count) == [UInt8](body), "inflating restores")
    }

    private static func checkPadding(_ buffer: UnsafeRawBufferPointer) {
        let bytes = [UInt8](buffer)
        let padded = Padding.padded(bytes)
        require(padded.count == bytes.count + Padding.length(for: bytes.count), "the pad length is known beforehand")
        if padded.count > bytes.count { require(Padding.unpad(padded) == bytes, "unpadding undoes padding") }
        require(bytes.starts(with: Padding.unpad(bytes)), "unpadding only cuts")
    }

    private static func differences(_ a: [UInt8], _ b: [UInt8]) -> [Int] {
        a.count == b.count ? a.indices.filter { a[$0] != b[$0] } : Array(a.indices)
    }
}

extension Frame {
    fileprivate func id(under key: SipHash128.Key) -> DuplicateKey? { withView { DuplicateKey($0, under: key) } }
}

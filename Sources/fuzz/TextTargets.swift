import Basics
import Wire

extension FuzzTarget {
    static let texts = [
        FuzzTarget("text-trimming", checkTrimming), FuzzTarget("hex", checkHex),
        FuzzTarget("base64url", checkBase64URL),
        FuzzTarget("peer-id-text", checkPeerIDText), FuzzTarget("nickname", checkNickname),
        FuzzTarget("embedded-packet", checkEmbeddedPacket), FuzzTarget("verification-code", checkVerificationCode),
        FuzzTarget("media-id", checkMediaID),
    ]

    private static func text(_ buffer: UnsafeRawBufferPointer) -> String { String(decoding: buffer, as: UTF8.self) }

    private static func checkTrimming(_ buffer: UnsafeRawBufferPointer) {
        let trimmed = TextTrimming.trim(text(buffer))
        require(TextTrimming.trim(trimmed) == trimmed, "trimming is done at once")
        require(trimmed.unicodeScalars.first.map { !TextTrimming.isWhiteSpace($0) } ?? true, "no white space leads")
        require(trimmed.unicodeScalars.last.map { !TextTrimming.isWhiteSpace($0) } ?? true, "no white space trails")
    }

    private static func checkHex(_ buffer: UnsafeRawBufferPointer) {
        let text = text(buffer)
        if let bytes = Hex.decode(text) {
            require(Hex.encode(bytes).utf8.elementsEqual(text.utf8.map(lowercased)), "hex is the bytes")
            require(TolerantHex.decode(text) == bytes, "strict hex is tolerable")
        }
        if let bytes = TolerantHex.decode(text) { require(bytes.count <= buffer.count / 2, "a byte takes two digits") }
        require(Hex.decode(Hex.encode(buffer)) == [UInt8](buffer), "bytes survive hex")
    }

    private static func lowercased(_ character: UInt8) -> UInt8 {
        (0x41...0x5a).contains(character) ? character | 0x20 : character
    }

    private static func checkBase64URL(_ buffer: UnsafeRawBufferPointer) {
        require(Base64URL.decode(Base64URL.encode(buffer)) == [UInt8](buffer), "bytes survive base64url")
        if let bytes = Base64URL.decode(text(buffer)) {
            require(bytes.count <= buffer.count / 4 * 3 + 2, "four digits make three bytes")
        }
    }

    private static func checkPeerIDText(_ buffer: UnsafeRawBufferPointer) {
        let id = PeerIDText(text(buffer))
        _ = id.routingBytes
        _ = id.groupID
        // Lower-casing can make a prefix of what was none, so the text is compared, not its parts.
        require(PeerIDText(id.description).description == id.description, "an ID keeps its text")
    }

    private static func checkNickname(_ buffer: UnsafeRawBufferPointer) {
        let typed = text(buffer)
        _ = Nickname.split(typed)
        guard let name = Nickname.normalized(typed) else { return }
        require(Nickname.normalized(name) == name, "normalising is done at once")
    }

    private static func checkEmbeddedPacket(_ buffer: UnsafeRawBufferPointer) {
        guard let packet = EmbeddedPacket(text: text(buffer)), let again = packet.text else { return }
        require(EmbeddedPacket(text: again) == packet, "an embedded packet is its text")
    }

    private static func checkVerificationCode(_ buffer: UnsafeRawBufferPointer) {
        guard let code = VerificationCode(text: text(buffer)) else { return }
        _ = code.signedBytes
        _ = (code.noiseKey, code.signingKey, code.signature)
    }

    private static func checkMediaID(_ buffer: UnsafeRawBufferPointer) {
        let id = PrivateMediaID.make(sender: PeerID(value: 1), recipient: PeerID(value: 2), fileName: text(buffer))
        require(id.map { $0.utf8.count == 38 } ?? true, "a media ID is 32 digits behind its prefix")
    }
}

import Basics

/// The message ID that sender and receiver of a private photo or voice note derive alike (chapter 01 §11.4).
public enum PrivateMediaID {
    /// Hex digits of the hash that are kept.
    private static let digits = 32

    /// `nil` for names that clients do not make: such a file gets a random local ID and no receipt.
    public static func make(sender: PeerID, recipient: PeerID, fileName: String) -> String? {
        guard isStable(fileName) else { return nil }
        var bytes = Array("bitchat-private-media-message-v1".utf8)
        for field in [sender.hex, recipient.hex, fileName] {
            guard let length = UInt32(exactly: field.utf8.count) else { return nil }
            bytes.append(bigEndian: length)
            bytes.append(contentsOf: field.utf8)
        }
        return "media-" + Hex.encode(SHA256.hash(bytes).prefix(digits / 2))
    }

    private static func isStable(_ fileName: String) -> Bool {
        let name = Array(fileName.utf8)
        guard !name.contains(UInt8(ascii: "/")), let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let stem = name[..<dot]
        let pathExtension = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        let token = stem.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false).last ?? stem
        if stem.starts(with: "img_".utf8) { return ["jpg", "jpeg"].contains(pathExtension) && isUUID(token) }
        guard stem.starts(with: "voice_".utf8), pathExtension == "m4a" else { return false }
        let burstID = stem.dropFirst("voice_".utf8.count)
        return isUUID(token) || burstID.count == 16 && burstID.allSatisfy(isHexDigit)
    }

    private static func isUUID(_ token: ArraySlice<UInt8>) -> Bool {
        let groups = token.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy(isHexDigit)
    }

    private static func isHexDigit(_ character: UInt8) -> Bool { Hex.value(of: character) != nil }
}

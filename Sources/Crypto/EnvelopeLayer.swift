import Basics
import Csecp256k1
import Wire

/// The encryption of one layer of a private envelope: the text `v2:` and base64url of nonce, ciphertext and tag, under
/// a key both ends agree on (chapter 05 §12.2). Not NIP-44, although its label is used.
public enum EnvelopeLayer {
    /// Bytes of a layer's text and of what it holds (chapter 05 §12.3).
    public static let maximumSize = 65_536

    private static let prefix = "v2:"
    private static let info = Array("nip44-v2".utf8)
    private static let overhead = XChaChaPoly.nonceSize + XChaChaPoly.tagSize

    /// `nil` when the recipient's key is no point, the nonce has not 24 bytes, or the text would be too long.
    ///
    /// - Parameter nonce: random; used once.
    public static func seal(
        _ plaintext: [UInt8], from sender: NostrSecretKey, to recipient: NostrPublicKey, nonce: [UInt8]
    ) -> String? {
        guard !plaintext.isEmpty, textSize(plaintext.count) <= maximumSize,
            let secret = sender.sharedPoint(with: recipient),
            let sealed = XChaChaPoly.seal(plaintext, key: key(secret), nonce: nonce)
        else { return nil }
        return prefix + Base64URL.encode(nonce + sealed)
    }

    /// The plaintext; `nil` for every text that is not a layer from this sender to this recipient.
    ///
    /// The sender's key says nothing about the parity of its point, which the agreement depends on: the even point is
    /// tried first, then the odd one, and the tag decides (chapter 05 §12.3).
    public static func open(_ text: String, by recipient: NostrSecretKey, from sender: NostrPublicKey) -> [UInt8]? {
        guard text.utf8.count <= maximumSize, text.utf8.starts(with: prefix.utf8),
            let bytes = Base64URL.decode(Substring(text.utf8.dropFirst(prefix.utf8.count))), bytes.count > overhead,
            let even = recipient.sharedPoint(with: sender)
        else { return nil }
        let nonce = Array(bytes.prefix(XChaChaPoly.nonceSize))
        let sealed = Array(bytes.dropFirst(XChaChaPoly.nonceSize))
        return XChaChaPoly.open(sealed, key: key(even), nonce: nonce)
            ?? XChaChaPoly.open(sealed, key: key(mirrored(even)), nonce: nonce)
    }

    /// Characters of the text around so many bytes.
    private static func textSize(_ count: Int) -> Int { prefix.utf8.count + ((count + overhead) * 4 + 2) / 3 }

    static func key(_ secret: SecretBytes) -> SecretBytes { HKDFSHA256.derive(secret, info: info) }

    /// The agreement with the other point of the same x: −Q gives −S, of which only the parity differs.
    static func mirrored(_ point: SecretBytes) -> SecretBytes {
        SecretBytes(count: point.count) { output in
            point.withBytes { output.copyMemory(from: $0) }
            if !output.isEmpty { output[0] ^= 1 }
        }
    }
}

extension NostrSecretKey {
    private static let pointSize = 33

    /// The compressed product of this key and the even point of `other`, neither negated nor hashed; `nil` when those
    /// bytes are no point (chapter 05 §12.2).
    func sharedPoint(with other: NostrPublicKey) -> SecretBytes? {
        Secp256k1Context.verifying.use { context in
            var point = secp256k1_pubkey()
            let even: [UInt8] = [0x02] + other.bytes
            guard secp256k1_ec_pubkey_parse(context, &point, even, even.count) == 1 else { return nil }
            var isSound = false
            let secret = SecretBytes(count: NostrSecretKey.pointSize) { output in
                privateKey.withBytes { scalar in
                    isSound = secp256k1_ecdh(context, output.octets, &point, scalar.octets, compress, nil) == 1
                }
            }
            return isSound ? secret : nil
        }
    }
}

/// libsecp256k1 hashes an agreed point unless it is told what else to make of the coordinates.
private let compress: secp256k1_ecdh_hash_function = { output, x, y, _ in
    guard let output, let x, let y else { return 0 }
    output[0] = 0x02 | (y[31] & 1)
    (output + 1).update(from: x, count: 32)
    return 1
}

import Copenssl

/// SAFECOOKIE (control-spec §3.24): both sides prove that they know the cookie, and neither says it.
struct TorSafeCookie {
    private static let serverKey = "Tor safe cookie authentication server-to-controller hash"
    private static let clientKey = "Tor safe cookie authentication controller-to-server hash"

    let cookie: [UInt8]
    let clientNonce: [UInt8]
    let serverNonce: [UInt8]

    /// What a server that knows the cookie answers.
    var serverProof: [UInt8] { proof(TorSafeCookie.serverKey) }
    /// What is answered to it.
    var clientProof: [UInt8] { proof(TorSafeCookie.clientKey) }

    /// Whether the server knows the cookie; compares in constant time.
    func accepts(_ proof: [UInt8]) -> Bool {
        let expected = serverProof
        return proof.count == expected.count && CRYPTO_memcmp(proof, expected, expected.count) == 0
    }

    private func proof(_ key: String) -> [UInt8] {
        let key = Array(key.utf8)
        let message = cookie + clientNonce + serverNonce
        var digest = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, nil)
        return digest
    }
}

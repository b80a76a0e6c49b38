import Csecp256k1

/// A libsecp256k1 context: the library's state for one purpose, in memory of ours, unchanged once it is made.
struct Secp256k1Context: Sendable {
    /// The one context that checks signatures and keys. It holds no secret.
    static let verifying = Secp256k1Context(blinding: nil)

    private let memory: SecretBytes

    /// A context for signing with one key, blinded against power and timing analysis. Blinding changes no output, and
    /// nobody without the key can compute a seed that follows from it.
    init(signingWith privateKey: SecretBytes) {
        self.init(blinding: privateKey.withBytes { HMACSHA256.secret(of: Array("context blinding".utf8), key: $0) })
    }

    private init(blinding seed: SecretBytes?) {
        let flags = UInt32(SECP256K1_CONTEXT_NONE)
        memory = SecretBytes(count: secp256k1_context_preallocated_size(flags)) { memory in
            guard let context = secp256k1_context_preallocated_create(memory.octets, flags) else { return }
            seed?.withBytes { _ = secp256k1_context_randomize(context, $0.octets) }
        }
    }

    func use<R>(_ body: (OpaquePointer) -> R) -> R {
        memory.withBytes { body(OpaquePointer($0.octets)) }
    }
}

import Clibsodium
import Csecp256k1

/// The one libsecp256k1 context of the process, made on first use and never changed afterwards, so that sharing it is
/// safe. Making one costs as much as several signatures.
final class Secp256k1: @unchecked Sendable {
    static let shared = Secp256k1()

    let context: OpaquePointer

    /// Blinds the context. The one place where this module draws randomness itself: it shields signing keys from power
    /// and timing analysis and changes no output.
    private init() {
        context = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_NONE))
        _ = Sodium.isStarted
        let seed = SecretBytes(count: 32) { randombytes_buf($0.octets, $0.count) }
        seed.withBytes { _ = secp256k1_context_randomize(context, $0.octets) }
    }
}

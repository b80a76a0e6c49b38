import Basics

/// Both directions of an established session (chapter 02 §3.4).
///
/// Peers refuse a message that more than 8 later ones overtook (§3.5), so what `encrypt` returns must reach the air in
/// the order of the calls.
public struct NoiseTransport: Secret {
    /// The same on both sides, and unique: the session's generation.
    public let handshakeHash: Bytes32
    private var sender: NoiseSender
    private var receiver: NoiseReceiver

    init(sending: NoiseCipherState, receiving: NoiseCipherState, handshakeHash: Bytes32) {
        self.handshakeHash = handshakeHash
        sender = NoiseSender(cipher: sending)
        receiver = NoiseReceiver(cipher: receiving)
    }

    /// Messages encrypted so far.
    public var sentCount: UInt64 { sender.nextNonce }

    /// The message for a typed plaintext; 20 bytes longer.
    public mutating func encrypt(_ plaintext: [UInt8]) throws(NoiseRejection) -> [UInt8] {
        try sender.encrypt(plaintext)
    }

    /// The typed plaintext of a message, accepted once.
    public mutating func decrypt(_ message: [UInt8]) throws(NoiseRejection) -> [UInt8] {
        try receiver.decrypt(message)
    }
}

/// The sending direction: a counter that never repeats.
struct NoiseSender {
    private let cipher: NoiseCipherState
    private(set) var nextNonce: UInt64

    init(cipher: NoiseCipherState, nextNonce: UInt64 = 0) {
        self.cipher = cipher
        self.nextNonce = nextNonce
    }

    mutating func encrypt(_ plaintext: [UInt8]) throws(NoiseRejection) -> [UInt8] {
        guard NoiseSizes.admits(plaintext) else { throw .tooLong }
        guard nextNonce <= NoiseLimits.lastNonce else { throw .exhausted }
        let size = plaintext.count + NoiseLimits.transportOverhead
        let nonce = nextNonce
        let message = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            let output = UnsafeMutableRawBufferPointer(output)
            output.storeBytes(of: UInt32(truncatingIfNeeded: nonce).bigEndian, as: UInt32.self)
            let sealed = UnsafeMutableRawBufferPointer(rebasing: output[NoiseLimits.noncePrefixSize...])
            plaintext.withUnsafeBytes { cipher.seal($0, associated: .none, nonce: nonce, to: sealed) }
            count = size
        }
        nextNonce += 1
        return message
    }
}

/// The receiving direction: counters in any order, each once.
struct NoiseReceiver {
    private let cipher: NoiseCipherState
    private var window = ReplayWindow()

    init(cipher: NoiseCipherState) { self.cipher = cipher }

    mutating func decrypt(_ message: [UInt8]) throws(NoiseRejection) -> [UInt8] {
        guard message.count >= NoiseLimits.transportOverhead else { throw .truncated }
        guard message.count <= NoiseLimits.privateFilePlaintext + NoiseLimits.transportOverhead else { throw .tooLong }
        let opened = message.withUnsafeBytes { bytes -> (nonce: UInt32, plaintext: [UInt8]?)? in
            var reader = ByteReader(bytes)
            guard let nonce = reader.readUInt32(), let sealed = reader.readView(reader.remaining),
                window.accepts(nonce)
            else { return nil }
            return (nonce, cipher.open(sealed, associated: .none, nonce: UInt64(nonce)))
        }
        guard let opened else { throw .replayed }
        guard let plaintext = opened.plaintext else { throw .notAuthentic }
        window.mark(opened.nonce)
        guard NoiseSizes.admits(plaintext) else { throw .tooLong }
        return plaintext
    }
}

private enum NoiseSizes {
    /// Only a private file may be long (chapter 02 §3.6).
    static func admits(_ plaintext: [UInt8]) -> Bool {
        guard plaintext.count > NoiseLimits.plaintext, let type = plaintext.first else { return true }
        return plaintext.count <= NoiseLimits.privateFilePlaintext && NoiseLimits.privateFileTypes.contains(type)
    }
}

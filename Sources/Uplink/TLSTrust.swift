import Copenssl

/// Whom TLS connections trust, and the settings all of them share: made once, at start.
///
/// TLS 1.2 and newer. No session is ever resumed: a resumed session would tell the server that two connections, on two
/// circuits, are one client's. No renegotiation, no compression. Only elliptic curves, since a server could keep the
/// loop busy for half a second with a finite-field group of its own choice.
public final class TLSTrust {
    public enum Anchors: Equatable, Sendable {
        /// The system's certificate store; `SSL_CERT_FILE` in the environment names another one.
        case system
        /// Only the authorities in this PEM file.
        case file(String)
        /// Those in this PEM file beside the system's.
        case systemAnd(file: String)
    }

    let context: OpaquePointer
    /// Received bytes on their way into the library. One for all connections: there is one thread.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: UplinkLimits.readChunk, alignment: 16)

    /// - Throws: `.library` with what could not be read or set.
    public init(_ anchors: Anchors = .system) throws(TLSFailure) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw .library("no memory") }
        do {
            try TLSTrust.configure(context)
            try TLSTrust.load(anchors, into: context)
        } catch {
            SSL_CTX_free(context)
            scratch.deallocate()
            throw error
        }
        self.context = context
    }

    deinit {
        SSL_CTX_free(context)
        scratch.deallocate()
    }

    /// For TLS 1.2; TLS 1.3 has no weak ones.
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// Older libraries do not know the first and refuse the list with it.
    private static let groups = ["X25519MLKEM768:X25519:P-256:P-384", "X25519:P-256:P-384"]

    private static func configure(_ context: OpaquePointer) throws(TLSFailure) {
        SSL_CTX_set_options(context, bitgate_ssl_options)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, bitgate_ssl_modes, nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        SSL_CTX_set_security_level(context, 2)
        SSL_CTX_set_verify_depth(context, UplinkLimits.certificateDepth)
        let protocols = Array("\u{8}http/1.1".utf8)
        guard bitgate_set_oldest_version(context, TLS1_2_VERSION) == 1,
            SSL_CTX_set_cipher_list(context, ciphers) == 1,
            groups.contains(where: { bitgate_set_groups(context, $0) == 1 }),
            SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0
        else { throw .library("this OpenSSL lacks what is needed") }
        // A group list that was refused leaves its error behind.
        ERR_clear_error()
    }

    private static func load(_ anchors: Anchors, into context: OpaquePointer) throws(TLSFailure) {
        let usesSystem: Bool
        let file: String?
        switch anchors {
        case .system: (usesSystem, file) = (true, nil)
        case .file(let path): (usesSystem, file) = (false, path)
        case .systemAnd(let path): (usesSystem, file) = (true, path)
        }
        if usesSystem, SSL_CTX_set_default_verify_paths(context) != 1 {
            throw .library("the system's certificate store cannot be read")
        }
        if let file, SSL_CTX_load_verify_file(context, file) != 1 {
            ERR_clear_error()
            throw .library("\(file): no certificates can be read from it")
        }
    }
}

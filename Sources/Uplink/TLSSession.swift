import Basics
import Copenssl
import Glibc

/// One TLS connection inside the library: bytes in, bytes out, and no I/O of its own.
final class TLSSession {
    enum Step: Equatable {
        case done
        case wantsInput
        case failed(TLSFailure)
    }

    enum Transfer: Equatable {
        case bytes(Int)
        case wantsInput
        /// The server said that this was all.
        case end
        case failed(TLSFailure)
    }

    private let session: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let time: WallTime
    /// What the library has made and the transport has not taken.
    private var unsent: [UInt8] = []
    private var sentCount = 0
    private var isOpen = false
    /// Why the certificate was refused.
    private var fault: TLSFailure?
    /// After this the library must not be called any more.
    private var end: TLSFailure?

    /// - Parameter time: when the certificate must be valid.
    init?(trust: TLSTrust, host: String, time: WallTime) {
        guard let session = SSL_new(trust.context) else { return nil }
        guard let incoming = BIO_new(BIO_s_mem()) else {
            SSL_free(session)
            return nil
        }
        guard let outgoing = BIO_new(BIO_s_mem()) else {
            BIO_free(incoming)
            SSL_free(session)
            return nil
        }
        // From here on the session owns both.
        SSL_set_bio(session, incoming, outgoing)
        (self.session, self.incoming, self.outgoing, self.time) = (session, incoming, outgoing, time)
        SSL_set_connect_state(session)
        guard TLSSession.expect(host, at: time, in: session) else { return nil }
        SSL_set_ex_data(session, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_verify(session, SSL_VERIFY_PEER) { isGood, verification in
            TLSSession.verified(isGood, verification)
        }
    }

    deinit { SSL_free(session) }

    private static func expect(_ host: String, at time: WallTime, in session: OpaquePointer) -> Bool {
        let rules = SSL_get0_param(session)
        X509_VERIFY_PARAM_set_time(rules, time_t(time.unixSeconds))
        SSL_set_hostflags(
            session, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        // Server names are names only (RFC 6066 §3).
        if IPEndpoint(literal: host, port: 0) != nil { return X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1 }
        return SSL_set1_host(session, host) == 1 && bitgate_set_server_name(session, host) == 1
    }

    private static func verified(_ isGood: Int32, _ verification: OpaquePointer?) -> Int32 {
        guard isGood == 0 else { return 1 }
        guard let verification,
            let session = X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let owner = SSL_get_ex_data(OpaquePointer(session), 0)
        else { return 0 }
        let this = Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
        this.fault = this.fault ?? CertificateFault.read(verification, checked: this.time)
        return 0
    }

    // MARK: What the server sends

    func put(_ bytes: UnsafeRawBufferPointer) { BIO_write(incoming, bytes.baseAddress, Int32(bytes.count)) }

    func handshake() -> Step {
        if let end { return .failed(end) }
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        if result == 1 {
            isOpen = true
            return .done
        }
        switch outcome(of: result) {
        case .wantsInput: return .wantsInput
        case .failed(let failure): return .failed(failure)
        case .end, .bytes: return .failed(.hungUp)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        if let end { return .failed(end) }
        ERR_clear_error()
        let count = SSL_read(session, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : outcome(of: count)
    }

    // MARK: What we send

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        if let end { return .failed(end) }
        guard !bytes.isEmpty else { return .wantsInput }
        ERR_clear_error()
        let count = SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : outcome(of: count)
    }

    /// Says that nothing more will be written.
    func sayGoodbye() {
        guard end == nil else { return }
        ERR_clear_error()
        SSL_shutdown(session)
    }

    var unsentBytes: Int { unsent.count - sentCount + BIO_ctrl_pending(outgoing) }

    func withUnsent(_ body: (UnsafeRawBufferPointer) -> StreamTransfer) -> StreamTransfer {
        if sentCount == unsent.count { takeFromLibrary() }
        return unsent.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[min(sentCount, $0.count)...])) }
    }

    func sent(_ count: Int) {
        sentCount += count
        // Idle connections, the most of them, hold no buffer.
        if sentCount >= unsent.count { (unsent, sentCount) = ([], 0) }
    }

    private func takeFromLibrary() {
        sentCount = 0
        unsent = [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(outgoing)) { buffer, count in
            count = max(0, Int(BIO_read(outgoing, buffer.baseAddress, Int32(clamping: buffer.count))))
        }
    }

    // MARK: Errors

    private func outcome(of result: Int32) -> Transfer {
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wantsInput
        case SSL_ERROR_ZERO_RETURN: return .end
        default:
            let failure =
                fault
                ?? TLSSession.failure(
                    reason: ERR_GET_REASON(ERR_peek_error()), isOpen: isOpen)
            ERR_clear_error()
            end = failure
            return .failed(failure)
        }
    }

    private static func failure(reason: Int32, isOpen: Bool) -> TLSFailure {
        switch reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_WRONG_SSL_VERSION,
            SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, SSL_R_TLSV1_ALERT_INSUFFICIENT_SECURITY, SSL_R_VERSION_TOO_LOW:
            if !isOpen { return .noCommonVersion }
        default: break
        }
        switch reason {
        case SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256:
            return .refusedByServer(alert: Int(reason - SSL_AD_REASON_OFFSET))
        case SSL_R_EE_KEY_TOO_SMALL, SSL_R_CA_KEY_TOO_SMALL, SSL_R_CA_MD_TOO_WEAK, SSL_R_WRONG_SIGNATURE_TYPE:
            return .tooWeak
        case Int32(ERR_R_MALLOC_FAILURE): return .library("no memory")
        default: return .protocolError
        }
    }
}

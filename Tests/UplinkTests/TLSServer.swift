import Copenssl
import Foundation
import XCTest

@testable import Uplink

/// The certificates of Tests/Netlab/tls.sh, made once for all tests.
enum Certificates {
    static let netlab = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Netlab")

    private static let made: Result<String, any Error> = Result {
        let folder = NSTemporaryDirectory() + "bitgate-certificates-\(getpid())"
        let process = Process()
        process.executableURL = netlab.appendingPathComponent("tls.sh")
        process.arguments = [folder]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw XCTSkip("tls.sh failed: is the openssl command there?") }
        atexit {
            try? FileManager.default.removeItem(atPath: NSTemporaryDirectory() + "bitgate-certificates-\(getpid())")
        }
        return folder
    }

    static func folder() throws -> String { try made.get() }
    static func trust() throws -> TLSTrust { try TLSTrust(.file(folder() + "/ca.pem")) }
}

/// A TLS server without a socket: bytes in, bytes out. Takes what a client of today would refuse, if told to.
final class TLSServer {
    private let context: OpaquePointer
    private let session: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private(set) var isOpen = false
    private(set) var received: [UInt8] = []
    private(set) var hasSeenGoodbye = false
    private(set) var failureReason: Int32 = 0

    struct Settings {
        var oldest = TLS1_2_VERSION
        var newest = TLS1_3_VERSION
        var ciphers: String?
        var isWeak = false
    }

    init(_ kind: String = "good", _ settings: Settings = Settings()) throws {
        let base = try Certificates.folder() + "/" + kind
        context = try XCTUnwrap(SSL_CTX_new(TLS_server_method()))
        if settings.isWeak { SSL_CTX_set_security_level(context, 0) }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(settings.oldest), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(settings.newest), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_DH_AUTO, 1, nil)
        if let ciphers = settings.ciphers { XCTAssertEqual(SSL_CTX_set_cipher_list(context, ciphers), 1) }
        XCTAssertEqual(SSL_CTX_use_certificate_chain_file(context, base + ".pem"), 1)
        XCTAssertEqual(SSL_CTX_use_PrivateKey_file(context, base + ".key", SSL_FILETYPE_PEM), 1)
        session = try XCTUnwrap(SSL_new(context))
        incoming = try XCTUnwrap(BIO_new(BIO_s_mem()))
        outgoing = try XCTUnwrap(BIO_new(BIO_s_mem()))
        SSL_set_bio(session, incoming, outgoing)
        SSL_set_accept_state(session)
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    var version: String { String(cString: SSL_get_version(session)) }
    var serverName: String? { SSL_get_servername(session, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) } }

    func feed(_ bytes: [UInt8]) {
        if !bytes.isEmpty { BIO_write(incoming, bytes, Int32(bytes.count)) }
        ERR_clear_error()
        if !isOpen {
            let result = SSL_do_handshake(session)
            isOpen = result == 1
            note(result)
        }
        guard isOpen else { return }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = SSL_read(session, &buffer, Int32(buffer.count))
            guard count > 0 else { return note(count) }
            received += buffer.prefix(Int(count))
        }
    }

    private func note(_ result: Int32) {
        switch SSL_get_error(session, result) {
        case SSL_ERROR_ZERO_RETURN: hasSeenGoodbye = true
        case SSL_ERROR_SSL: failureReason = ERR_GET_REASON(ERR_peek_error())
        default: break
        }
    }

    func takeOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(outgoing))
        guard !bytes.isEmpty else { return [] }
        XCTAssertEqual(BIO_read(outgoing, &bytes, Int32(bytes.count)), Int32(bytes.count))
        return bytes
    }

    func send(_ bytes: [UInt8]) { XCTAssertEqual(SSL_write(session, bytes, Int32(bytes.count)), Int32(bytes.count)) }
    func sayGoodbye() { SSL_shutdown(session) }
    func askForKeyUpdate() { XCTAssertEqual(SSL_key_update(session, SSL_KEY_UPDATE_REQUESTED), 1) }

    func renegotiate() {
        SSL_renegotiate(session)
        SSL_do_handshake(session)
    }
}

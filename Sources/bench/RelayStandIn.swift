import Copenssl
import Glibc

/// A relay that has nothing: takes WebSockets over TLS on loopback, answers every request with its end of stored
/// events, and says nothing else. In a process of its own, so that its memory is nobody else's.
final class RelayStandIn {
    /// The authority its certificate is under, which is the certificate itself.
    let certificateFile: String
    private let context: OpaquePointer
    private let listener: Int32
    private let port: UInt16
    private var peers: [Int32: Peer] = [:]

    private final class Peer {
        let session: OpaquePointer
        var input: [UInt8] = []
        var isUpgraded = false

        init(_ session: OpaquePointer) { self.session = session }
        deinit { SSL_free(session) }
    }

    /// - Returns: nil when the library or the kernel refuses.
    init?(certificateFile: String) {
        guard let context = SSL_CTX_new(TLS_server_method()), SelfSigned.install(in: context, writing: certificateFile)
        else { return nil }
        self.context = context
        self.certificateFile = certificateFile
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening, listen(listener, 128) == 0 else { return nil }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Says where it is on standard output, and serves until standard input ends.
    func run() {
        print(port)
        fflush(nil)
        while true {
            var watched = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
            watched += ([listener] + peers.keys).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&watched, nfds_t(watched.count), -1) > 0, watched[0].revents == 0 else { return }
            for item in watched.dropFirst() where item.revents != 0 {
                if item.fd == listener { accept() } else { serve(item.fd) }
            }
        }
    }

    private func accept() {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0, let session = SSL_new(context) else { return }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        SSL_set_fd(session, descriptor)
        SSL_set_accept_state(session)
        peers[descriptor] = Peer(session)
    }

    private func serve(_ descriptor: Int32) {
        guard let peer = peers[descriptor] else { return }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            ERR_clear_error()
            let count = SSL_read(peer.session, &buffer, Int32(buffer.count))
            guard count > 0 else {
                if SSL_get_error(peer.session, count) == SSL_ERROR_WANT_READ { break }
                peers[descriptor] = nil
                close(descriptor)
                return
            }
            peer.input += buffer.prefix(Int(count))
        }
        if !peer.isUpgraded { upgrade(peer) }
        while peer.isUpgraded, let message = RelayStandIn.takeMessage(&peer.input) { answer(message, to: peer) }
    }

    private func upgrade(_ peer: Peer) {
        let text = String(decoding: peer.input, as: UTF8.self)
        guard text.hasSuffix("\r\n\r\n") else { return }
        let mark = "Sec-WebSocket-Key: "
        let key = text.split(separator: "\r\n").first { $0.hasPrefix(mark) }?.dropFirst(mark.count) ?? ""
        let challenge = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        EVP_Digest(challenge, challenge.count, &digest, nil, EVP_sha1(), nil)
        var encoded = [UInt8](repeating: 0, count: 29)
        EVP_EncodeBlock(&encoded, digest, 20)
        peer.input.removeAll()
        peer.isUpgraded = true
        write(
            Array(
                """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: \(String(decoding: encoded.prefix(28), as: UTF8.self))\r
                \r

                """.utf8), to: peer)
    }

    private func answer(_ message: [UInt8], to peer: Peer) {
        let words = String(decoding: message, as: UTF8.self).split(separator: "\"")
        guard words.count > 3, words[1] == "REQ" else { return }
        let answer = Array("[\"EOSE\",\"\(words[3])\"]".utf8)
        write([0x81, UInt8(answer.count)] + answer, to: peer)
    }

    private func write(_ bytes: [UInt8], to peer: Peer) { SSL_write(peer.session, bytes, Int32(bytes.count)) }

    /// The content of one whole masked frame of less than 64 KiB; nil until it is there.
    private static func takeMessage(_ input: inout [UInt8]) -> [UInt8]? {
        guard input.count >= 8 else { return nil }
        var count = Int(input[1] & 0x7f)
        var start = 2
        if count == 126 {
            count = Int(input[2]) << 8 | Int(input[3])
            start = 4
        }
        guard input.count >= start + 4 + count else { return nil }
        let mask = Array(input[start..<start + 4])
        let message = (0..<count).map { input[start + 4 + $0] ^ mask[$0 % 4] }
        input.removeFirst(start + 4 + count)
        return message
    }
}

/// A key and a certificate for 127.0.0.1, made for the moment.
private enum SelfSigned {
    static func install(in context: OpaquePointer, writing path: String) -> Bool {
        guard let maker = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil), let certificate = X509_new() else { return false }
        defer {
            EVP_PKEY_CTX_free(maker)
            X509_free(certificate)
        }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(maker) == 1, EVP_PKEY_keygen(maker, &key) == 1, let key else { return false }
        defer { EVP_PKEY_free(key) }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -86_400)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400)
        X509_set_pubkey(certificate, key)
        let name = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(name, "CN", Int32(V_ASN1_UTF8STRING), "stand-in", -1, -1, 0)
        X509_set_issuer_name(certificate, name)
        for (kind, value) in [(NID_subject_alt_name, "IP:127.0.0.1"), (NID_basic_constraints, "critical,CA:true")] {
            guard let part = X509V3_EXT_conf_nid(nil, nil, kind, value) else { return false }
            X509_add_ext(certificate, part, -1)
            X509_EXTENSION_free(part)
        }
        guard X509_sign(certificate, key, nil) > 0, let file = BIO_new_file(path, "w") else { return false }
        defer { BIO_free(file) }
        return PEM_write_bio_X509(file, certificate) == 1 && SSL_CTX_use_certificate(context, certificate) == 1
            && SSL_CTX_use_PrivateKey(context, key) == 1
    }
}

import Basics
import Copenssl
import Glibc

/// Reads from the library why a certificate is not trusted.
enum CertificateFault {
    /// - Parameters:
    ///   - verification: at the moment it found the fault.
    ///   - checked: the time it verifies for.
    static func read(_ verification: OpaquePointer, checked: WallTime) -> TLSFailure {
        let certificate = X509_STORE_CTX_get_current_cert(verification)
        let code = X509_STORE_CTX_get_error(verification)
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return .expired(time(certificate.flatMap { X509_get0_notAfter($0) }), checked: checked)
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return .notYetValid(time(certificate.flatMap { X509_get0_notBefore($0) }), checked: checked)
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return .wrongHost(names: certificate.map { names(in: $0) } ?? [])
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return .unknownIssuer
        case X509_V_ERR_INVALID_PURPOSE: return .unsuitablePurpose
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: return .tooWeak
        default: return .untrusted(String(cString: X509_verify_cert_error_string(Int(code))))
        }
    }

    private static func time(_ time: UnsafePointer<ASN1_TIME>?) -> WallTime {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1,
            let date = CivilDate(
                year: Int(parts.tm_year) + 1_900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
                hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
        else { return WallTime(milliseconds: 0) }
        return date.wallTime
    }

    /// The first few host names it is for. The server wrote them, so only plain ones are taken.
    private static func names(in certificate: OpaquePointer) -> [String] {
        guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let list = OpaquePointer(found)
        defer { GENERAL_NAMES_free(list) }
        var names: [String] = []
        for index in 0..<min(OPENSSL_sk_num(list), UplinkLimits.certificateNames) {
            guard names.count < UplinkLimits.shownNames,
                let entry = OPENSSL_sk_value(list, index)?.assumingMemoryBound(to: GENERAL_NAME.self),
                entry.pointee.type == GEN_DNS, let text = entry.pointee.d.dNSName
            else { continue }
            let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
            let name = String(decoding: bytes.prefix(UplinkLimits.hostBytes + 1), as: UTF8.self)
            if HostName.isPlain(name) { names.append(name) }
        }
        return names
    }
}

/// Bounds on what the outer packet may carry or claim (chapter 01 §2.6).
public enum WireLimits {
    /// Bytes the length field may announce, and bytes a compressed payload may expand to: 1 MiB of file content, the
    /// file TLVs around it and the v2 framing.
    public static let payload = 1_179_760
    /// Most bytes one byte of DEFLATE can stand for (RFC 1951: a 258-byte match in two bits); any claim above is a lie.
    public static let expansion = 1_032
    /// Hops a route can list: its count is one byte.
    public static let routeHops = 255
    /// Bytes of a packet signature.
    public static let signature = 64
    /// Payload bytes a version 1 length field can announce.
    public static let shortPayload = 65_535
}

import Basics

/// The payload of ping and pong, types 0x26 and 0x27 (chapter 01 §9.7).
public struct PingPayload: Hashable, Sendable {
    /// Random in a ping, echoed in its pong.
    public var nonce: UInt64
    /// The TTL this very packet started with: a pong carries its own.
    public var originTTL: UInt8

    public init(nonce: UInt64, originTTL: UInt8) {
        self.nonce = nonce
        self.originTTL = originTTL
    }

    /// `nil` below 9 bytes; bytes after them are ignored.
    public init?(payload: [UInt8]) {
        let fields: (UInt64, UInt8)? = payload.withUnsafeBytes {
            var reader = ByteReader($0)
            guard let nonce = reader.readUInt64(), let originTTL = reader.readUInt8() else { return nil }
            return (nonce, originTTL)
        }
        guard let fields else { return nil }
        self.init(nonce: fields.0, originTTL: fields.1)
    }

    public func encoded() -> [UInt8] {
        var bytes = [UInt8]()
        bytes.append(bigEndian: nonce)
        bytes.append(originTTL)
        return bytes
    }

    /// Links the packet crossed, or `nil` when it arrives with more TTL than it claims to have started with.
    public func hops(receivedTTL: UInt8) -> Int? {
        receivedTTL > originTTL ? nil : Int(originTTL) - Int(receivedTTL) + 1
    }
}

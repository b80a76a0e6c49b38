import Basics

/// Why a packet cannot be put on the wire (chapter 01 §2.4).
public enum PacketEncodingError: Error, Hashable, Sendable {
    /// Only versions 1 and 2 exist.
    case unsupportedVersion
    /// Above 65,535 bytes in version 1, or above `WireLimits.payload`, which no receiver takes.
    case payloadTooLong
    /// More than 255 hops.
    case routeTooLong
}

/// The body of a packet on the wire.
enum PacketBody {
    /// Whatever the originator's encoder chooses (chapter 01 §3).
    case originated
    case deflated(level: Int32)
    case uncompressed
}

extension Packet {
    /// The frame (chapter 01 §2.4). An empty route and, in version 1, any route are left out.
    ///
    /// - Parameter padded: Pad the whole frame toward the bucket sizes (chapter 01 §4).
    public func encoded(padded: Bool = false) throws(PacketEncodingError) -> [UInt8] {
        try encoded(ttl: ttl, signature: signature, isSyncResponse: isSyncResponse, padded: padded)
    }

    /// What the packet signature covers: TTL 0, no signature, no RSR flag, always padded (chapter 01 §6.1).
    public func signingInput() throws(PacketEncodingError) -> [UInt8] { try signingInput(body: .originated) }

    func signingInput(body: PacketBody) throws(PacketEncodingError) -> [UInt8] {
        try encoded(ttl: 0, signature: nil, isSyncResponse: false, padded: true, body: body)
    }

    private func encoded(
        ttl: UInt8, signature: [UInt8]?, isSyncResponse: Bool, padded: Bool, body: PacketBody = .originated
    ) throws(PacketEncodingError) -> [UInt8] {
        guard version == 1 || version == 2 else { throw .unsupportedVersion }
        let isLong = version == 2
        guard payload.count <= (isLong ? WireLimits.payload : WireLimits.shortPayload) else { throw .payloadTooLong }
        let hops = isLong ? route.count : 0
        guard hops <= WireLimits.routeHops else { throw .routeTooLong }

        let compressed = payload.count < Compression.threshold ? nil : payload.withUnsafeBytes { compress($0, body) }
        let sizeField = isLong ? 4 : 2
        let announced = compressed.map { $0.count + sizeField } ?? payload.count
        guard isLong || announced <= WireLimits.shortPayload else { throw .payloadTooLong }

        var flags: PacketFlags = []
        if recipientID != nil { flags.insert(.hasRecipient) }
        if signature != nil { flags.insert(.hasSignature) }
        if compressed != nil { flags.insert(.isCompressed) }
        if hops > 0 { flags.insert(.hasRoute) }
        if isSyncResponse { flags.insert(.isSyncResponse) }

        let signatureSize = min(signature?.count ?? 0, WireLimits.signature)
        let addresses = (recipientID == nil ? 1 : 2) * PeerID.size + (hops > 0 ? 1 + hops * PeerID.size : 0)
        let length = (isLong ? 16 : 14) + addresses + announced + signatureSize
        let pad = padded ? Padding.length(for: length) : 0

        return [UInt8](unsafeUninitializedCapacity: length + pad) { buffer, count in
            var writer = FrameWriter(UnsafeMutableRawBufferPointer(buffer))
            writer.write(version)
            writer.write(type.rawValue)
            writer.write(ttl)
            writer.write(timestamp.milliseconds)
            writer.write(flags.rawValue)
            writer.writeLength(announced, isLong: isLong)
            writer.write(senderID.value)
            if let recipientID { writer.write(recipientID.value) }
            if hops > 0 {
                writer.write(UInt8(hops))
                for hop in route { writer.write(hop.value) }
            }
            if let compressed {
                writer.writeLength(payload.count, isLong: isLong)
                writer.write(compressed[...])
            } else {
                writer.write(payload[...])
            }
            if let signature { writer.write(signature.prefix(signatureSize)) }
            writer.fill(UInt8(truncatingIfNeeded: pad), count: pad)
            count = writer.offset
        }
    }

    private func compress(_ payload: UnsafeRawBufferPointer, _ body: PacketBody) -> [UInt8]? {
        switch body {
        case .originated: Compression.body(for: payload)
        case .deflated(let level): Compression.body(for: payload, level: level)
        case .uncompressed: nil
        }
    }
}

/// Writes into a buffer whose size was computed to hold everything.
struct FrameWriter {
    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var offset = 0

    @inline(__always) init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

    /// Big-endian.
    @inline(__always) mutating func write<T: FixedWidthInteger>(_ value: T) {
        buffer.storeBytes(of: value.bigEndian, toByteOffset: offset, as: T.self)
        offset += MemoryLayout<T>.size
    }

    /// The 2- or 4-byte length field of a version.
    @inline(__always) mutating func writeLength(_ length: Int, isLong: Bool) {
        if isLong { write(UInt32(length)) } else { write(UInt16(length)) }
    }

    @inline(__always) mutating func write(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { write($0) } }

    @inline(__always) mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<offset + bytes.count]).copyMemory(from: bytes)
        offset += bytes.count
    }

    @inline(__always) mutating func fill(_ byte: UInt8, count: Int) {
        guard count > 0 else { return }
        buffer.baseAddress?.advanced(by: offset).initializeMemory(as: UInt8.self, repeating: byte, count: count)
        offset += count
    }
}

import Czlib

/// Raw DEFLATE (RFC 1951) as packets carry it (chapter 01 §3).
public enum Compression {
    /// Shorter payloads are never compressed.
    public static let threshold = 100
    /// The level of signed packets: receivers recompress to verify (chapter 01 §3.2, §6.4).
    public static let defaultLevel: Int32 = 5
    /// What Android compresses with.
    public static let androidLevel: Int32 = 6

    /// Whether an encoder tries to compress this payload: n ≥ 100 and 10·u < 9·min(n, 256) for u distinct byte values
    /// (chapter 01 §3.1).
    public static func shouldAttempt(_ payload: UnsafeRawBufferPointer) -> Bool {
        guard payload.count >= threshold else { return false }
        let distinct = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { seen in
            seen.initialize(repeating: 0)
            for byte in payload { seen[Int(byte)] = 1 }
            return seen.reduce(0) { $0 + Int($1) }
        }
        return 10 * distinct < 9 * min(payload.count, 256)
    }

    /// The whole of `payload` in one raw DEFLATE stream, or `nil` unless that is strictly shorter.
    public static func deflate(_ payload: UnsafeRawBufferPointer, level: Int32 = defaultLevel) -> [UInt8]? {
        guard payload.count <= WireLimits.payload, let deflater = Deflater.take() else { return nil }
        defer { deflater.giveBack() }
        return deflater.deflate(payload, level: level)
    }

    /// The body an encoder writes for `payload`: compressed when worth it, else `nil` (chapter 01 §3.1).
    public static func body(for payload: UnsafeRawBufferPointer, level: Int32 = defaultLevel) -> [UInt8]? {
        shouldAttempt(payload) ? deflate(payload, level: level) : nil
    }

    /// The first `originalSize` bytes `body` expands to, or `nil` when there are fewer (chapter 01 §3.4). What comes
    /// later in the stream, errors included, is ignored.
    ///
    /// Reachable before any authentication, so both bounds hold before memory is taken: `WireLimits.payload` and
    /// `WireLimits.expansion`.
    public static func inflate(_ body: UnsafeRawBufferPointer, originalSize: Int) -> [UInt8]? {
        guard isPlausible(body, originalSize), let inflater = Inflater.take() else { return nil }
        defer { inflater.giveBack() }
        var complete = false
        let payload = [UInt8](unsafeUninitializedCapacity: originalSize) { output, count in
            complete = inflater.inflate(
                body, filling: UnsafeMutableRawBufferPointer(start: output.baseAddress, count: originalSize))
            count = complete ? originalSize : 0
        }
        return complete ? payload : nil
    }

    public static func inflate(_ body: [UInt8], originalSize: Int) -> [UInt8]? {
        body.withUnsafeBytes { inflate($0, originalSize: originalSize) }
    }

    /// As `inflate`, into a buffer kept between calls that is valid only while `use` runs.
    @inlinable
    public static func withInflated<R>(
        _ body: UnsafeRawBufferPointer, size: Int, _ use: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R? {
        guard isPlausible(body, size), let inflater = Inflater.take() else { return nil }
        defer { inflater.giveBack() }
        guard let payload = inflater.inflated(body, size: size) else { return nil }
        return try use(payload)
    }

    @usableFromInline
    static func isPlausible(_ body: UnsafeRawBufferPointer, _ size: Int) -> Bool {
        size > 0 && size <= WireLimits.payload && body.count <= WireLimits.payload
            && size <= body.count * WireLimits.expansion
    }
}

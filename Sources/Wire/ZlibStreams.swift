import Czlib
import Synchronization

/// A raw inflate stream with an output buffer, at a fixed address because zlib points back at it.
///
/// One idle stream is kept, so that the usual caller pays neither for zlib's allocations nor for the buffer. It is
/// taken and given back by an atomic exchange of its address (0: none idle); a second caller at the same time gets a
/// stream of its own.
@usableFromInline
struct Inflater {
    /// Payloads up to this size inflate into the kept buffer, larger ones into a temporary one.
    static let keptBuffer = 16_384

    private struct State {
        let stream: UnsafeMutablePointer<z_stream>
        let buffer: UnsafeMutableRawBufferPointer
        var overflow: UnsafeMutableRawBufferPointer?
    }

    private static let idle = Atomic<UInt>(0)
    private let state: UnsafeMutablePointer<State>

    /// - Returns: `nil` when zlib gets no memory.
    @usableFromInline
    static func take() -> Inflater? {
        if let state = UnsafeMutablePointer<State>(bitPattern: idle.exchange(0, ordering: .acquiringAndReleasing)) {
            return Inflater(state: state)
        }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(
            to: State(stream: .allocate(capacity: 1), buffer: .allocate(byteCount: keptBuffer, alignment: 16)))
        state.pointee.stream.initialize(to: z_stream())
        let inflater = Inflater(state: state)
        let status = inflateInit2_(
            state.pointee.stream, -MAX_WBITS, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            inflater.free()
            return nil
        }
        return inflater
    }

    @usableFromInline
    func giveBack() {
        state.pointee.overflow?.deallocate()
        state.pointee.overflow = nil
        let previous = Inflater.idle.exchange(UInt(bitPattern: state), ordering: .acquiringAndReleasing)
        if let surplus = UnsafeMutablePointer<State>(bitPattern: previous) {
            inflateEnd(surplus.pointee.stream)
            Inflater(state: surplus).free()
        }
    }

    /// The payload in a buffer of this inflater.
    @usableFromInline
    func inflated(_ body: UnsafeRawBufferPointer, size: Int) -> UnsafeRawBufferPointer? {
        let output: UnsafeMutableRawBufferPointer
        if size <= Inflater.keptBuffer {
            output = UnsafeMutableRawBufferPointer(rebasing: state.pointee.buffer[..<size])
        } else {
            output = .allocate(byteCount: size, alignment: 16)
            state.pointee.overflow = output
        }
        return inflate(body, filling: output) ? UnsafeRawBufferPointer(output) : nil
    }

    /// Whether the stream in `body` filled `output`.
    func inflate(_ body: UnsafeRawBufferPointer, filling output: UnsafeMutableRawBufferPointer) -> Bool {
        let stream = state.pointee.stream
        guard inflateReset(stream) == Z_OK else { return false }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: body.baseAddress?.assumingMemoryBound(to: Bytef.self))
        stream.pointee.avail_in = uInt(body.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = uInt(output.count)
        _ = Czlib.inflate(stream, Z_FINISH)
        return stream.pointee.avail_out == 0
    }

    private func free() {
        state.pointee.stream.deallocate()
        state.pointee.buffer.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }
}

/// A raw deflate stream (windowBits −15, memLevel 8, default strategy), kept like `Inflater`; about 260 kB.
struct Deflater {
    /// Payloads up to this size are remembered: a request goes to each neighbour in a frame of its own.
    static let remembered = 2_048

    private struct State {
        let stream: UnsafeMutablePointer<z_stream>
        var payload: [UInt8] = []
        var level: Int32 = -1
        var compressed: [UInt8]?
    }

    private static let idle = Atomic<UInt>(0)
    private let state: UnsafeMutablePointer<State>

    /// - Returns: `nil` when zlib gets no memory.
    static func take() -> Deflater? {
        if let state = UnsafeMutablePointer<State>(bitPattern: idle.exchange(0, ordering: .acquiringAndReleasing)) {
            return Deflater(state: state)
        }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Compression.defaultLevel, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, zlibVersion(),
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deallocate()
            return nil
        }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State(stream: stream))
        return Deflater(state: state)
    }

    func giveBack() {
        let previous = Deflater.idle.exchange(UInt(bitPattern: state), ordering: .acquiringAndReleasing)
        if let surplus = UnsafeMutablePointer<State>(bitPattern: previous) {
            deflateEnd(surplus.pointee.stream)
            surplus.pointee.stream.deallocate()
            surplus.deinitialize(count: 1)
            surplus.deallocate()
        }
    }

    /// - Returns: The compressed stream; `nil` unless it is shorter than `payload`.
    func deflate(_ payload: UnsafeRawBufferPointer, level: Int32) -> [UInt8]? {
        if state.pointee.level == level, state.pointee.payload.elementsEqual(payload) {
            return state.pointee.compressed
        }
        let compressed = deflated(payload, level: level)
        if payload.count <= Deflater.remembered {
            state.pointee.payload = [UInt8](payload)
            state.pointee.level = level
            state.pointee.compressed = compressed
        }
        return compressed
    }

    private func deflated(_ payload: UnsafeRawBufferPointer, level: Int32) -> [UInt8]? {
        var isComplete = false
        // zlib reports the end of a stream only with room to spare, so the buffer holds one byte more than is accepted.
        let compressed = [UInt8](unsafeUninitializedCapacity: payload.count) { output, count in
            if let written = deflate(payload, into: UnsafeMutableRawBufferPointer(output), level: level),
                written < payload.count
            {
                count = written
                isComplete = true
            }
        }
        return isComplete ? compressed : nil
    }

    /// - Returns: The size of the compressed stream; `nil` when it does not fit `output`.
    private func deflate(
        _ payload: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, level: Int32
    ) -> Int? {
        let stream = state.pointee.stream
        guard deflateReset(stream) == Z_OK, deflateParams(stream, level, Z_DEFAULT_STRATEGY) == Z_OK else { return nil }
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: payload.baseAddress?.assumingMemoryBound(to: Bytef.self))
        stream.pointee.avail_in = uInt(payload.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = uInt(output.count)
        guard Czlib.deflate(stream, Z_FINISH) == Z_STREAM_END else { return nil }
        return output.count - Int(stream.pointee.avail_out)
    }
}

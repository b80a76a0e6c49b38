import Basics

/// Damage seen by a stream assembler.
public enum StreamDamage: String, CaseIterable, Sendable {
    /// One byte that begins no frame and is no padding.
    case strayByte
    /// The buffer was given up: a frame stalled, an impossible header, or too much data.
    case reset
    /// A partial frame was discarded because it was too old.
    case stalePartial
}

/// Cuts frames out of a byte stream the way iOS reads its notifications (chapter 03 A8.2). One per outgoing link, made
/// anew on reconnect.
public struct StreamAssembler: Sendable {
    public struct Limits: Sendable {
        /// Bytes buffered.
        public var buffer: Int
        /// Age at which an incomplete frame is given up when another chunk arrives.
        public var stall: Interval

        public init(buffer: Int, stall: Interval) {
            self.buffer = buffer
            self.stall = stall
        }

        public static let reference = Limits(buffer: 8_388_608, stall: .milliseconds(250))
    }

    public let limits: Limits
    public private(set) var damage = Tally<StreamDamage>()
    private var buffer: [UInt8] = []
    /// The length of the frame being waited for, and when that was first known.
    private var awaited: (length: Int, since: Instant)?

    public init(limits: Limits = .reference) { self.limits = limits }

    public var bufferedBytes: Int { buffer.count }

    /// Takes the next bytes of the stream in and hands every complete frame to `deliver`, undecoded.
    public mutating func receive(
        _ chunk: UnsafeRawBufferPointer, at now: Instant, deliver: (UnsafeRawBufferPointer) -> Void
    ) {
        guard !chunk.isEmpty else { return }
        guard chunk.count <= limits.buffer - buffer.count else { return reset() }
        buffer.append(contentsOf: chunk)

        var start = 0
        loop: while buffer.count - start >= FrameLayout.smallestShortFrame {
            let delimitation = buffer.withUnsafeBytes {
                FrameDelimiter.delimit(UnsafeRawBufferPointer(rebasing: $0[start...]), limit: limits.buffer)
            }
            switch delimitation {
            case .noFrame:
                let padding = FrameDelimiter.paddingLength(buffer[start...])
                if padding == 0 { damage.count(.strayByte) }
                start += max(padding, 1)
            case .incomplete: break loop
            case .impossible: return reset()
            case .frame(let length) where buffer.count - start < length:
                guard let awaited, awaited.length == length else {
                    awaited = (length, now)
                    break loop
                }
                if now - awaited.since >= limits.stall { return reset() }
                break loop
            case .frame(let length):
                buffer.withUnsafeBytes { deliver(UnsafeRawBufferPointer(rebasing: $0[start..<start + length])) }
                awaited = nil
                start += length
                start += FrameDelimiter.paddingLength(buffer[start...])
            }
        }
        start += FrameDelimiter.paddingLength(buffer[start...])
        buffer.removeFirst(start)
        if buffer.allSatisfy({ $0 == 0 }) { buffer.removeAll(keepingCapacity: true) }
    }

    /// Forgets what is buffered, without counting it as damage.
    public mutating func clear() {
        buffer.removeAll(keepingCapacity: true)
        awaited = nil
    }

    mutating func discardStale() {
        clear()
        damage.count(.stalePartial)
    }

    private mutating func reset() {
        clear()
        damage.count(.reset)
    }
}

/// Reads notifications: each is taken as one frame, as every known sender emits them, and only what is none goes
/// through a small stream assembler (chapter 03 A8.2, recommended form). A lost tail so costs one frame, not three.
public struct NotificationAssembler: Sendable {
    /// No known sender lets a frame span notifications, so little need be kept.
    public static let limits = StreamAssembler.Limits(buffer: 8_192, stall: .milliseconds(250))

    private var stream = StreamAssembler(limits: limits)
    /// When the buffered partial frame began.
    private var partialSince: Instant?

    public init() {}

    public var damage: Tally<StreamDamage> { stream.damage }
    public var bufferedBytes: Int { stream.bufferedBytes }

    /// Takes one notification value in and hands every complete frame to `deliver`, undecoded.
    public mutating func receive(
        _ value: UnsafeRawBufferPointer, at now: Instant, deliver: (UnsafeRawBufferPointer) -> Void
    ) {
        guard !value.isEmpty else { return }
        if case .success(let layout) = FrameLayout.parse(value), isPadding(value[layout.length...]) {
            stream.clear()
            partialSince = nil
            return deliver(UnsafeRawBufferPointer(rebasing: value[..<layout.length]))
        }
        if let partialSince, now - partialSince > NotificationAssembler.limits.stall {
            stream.discardStale()
            self.partialSince = nil
        }
        stream.receive(value, at: now) { frame in
            partialSince = nil
            deliver(frame)
        }
        partialSince = stream.bufferedBytes == 0 ? nil : partialSince ?? now
    }

    /// Nothing, or padding to the last byte.
    private func isPadding(_ rest: Slice<UnsafeRawBufferPointer>) -> Bool {
        rest.isEmpty || FrameDelimiter.paddingLength(rest) == rest.count
    }
}

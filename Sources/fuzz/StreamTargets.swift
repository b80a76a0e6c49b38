import Basics
import Wire

extension FuzzTarget {
    static let streams = [
        FuzzTarget("frame-delimiter", checkDelimiter), FuzzTarget("stream-assembler", checkStream),
        FuzzTarget("notification-assembler", checkNotifications),
    ]

    /// What parses as a frame is delimited as that frame.
    private static func checkDelimiter(_ buffer: UnsafeRawBufferPointer) {
        let delimitation = FrameDelimiter.delimit(buffer, limit: 8_388_608)
        guard case .success(let layout) = FrameLayout.parse(buffer) else { return }
        require(delimitation == .frame(length: layout.length), "both readers agree on the length")
    }

    private static func checkStream(_ buffer: UnsafeRawBufferPointer) {
        let limits = StreamAssembler.Limits(buffer: 2_048, stall: .milliseconds(250))
        var assembler = StreamAssembler(limits: limits)
        forEachChunk(buffer) { chunk, now in
            assembler.receive(chunk, at: now) { frame in
                require(
                    FrameDelimiter.delimit(frame, limit: limits.buffer) == .frame(length: frame.count),
                    "whole frames are delivered")
            }
            require(assembler.bufferedBytes <= limits.buffer, "the buffer keeps its bound")
        }
    }

    private static func checkNotifications(_ buffer: UnsafeRawBufferPointer) {
        var assembler = NotificationAssembler()
        forEachChunk(buffer) { chunk, now in
            var delivered = 0
            assembler.receive(chunk, at: now) { frame in
                delivered += 1
                require(
                    FrameDelimiter.delimit(frame, limit: .max) == .frame(length: frame.count),
                    "whole frames are delivered")
            }
            require(assembler.bufferedBytes <= NotificationAssembler.limits.buffer, "the buffer keeps its bound")
            if case .success(let layout) = FrameLayout.parse(chunk), layout.length == chunk.count {
                require(delivered == 1 && assembler.bufferedBytes == 0, "a notification that is a frame is delivered")
            }
        }
    }

    private static func forEachChunk(
        _ buffer: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer, Instant) -> Void
    ) {
        var input = FuzzInput(buffer)
        var now = Instant.zero
        while !input.isAtEnd {
            now = now + .milliseconds(Int(input.byte()))
            take(input.bytes(Int(input.short() & 0x3ff)), now)
        }
    }
}

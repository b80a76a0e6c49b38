import Basics
import Wire

extension FuzzTarget {
    static let fragments = [
        FuzzTarget("fragment-header", checkHeader), FuzzTarget("fragment-plan", checkPlan),
        FuzzTarget("fragment-assembler", checkAssembler),
    ]

    private static func checkHeader(_ buffer: UnsafeRawBufferPointer) {
        guard let header = FragmentHeader(payload: buffer) else { return }
        require(header.total >= 1 && header.total <= FragmentHeader.mostFragments, "the total keeps its bound")
        require(header.index < header.total, "the index is inside")
        require(FragmentHeader.slice(of: buffer).count == buffer.count - FragmentHeader.size, "the rest is the slice")
    }

    /// Whatever is cut fits its limit and comes together again.
    private static func checkPlan(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        let limit = Int(input.short())
        guard let frame = try? Frame([UInt8](input.rest())), frame.type != .fragment,
            let chunk = FragmentChunk.filling(
                frameLimit: limit, hasRecipient: frame.layout.hasRecipient, hops: frame.layout.routeCount),
            let plan = FragmentPlan(frame, chunk: chunk, streamID: FragmentStreamID(value: 1))
        else { return }
        require(plan.frame(at: plan.count) == nil && plan.frame(at: -1) == nil, "there are so many fragments")
        var assembler = FragmentAssembler()
        var outcome: FragmentAssembler.Outcome?
        for index in 0..<plan.count {
            guard let fragment = plan.frame(at: index) else { return require(false, "every fragment can be made") }
            require(fragment.bytes.count <= limit, "no fragment exceeds the limit")
            require(fragment.packet() == plan.packet(at: index), "frames and packets agree")
            fragment.withView { view in
                guard let header = FragmentHeader(payload: view.body) else { return require(false, "a valid header") }
                outcome = assembler.add(
                    header, slice: FragmentHeader.slice(of: view.body), sender: view.senderID,
                    link: LinkID(value: 1), at: .zero)
            }
        }
        require(outcome == .complete(frame.transmitted()), "the fragments join to their parent")
    }

    /// Arbitrary fragments from a few senders and links: the caps hold after each.
    private static func checkAssembler(_ buffer: UnsafeRawBufferPointer) {
        var limits = FragmentAssembler.Limits()
        limits.sets = 6
        limits.setsPerSource = 3
        limits.bytesPerSet = 300
        limits.bytesPerFileSet = 400
        limits.bytesPerSource = 700
        limits.bytes = 1_000
        var assembler = FragmentAssembler(limits: limits)
        var input = FuzzInput(buffer)
        var now = Instant.zero
        while !input.isAtEnd {
            let choice = input.byte()
            now = now + .milliseconds(Int(choice) * 10)
            if choice == 0xff { _ = assembler.expire(at: now) }
            if choice == 0xfe {
                let stalled = assembler.takeStalled(idle: .seconds(1), retry: .seconds(2), most: 2, at: now)
                require(stalled.count <= 2, "no more streams than asked for")
            }
            guard
                let header = FragmentHeader(
                    streamID: FragmentStreamID(value: UInt64(choice & 7)), index: UInt16(input.byte() & 15),
                    total: UInt16(input.byte() & 15), originalType: MessageType(rawValue: input.byte()))
            else { continue }
            let origin = input.byte()
            let outcome = assembler.add(
                header, slice: input.bytes(Int(input.byte())), sender: PeerID(value: UInt64(origin & 3)),
                link: LinkID(value: UInt64(origin >> 2 & 3)), isBroadcast: origin & 0x80 == 0, at: now)
            if case .complete(let joined) = outcome {
                require(joined.count <= limits.bytesPerFileSet, "a whole keeps its bound")
            }
            require(assembler.count <= limits.sets, "the sets keep their bound")
            require(assembler.bytes <= limits.bytes, "the bytes keep their bound")
        }
        _ = assembler.expire(at: now + .seconds(31))
        require(assembler.count == 0 && assembler.bytes == 0, "nothing outlives its time")
    }
}

import Basics
import EventLoop

/// Values on their way to a receiver through an impairment: lost or delivered later, never reordered. The same seed and
/// the same sequence of values give the same losses and delays.
final class ImpairedLine {
    enum Fate {
        case lost
        case underway
    }

    private let loop: any EventLoop
    private let impairment: Impairment
    private let deliver: (UnsafeRawBufferPointer) -> Void
    private var random: SeededRandom
    private var waiting = Queue<(due: Instant, value: [UInt8])>()
    private var lastDue = Instant.zero
    private var timer: (any Cancellable)?
    private(set) var bytes = 0

    /// - Parameter stream: tells apart lines that share the impairment's seed.
    init(
        loop: any EventLoop, impairment: Impairment, stream: UInt64,
        deliver: @escaping (UnsafeRawBufferPointer) -> Void
    ) {
        self.loop = loop
        self.impairment = impairment
        self.deliver = deliver
        var mixer = SeededRandom(seed: impairment.seed)
        random = SeededRandom(seed: mixer.next() &+ stream &* 0x9e37_79b9_7f4a_7c15)
    }

    deinit { timer?.cancel() }

    var count: Int { waiting.count }

    func offer(_ value: UnsafeRawBufferPointer) -> Fate {
        // Both draws are made for every value, so that a loss does not shift the delays of those after it.
        let isLost = Double.random(in: 0..<1, using: &random) < impairment.loss
        let delay = random.interval(impairment.delay.lowerBound, impairment.delay.upperBound)
        guard !isLost else { return .lost }
        lastDue = max(lastDue, loop.now.monotonic + delay)
        waiting.append((lastDue, [UInt8](value)))
        bytes += value.count
        if timer == nil { arm() }
        return .underway
    }

    /// Forgets everything underway.
    func clear() {
        timer?.cancel()
        timer = nil
        waiting.removeAll()
        bytes = 0
    }

    private func arm() {
        guard let next = waiting.first else { return }
        timer = loop.schedule(after: next.due - loop.now.monotonic) { [weak self] in self?.deliverDue() }
    }

    private func deliverDue() {
        timer = nil
        let now = loop.now.monotonic
        while timer == nil, let next = waiting.first, next.due <= now {
            _ = waiting.popFirst()
            bytes -= next.value.count
            next.value.withUnsafeBytes(deliver)
        }
        if timer == nil { arm() }
    }
}

import CAllocationCount
import Glibc

/// A piece of work to be timed: runs itself `count` times.
typealias Work = (_ count: Int) -> Void

/// Something the box does often, made ready to be timed.
struct Trial {
    let subject: Work
    /// The same job for the bare library call inside it, which nothing can go below; `nil` where no library does it.
    let bare: Work?
    /// Report the heap allocations of one operation as well.
    let countsAllocations: Bool
    /// Fewer for work that takes long by itself.
    let rounds: Int

    init(
        bare: Work? = nil, countsAllocations: Bool = false, rounds: Int = Stopwatch.rounds, subject: @escaping Work
    ) {
        self.subject = subject
        self.bare = bare
        self.countsAllocations = countsAllocations
        self.rounds = rounds
    }
}

struct Benchmark {
    let name: String
    /// One line for `--help`.
    let about: String
    let prepare: () -> Trial

    init(_ name: String, _ about: String, _ prepare: @escaping () -> Trial) {
        self.name = name
        self.about = about
        self.prepare = prepare
    }
}

struct Measurement {
    let operationsPerSecond: Double
    let barePerSecond: Double?
    /// Heap allocations of one operation and the bytes they ask for: means over many after the warm-up; `nil` where
    /// nobody asked.
    let allocations: (count: Double, bytes: Double)?

    var ratio: Double? { barePerSecond.map { operationsPerSecond / $0 } }
}

/// Best of many short rounds in processor time, subject and bare library in turn, so that both see the same machine:
/// another process on it, or a change of clock rate, then spoils some rounds of both and not the comparison.
enum Stopwatch {
    /// Each side is timed for at least `rounds` × `roundLength` = 0.5 s after the warm-up.
    static let rounds = 125
    private static let roundLength = 0.004
    private static let allocationSamples = 20_000

    static func measure(_ trial: Trial) -> Measurement {
        let subjectCount = calibrated(trial.subject)
        let bareCount = trial.bare.map(calibrated) ?? 0
        var subject = Double.infinity
        var bare = Double.infinity
        for _ in 0..<trial.rounds {
            subject = min(subject, seconds { trial.subject(subjectCount) } / Double(subjectCount))
            if let work = trial.bare { bare = min(bare, seconds { work(bareCount) } / Double(bareCount)) }
        }
        return Measurement(
            operationsPerSecond: 1 / subject, barePerSecond: trial.bare == nil ? nil : 1 / bare,
            allocations: trial.countsAllocations ? allocations(trial.subject) : nil)
    }

    private static func allocations(_ work: Work) -> (count: Double, bytes: Double) {
        let (count, bytes) = (allocation_count(), allocation_bytes())
        work(allocationSamples)
        let samples = Double(allocationSamples)
        return (Double(allocation_count() - count) / samples, Double(allocation_bytes() - bytes) / samples)
    }

    /// How often the work runs in one round. Finding out is the warm-up.
    private static func calibrated(_ work: Work) -> Int {
        var count = 1
        while true {
            let elapsed = seconds { work(count) }
            if elapsed >= roundLength { return count }
            count = max(count * 2, Int(Double(count) * roundLength / max(elapsed, 1e-7)))
        }
    }

    private static func seconds(_ body: () -> Void) -> Double {
        let start = now()
        body()
        return now() - start
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// Keeps a result alive, so that the compiler cannot leave out the work that made it.
@inline(never)
func consume<T>(_ value: T) {
    withExtendedLifetime(value) {}
}

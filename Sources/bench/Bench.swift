import Glibc

@main
enum Bench {
    private static var all: [Benchmark] {
        WireBenchmarks.all + MeshBenchmarks.all + SyncBenchmarks.all + CryptoBenchmarks.all + NostrBenchmarks.all
            + RelayBenchmarks.all
            + VaultBenchmarks.all
    }

    static func main() {
        exit(run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        let benchmarks = all
        var wanted: [String] = []
        var remaining = arguments[...]
        while let argument = remaining.popFirst() {
            switch argument {
            case "--help", "-h":
                printUsage(benchmarks)
                return 0
            case "--idle":
                guard let resident = IdleMemory.measure() else { return refuse("the stand-in was not reached") }
                print("relays-idle-kib \(resident) -")
                return 0
            case "--relay-stand-in":
                guard let file = remaining.popFirst(), let relay = RelayStandIn(certificateFile: file) else {
                    return refuse("no stand-in for relays")
                }
                relay.run()
                return 0
            case "--only":
                guard let name = remaining.popFirst(), benchmarks.contains(where: { $0.name == name }) else {
                    return refuse("--only wants the name of a benchmark")
                }
                wanted.append(name)
            default: return refuse("unknown argument '\(argument)'")
            }
        }
        for benchmark in benchmarks where wanted.isEmpty || wanted.contains(benchmark.name) {
            let measurement = Stopwatch.measure(benchmark.prepare())
            let ratio = measurement.ratio.map { fixed($0, decimals: 3) } ?? "-"
            print("\(benchmark.name) \(fixed(measurement.operationsPerSecond, decimals: 0)) \(ratio)")
            if let allocations = measurement.allocations {
                print("\(benchmark.name)-allocations \(fixed(allocations.count, decimals: 3)) -")
                print("\(benchmark.name)-bytes \(fixed(allocations.bytes, decimals: 0)) -")
            }
        }
        if wanted.isEmpty { measureIdle() }
        return 0
    }

    /// In a process of its own, which has done nothing else.
    private static func measureIdle() {
        fflush(nil)
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("bench"), strdup("--idle"), nil]
        defer { for argument in arguments { free(argument) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var process: pid_t = 0
        guard posix_spawn(&process, "/proc/self/exe", nil, nil, &arguments, &environment) == 0 else { return }
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    private static func refuse(_ reason: String) -> Int32 {
        let line = Array("bench: \(reason); see bench --help\n".utf8)
        write(STDERR_FILENO, line, line.count)
        return 2
    }

    private static func printUsage(_ benchmarks: [Benchmark]) {
        print(
            """
            usage: bench [--only NAME]...
                   bench --idle

            Times what the box does most, each beside the bare library call inside it, best of interleaved rounds.
            One line a benchmark: name, operations per second, ratio to the bare library (- where none applies).
            A line NAME-allocations tells instead the heap allocations of one operation in steady state, a line
            NAME-bytes how much memory they ask for. At the end, or alone with --idle, what a process of its own holds
            in KiB that keeps 64 relays with 20 subscriptions each, over TLS, and has nothing to do. (The relays are a
            second process, bench --relay-stand-in FILE, which writes its certificate to the file.)

            benchmarks:
            """)
        for benchmark in benchmarks {
            let name = benchmark.name + String(repeating: " ", count: max(1, 20 - benchmark.name.count))
            print("  \(name)\(benchmark.about)")
        }
    }

    private static func fixed(_ value: Double, decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1.0) { product, _ in product * 10 }
        let digits = String(Int((value * scale).rounded()))
        guard decimals > 0 else { return digits }
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }
}

import Glibc
import Simulation

/// A line on standard error now and then, rewritten in place on a terminal.
struct ProgressMeter {
    private let start = ContinuousClock.now
    private var last = ContinuousClock.now
    private var shown = false
    private let isTerminal = isatty(STDERR_FILENO) == 1

    private var interval: Duration { isTerminal ? .seconds(1) : .seconds(10) }

    var seconds: String {
        let tenths = start.duration(to: .now) / .milliseconds(100)
        return "\(Int(tenths) / 10).\(Int(tenths) % 10)"
    }

    mutating func show(_ text: @autoclosure () -> String) {
        guard last.duration(to: .now) >= interval else { return }
        last = .now
        shown = true
        Output.error(isTerminal ? "\r\(text()), \(seconds) s\u{1b}[K" : "\(text()), \(seconds) s\n")
    }

    mutating func show(_ run: SimulationRun) {
        let mesh = run.mesh
        show(
            "\(ClockText.text(mesh.elapsed)) of \(ClockText.text(run.setting.span)), \(mesh.steps) steps, "
                + "\(mesh.linkCount) links, \(run.log.deliveries.count) deliveries")
    }

    mutating func finish() {
        if shown, isTerminal { Output.error("\n") }
        shown = false
    }
}

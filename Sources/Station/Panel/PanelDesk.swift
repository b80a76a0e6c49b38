import Basics
import EventLoop
import Glibc
import Panel

enum PanelDeskLimits {
    /// How often what is observed is looked at. A wipe, and what the button does, is shown at once.
    static let interval = Interval.seconds(1)
    /// How often the lamps are seen to while a wipe holds the loop: half of the shortest span of its pattern.
    static let wipePause = Interval.milliseconds(30)
}

/// The panel of a box, whether it works or is blocked by a wipe: the same lines from the first moment of the process to
/// its last.
final class PanelDesk {
    /// What is observed, asked for again and again.
    var observe: () -> PanelState = { PanelState() }
    /// The gesture was made.
    var onWipe: () -> Void = {}
    /// The outcome of a wipe was seen.
    var onAcknowledge: () -> Void = {}

    private let panel: Panel
    private let loop: any EventLoop
    private var timer: (any Cancellable)?

    typealias Opening = (PanelWire, GPIOLine.Direction) throws(GPIOProblem) -> any PanelLine

    /// A line of this machine.
    static func ownLine(_ wire: PanelWire, _ direction: GPIOLine.Direction) throws(GPIOProblem) -> any PanelLine {
        try GPIOLine(wire.address, direction, wire.options)
    }

    init(_ configuration: PanelConfiguration, loop: any EventLoop, open: @escaping Opening = PanelDesk.ownLine) {
        self.loop = loop
        panel = Panel(loop: loop, configuration: configuration, open: open)
        panel.onWipe = { [unowned self] in onWipe() }
        panel.onAcknowledge = { [unowned self] in
            onAcknowledge()
            refresh()
        }
    }

    var report: PanelReport? { panel.report }
    /// A finger is on the button, or a gesture is under way.
    var isInUse: Bool { panel.isInUse }

    /// Takes the lines, and shows that the box is starting until something is observed.
    func start() {
        panel.start()
        refresh()
    }

    func stop() {
        timer?.cancel()
        timer = nil
        panel.stop()
    }

    /// Looks at what is observed now.
    func refresh() {
        timer?.cancel()
        timer = nil
        guard !panel.isEmpty else { return }
        panel.show(observe())
        timer = loop.schedule(after: PanelDeskLimits.interval) { [weak self] in self?.refresh() }
    }

    // MARK: While a wipe holds the loop

    func showWiping() { panel.showWiping() }

    /// Lets time pass in which the lamps go on.
    /// - Returns: its milliseconds.
    func pauseInWipe() -> Int {
        let pause = Int(PanelDeskLimits.wipePause.milliseconds)
        usleep(UInt32(pause * 1_000))
        panel.playWiping()
        return pause
    }
}

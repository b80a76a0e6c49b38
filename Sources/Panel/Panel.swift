import Basics
import EventLoop

/// Lamps and the button. Whatever is wrong with a line is reported and tried again; a box without a panel is no error,
/// and neither is one whose panel fails.
public final class Panel {
    /// The gesture that confirms the wipe was made.
    public var onWipe: (() -> Void)?
    /// A tap while the outcome of a wipe is shown: it was seen.
    public var onAcknowledge: (() -> Void)?

    private let loop: any EventLoop
    private let configuration: PanelConfiguration
    private let open: (PanelWire, GPIOLine.Direction) throws(GPIOProblem) -> any PanelLine
    private var state = PanelState()
    private var lamps: [Lamp: LitLamp] = [:]
    private var button: (any PanelLine)?
    private var buttonWatch: (any Cancellable)?
    private var gesture: ButtonGesture?
    /// What the gesture under way is shown as.
    private var gestureSign: PanelSign?
    private var showing: Showing?
    private var timer: (any Cancellable)?
    private var nextPoll: Instant?
    private var retries: [String: Retry] = [:]
    private var isRunning = false
    /// Since when the outcome of a wipe is shown.
    private var outcomeSince: Instant?
    private var wipeBegan: Instant?

    private struct LitLamp {
        let line: any PanelLine
        var sign: PanelSign?
        var began = Instant.zero
        var isLit = false
    }

    private struct Retry {
        var attempts: Int
        var due: Instant
        var problem: GPIOProblem
    }

    /// - Parameter open: takes a line; the kernel's outside tests.
    public init(
        loop: any EventLoop, configuration: PanelConfiguration,
        open: @escaping (PanelWire, GPIOLine.Direction) throws(GPIOProblem) -> any PanelLine = {
            (wire, direction) throws(GPIOProblem) in try GPIOLine(wire.address, direction, wire.options)
        }
    ) {
        self.loop = loop
        self.configuration = configuration
        self.open = open
    }

    deinit { stop() }

    // MARK: Life

    public func start() {
        guard !isRunning, !configuration.isEmpty else { return }
        isRunning = true
        update()
    }

    /// Lamps go dark.
    public func stop() {
        guard isRunning else { return }
        isRunning = false
        timer?.cancel()
        timer = nil
        closeButton()
        for lamp in lamps.values { _ = lamp.line.set(false) }
        lamps.removeAll()
        retries.removeAll()
    }

    public func show(_ state: PanelState) {
        guard state != self.state else { return }
        if state.wipe != .wiped {
            outcomeSince = nil
        } else if self.state.wipe != .wiped {
            outcomeSince = loop.now.monotonic
        }
        self.state = state
        update()
    }

    /// For a wipe that holds the loop: what is shown goes on with `playWiping` alone.
    public func showWiping() {
        state.wipe = .wiping
        wipeBegan = loop.now.monotonic
        playWiping()
    }

    /// Sees to the lamps while a wipe holds the loop.
    public func playWiping() {
        guard isRunning, let wipeBegan else { return }
        // At boot they may be had only now.
        openLamps(at: loop.now.monotonic)
        let elapsed = (loop.now.monotonic - wipeBegan).milliseconds
        for (lamp, lit) in lamps {
            let sign = PanelFace.sign(of: lamp, in: state, gesture: nil, isAlone: configuration.isAlone)
            let isLit = sign.pattern.isLit(at: elapsed)
            if lit.line.set(isLit) {
                lamps[lamp]?.isLit = isLit
                lamps[lamp]?.sign = nil
            }
        }
    }

    /// A finger is on the button, or a gesture is under way.
    public var isInUse: Bool { gestureSign != nil || gesture.map { $0.isActive && !$0.isStuck } ?? false }

    /// No panel, which is no error.
    public var isEmpty: Bool { configuration.isEmpty }

    /// Nil where there is no panel.
    public var report: PanelReport? {
        guard !configuration.isEmpty else { return nil }
        return PanelReport(
            lamps: Lamp.allCases.filter { configuration.lamps[$0] != nil }.map { lamp in
                PanelReport.LampReport(
                    lamp: lamp, sign: lamps[lamp].map { $0.sign ?? .dark }, problem: retries[lamp.rawValue]?.problem)
            }, button: buttonReport)
    }

    private var buttonReport: PanelReport.Button {
        guard configuration.button != nil else { return .none }
        guard let gesture else { return .missing(retries["button"]?.problem) }
        return gesture.isStuck ? .stuck : .listening
    }

    // MARK: Time

    private func update() {
        guard isRunning else { return }
        let now = loop.now.monotonic
        openLines(at: now)
        listen(at: now)
        light(at: now)
        timer?.cancel()
        timer = nextDeadline(after: now).map { due in
            loop.schedule(after: max(.milliseconds(1), due - now)) { [weak self] in self?.update() }
        }
    }

    private func nextDeadline(after now: Instant) -> Instant? {
        var deadlines = retries.values.map(\.due)
        for lamp in lamps.values {
            guard let sign = lamp.sign else { continue }
            let elapsed = (now - lamp.began).milliseconds
            if let next = sign.pattern.nextChange(after: elapsed) {
                deadlines.append(lamp.began + .milliseconds(Int(next)))
            }
        }
        if let due = gesture?.nextDeadline { deadlines.append(due) }
        if let poll = nextPoll { deadlines.append(poll) }
        if let change = showing?.nextChange(isAlone: configuration.isAlone, after: now) { deadlines.append(change) }
        return deadlines.min()
    }

    // MARK: Lines

    private func openLamps(at now: Instant) {
        for lamp in Lamp.allCases where lamps[lamp] == nil {
            guard let wire = configuration.lamps[lamp] else { continue }
            if let line = take(wire, .output, as: lamp.rawValue, at: now) { lamps[lamp] = LitLamp(line: line) }
        }
    }

    private func openLines(at now: Instant) {
        openLamps(at: now)
        if button == nil, let wire = configuration.button,
            let line = take(wire, .input, as: "button", at: now)
        {
            guard let isPressed = line.isActive else {
                return failed("button", .failed(wire.address, "it cannot be read"), at: now)
            }
            button = line
            gesture = ButtonGesture(isPressed: isPressed, at: now, debounce: configuration.debounce)
            nextPoll = now + PanelLimits.buttonPoll
            buttonWatch = line.edges.map { descriptor in
                loop.watch(descriptor, .read) { [weak self] _ in self?.buttonChanged() }
            }
        }
    }

    private func take(
        _ wire: PanelWire, _ direction: GPIOLine.Direction, as name: String, at now: Instant
    ) -> (any PanelLine)? {
        if let retry = retries[name], retry.due > now { return nil }
        do throws(GPIOProblem) {
            let line = try open(wire, direction)
            retries[name] = nil
            return line
        } catch {
            failed(name, error, at: now)
            return nil
        }
    }

    private func failed(_ name: String, _ problem: GPIOProblem, at now: Instant) {
        let attempts = retries[name]?.attempts ?? 0
        let pause = PanelLimits.retryPauses[min(attempts, PanelLimits.retryPauses.count - 1)]
        retries[name] = Retry(attempts: attempts + 1, due: now + pause, problem: problem)
    }

    private func closeButton() {
        buttonWatch?.cancel()
        buttonWatch = nil
        button = nil
        gesture = nil
        gestureSign = nil
        nextPoll = nil
    }

    // MARK: Button

    func buttonChanged() {
        guard isRunning, button != nil else { return }
        update()
    }

    private func lostButton() {
        closeButton()
        if let wire = configuration.button {
            failed("button", .failed(wire.address, "the line is gone"), at: loop.now.monotonic)
        }
    }

    private func listen(at now: Instant) {
        guard let button, var gesture else { return }
        nextPoll = now + PanelLimits.buttonPoll
        guard take(button.takeEdges(), into: &gesture, at: now), var isPressed = button.isActive else {
            return lostButton()
        }
        // An edge may have come between the two: it knows better when that was.
        if isPressed != gesture.isActive {
            guard take(button.takeEdges(), into: &gesture, at: now), let again = button.isActive else {
                return lostButton()
            }
            isPressed = again
        }
        gesture.read(isPressed, at: now)
        self.gesture = gesture
        while let event = self.gesture?.nextEvent() { handle(event, at: now) }
    }

    /// - Returns: false when the line is gone.
    private func take(_ edges: [LineEdge]?, into gesture: inout ButtonGesture, at now: Instant) -> Bool {
        guard let edges else { return false }
        // What was lost may have been before them or behind.
        let isPart = edges.count >= PanelLimits.edgesKept
        if isPart { gesture.loseTrack() }
        defer { if isPart { gesture.loseTrack() } }
        for edge in edges {
            // Some kernels stamp edges with another clock; when such a one was is not known.
            if edge.at <= now + PanelLimits.buttonPoll {
                gesture.edge(edge.isActive, at: edge.at)
            } else {
                gesture.read(edge.isActive, at: now)
            }
        }
        return true
    }

    private func handle(_ event: ButtonGesture.Event, at now: Instant) {
        switch event {
        case .tapped:
            showing = Showing(began: now)
            if let outcomeSince, now - outcomeSince >= PanelLimits.outcomeShown { onAcknowledge?() }
        case .arming: gestureSign = .wipeArming
        case .armed: gestureSign = .wipeArmed
        case .awaitingConfirmation, .confirming: gestureSign = .wipeConfirm
        case .cancelled, .stuck, .freed: gestureSign = nil
        case .confirmed:
            gestureSign = nil
            showing = nil
            onWipe?()
        }
    }

    // MARK: Lamps

    private func light(at now: Instant) {
        let scene = showing?.scene(isAlone: configuration.isAlone, at: now)
        if scene == .over { showing = nil }
        for lamp in Array(lamps.keys) {
            let sign = sign(of: lamp, scene == .over ? nil : scene)
            if lamps[lamp]?.sign != sign {
                lamps[lamp]?.sign = sign
                lamps[lamp]?.began = now
            }
            guard let lit = lamps[lamp], let shown = lit.sign else { continue }
            let isLit = scene == .everyLamp || shown.pattern.isLit(at: (now - lit.began).milliseconds)
            guard isLit != lit.isLit else { continue }
            if lit.line.set(isLit) {
                lamps[lamp]?.isLit = isLit
            } else {
                lamps[lamp] = nil
                if let wire = configuration.lamps[lamp] {
                    failed(lamp.rawValue, .failed(wire.address, "the line is gone"), at: now)
                }
            }
        }
    }

    private func sign(of lamp: Lamp, _ scene: Showing.Scene?) -> PanelSign {
        let usual = PanelFace.sign(of: lamp, in: state, gesture: gestureSign, isAlone: configuration.isAlone)
        let isUrgent = gestureSign != nil || state.wipe != .none || usual == .fault
        switch scene {
        case .other(let other) where !isUrgent:
            return PanelFace.sign(of: other, in: state, gesture: nil, isAlone: configuration.isAlone)
        case .dark where !isUrgent: return .dark
        case nil where configuration.isQuiet && !isUrgent: return .dark
        default: return usual
        }
    }
}

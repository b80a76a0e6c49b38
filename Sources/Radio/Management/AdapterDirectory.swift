import Basics
import EventLoop

/// The machine's controllers that are ours, each as an adapter: there may be none at first, and they come and go.
public final class AdapterDirectory: AdapterSource {
    /// By index.
    public private(set) var adapters: [ManagedAdapter] = []
    /// What the kernel speaks; nil until it has said so.
    public private(set) var version: ManagementVersion?

    private let loop: any EventLoop
    private let channel: ManagementChannel
    private let switches: RadioSwitches
    private let choices: [AdapterChoice]
    private let antennas: AntennaSurvey
    private let configuration: AdapterConfiguration
    private var onAdapter: ((any AdapterPort) -> Void)?
    private var knownCommands: Set<UInt16>?
    private var present: Set<UInt16> = []
    private var listing: (any Cancellable)?

    /// - Parameter choices: which controllers are ours; none means all.
    public init(
        loop: any EventLoop, choices: [AdapterChoice], configuration: AdapterConfiguration,
        channel: ManagementChannel? = nil, switches: RadioSwitches = RadioSwitches(),
        antennas: AntennaSurvey = AntennaSurvey()
    ) {
        self.loop = loop
        self.choices = choices
        self.configuration = configuration
        self.channel = channel ?? ManagementChannel(loop: loop)
        self.switches = switches
        self.antennas = antennas
    }

    deinit { listing?.cancel() }

    /// What the channel could not use.
    public var counters: Tally<ManagementDrop> { channel.counters }

    public var obstacle: AdapterStatus.State? {
        switch channel.state {
        case .forbidden: .forbidden
        case .missing: .absent
        case .open, .closed: nil
        }
    }

    /// Opens the management channel. Adapters chosen by number are given at once, others when they are found; each is
    /// there from then on, even when its controller is not, and waits for its own `start`.
    public func start(onAdapter: @escaping (any AdapterPort) -> Void) {
        self.onAdapter = onAdapter
        channel.delegate = self
        for adapter in adapters { give(adapter) }
        for case .index(let index) in choices { _ = adapter(index) }
        channel.start()
    }

    /// Takes back what is on the air, and closes the channel.
    public func stop() {
        onAdapter = nil
        for adapter in adapters {
            adapter.stop()
            adapter.disappeared()
        }
        present.removeAll()
        listing?.cancel()
        listing = nil
        channel.stop()
    }

    // MARK: Controllers

    /// The adapter of hciN, made if need be; nil when there are too many.
    private func adapter(_ index: UInt16) -> ManagedAdapter? {
        if let known = adapters.first(where: { $0.index == index }) { return known }
        guard adapters.count < ManagementLimits.adapters else {
            // A controller that is gone for good must not keep the last place from another.
            guard let idle = adapters.first(where: isVacant) else { return nil }
            idle.move(to: index)
            adapters.sort { $0.index < $1.index }
            return idle
        }
        let taken = Set(adapters.map(\.place))
        let place = taken.contains(index) ? (0...UInt16.max).first { !taken.contains($0) } ?? index : index
        let adapter = ManagedAdapter(
            index: index, place: place, configuration: configuration, loop: loop, channel: channel, switches: switches)
        adapters.append(adapter)
        adapters.sort { $0.index < $1.index }
        give(adapter)
        return adapter
    }

    /// Whether an adapter waits for a controller that may return under any number.
    private func isVacant(_ adapter: ManagedAdapter) -> Bool {
        !adapter.hasController && !choices.contains(.index(adapter.index))
    }

    /// The adapter of hciN, which has this address: the one that had it before, when that has lost its controller.
    private func adapter(_ index: UInt16, at address: BluetoothAddress?) -> ManagedAdapter? {
        let home = adapters.first { $0.controller?.address == address && isVacant($0) }
        guard let home, address != nil else { return adapter(index) }
        if home.index != index {
            // Whoever had this number has lost its controller as well.
            adapters.first { $0.index == index }?.move(to: home.index)
            home.move(to: index)
            adapters.sort { $0.index < $1.index }
        }
        return home
    }

    private func give(_ adapter: ManagedAdapter) { loop.enqueue { [weak self] in self?.onAdapter?(adapter) } }

    private func list() {
        listing?.cancel()
        listing = loop.schedule(after: ManagementLimits.listing) { [weak self] in self?.list() }
        channel.send(.readIndexList) { [weak self] outcome in
            guard let self, case .success(let answer) = outcome, let list = ControllerList(parsing: answer) else {
                return
            }
            for index in self.present.subtracting(list.indexes).sorted() { self.lost(index) }
            for index in list.indexes { self.found(index) }
        }
    }

    private func found(_ index: UInt16) {
        guard !present.contains(index) else {
            // Its engine may have found it gone meanwhile, and it is back.
            if let known = adapters.first(where: { $0.index == index }) { serve(known) }
            return
        }
        guard present.count < ManagementLimits.listEntries, present.insert(index).inserted else { return }
        if choices.contains(.index(index)) {
            serve(adapter(index))
        } else if choices.isEmpty {
            // One that was here under another number may be back.
            if adapters.contains(where: isVacant) { identify(index) } else { serve(adapter(index)) }
        } else if choices.contains(where: { if case .address = $0 { true } else { false } }) {
            identify(index)
        }
    }

    private func serve(_ adapter: ManagedAdapter?) {
        guard let adapter else { return }
        adapter.shareAntenna(antennas.isShared(ofController: adapter.index))
        adapter.appeared(knownCommands: knownCommands)
    }

    /// Any controller may be behind a number, and another one each time.
    private func identify(_ index: UInt16) {
        channel.send(.readInformation, to: index) { [weak self] outcome in
            guard let self, self.present.contains(index) else { return }
            guard case .success(let answer) = outcome, let controller = ControllerInformation(parsing: answer) else {
                // The next listing asks again.
                self.present.remove(index)
                return
            }
            if self.choices.isEmpty {
                self.serve(self.adapter(index, at: controller.address))
            } else if let address = controller.address, self.choices.contains(.address(address)) {
                self.serve(self.adapter(index, at: address))
            }
        }
    }

    private func lost(_ index: UInt16) {
        guard present.remove(index) != nil else { return }
        adapters.first { $0.index == index }?.disappeared()
    }
}

extension AdapterDirectory: ManagementChannelDelegate {
    public func channelOpened() {
        channel.send(.readVersion) { [weak self] outcome in
            if case .success(let answer) = outcome { self?.version = ManagementVersion(parsing: answer) }
        }
        channel.send(.readCommands) { [weak self] outcome in
            if case .success(let answer) = outcome {
                self?.knownCommands = ManagementCommandList(parsing: answer)?.commands
            }
        }
        list()
    }

    public func channelClosed() {
        listing?.cancel()
        listing = nil
        for index in present.sorted() { lost(index) }
        if channel.state == .forbidden { for adapter in adapters { adapter.forbid() } }
    }

    public func channelHeard(_ event: ManagementEvent, index: UInt16) {
        switch event {
        case .indexAdded: found(index)
        case .indexRemoved: lost(index)
        default: adapters.first { $0.index == index }?.heard(event)
        }
    }
}

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
    private var configuration: AdapterConfiguration
    private var onAdapter: ((any AdapterPort) -> Void)?
    private var knownCommands: Set<UInt16>?
    private var present: Set<UInt16> = []
    private var listing: (any Cancellable)?

    /// - Parameter choices: which controllers are ours; none means all.
    public init(
        loop: any EventLoop, choices: [AdapterChoice], configuration: AdapterConfiguration,
        channel: ManagementChannel? = nil, switches: RadioSwitches = RadioSwitches()
    ) {
        self.loop = loop
        self.choices = choices
        self.configuration = configuration
        self.channel = channel ?? ManagementChannel(loop: loop)
        self.switches = switches
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

    /// Puts every controller that has a random address on the air under another one, as after a wipe.
    public func changeOwnAddresses(_ address: OwnAddress) {
        configuration.ownAddress = address
        for adapter in adapters { adapter.changeOwnAddress(address) }
    }

    // MARK: Controllers

    /// The adapter of hciN, made if need be; nil when there are too many.
    private func adapter(_ index: UInt16) -> ManagedAdapter? {
        if let known = adapters.first(where: { $0.index == index }) { return known }
        guard adapters.count < ManagementLimits.adapters else { return nil }
        let adapter = ManagedAdapter(
            index: index, configuration: configuration, loop: loop, channel: channel, switches: switches)
        adapters.append(adapter)
        adapters.sort { $0.index < $1.index }
        give(adapter)
        return adapter
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
            adapters.first { $0.index == index }?.appeared(knownCommands: knownCommands)
            return
        }
        guard present.count < ManagementLimits.listEntries, present.insert(index).inserted else { return }
        if choices.isEmpty || choices.contains(.index(index)) {
            adapter(index)?.appeared(knownCommands: knownCommands)
        } else if choices.contains(where: { if case .address = $0 { true } else { false } }) {
            identify(index)
        }
    }

    /// Any controller may be behind a number, and another one each time.
    private func identify(_ index: UInt16) {
        channel.send(.readInformation, to: index) { [weak self] outcome in
            guard let self else { return }
            guard case .success(let answer) = outcome, let controller = ControllerInformation(parsing: answer) else {
                // The next listing asks again.
                self.present.remove(index)
                return
            }
            guard let address = controller.address, self.choices.contains(.address(address)) else { return }
            self.adapter(index)?.appeared(knownCommands: self.knownCommands)
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

import Basics
import EventLoop

public protocol AdapterDirectoryDelegate: AnyObject {
    /// An adapter that is ours, for the first time. It is there from now on, even when its controller is not; its
    /// status says so. It waits for `start`.
    func directory(_ directory: AdapterDirectory, added adapter: any AdapterPort)
}

/// The machine's controllers that are ours, each as an adapter: there may be none at first, and they come and go.
public final class AdapterDirectory {
    public weak var delegate: (any AdapterDirectoryDelegate)?
    /// By index.
    public private(set) var adapters: [ManagedAdapter] = []
    /// What the kernel speaks; nil until it has said so.
    public private(set) var version: ManagementVersion?

    private let loop: any EventLoop
    private let channel: ManagementChannel
    private let switches: RadioSwitches
    private let selection: AdapterSelection
    private var configuration: AdapterConfiguration
    private var knownCommands: Set<UInt16>?
    private var present: Set<UInt16> = []
    private var listing: (any Cancellable)?

    public init(
        loop: any EventLoop, selection: AdapterSelection, configuration: AdapterConfiguration,
        channel: ManagementChannel? = nil, switches: RadioSwitches = RadioSwitches()
    ) {
        self.loop = loop
        self.selection = selection
        self.configuration = configuration
        self.channel = channel ?? ManagementChannel(loop: loop)
        self.switches = switches
    }

    deinit { listing?.cancel() }

    public var channelState: ManagementChannel.State { channel.state }
    public var counters: Tally<ManagementDrop> { channel.counters }

    /// Opens the management channel. Adapters chosen by number are there at once, others when they are found.
    public func start() {
        channel.delegate = self
        if case .chosen(let names) = selection {
            for case .index(let index) in names { _ = adapter(index) }
        }
        channel.start()
    }

    /// Takes back what is on the air, and closes the channel.
    public func stop() {
        for adapter in adapters { adapter.stop() }
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
        loop.enqueue { [weak self] in
            guard let self else { return }
            self.delegate?.directory(self, added: adapter)
        }
        return adapter
    }

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
        guard present.count < ManagementLimits.listEntries, present.insert(index).inserted else { return }
        switch selection {
        case .all: adapter(index)?.appeared(knownCommands: knownCommands)
        case .chosen(let names):
            if names.contains(.index(index)) {
                adapter(index)?.appeared(knownCommands: knownCommands)
            } else if names.contains(where: { if case .address = $0 { true } else { false } }) {
                identify(index, among: names)
            }
        }
    }

    /// Any controller may be behind a number, and another one each time.
    private func identify(_ index: UInt16, among names: [AdapterName]) {
        channel.send(.readInformation, to: index) { [weak self] outcome in
            guard let self else { return }
            guard case .success(let answer) = outcome, let controller = ControllerInformation(parsing: answer) else {
                // The next listing asks again.
                self.present.remove(index)
                return
            }
            guard let address = controller.address, names.contains(.address(address)) else { return }
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

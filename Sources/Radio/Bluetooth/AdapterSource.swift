import Basics

/// Where adapters come from: the kernel's management channel, or a script in tests.
public protocol AdapterSource: AnyObject {
    /// Looks for adapters until `stop`; gives each once, when it is first seen.
    func start(onAdapter: @escaping (any AdapterPort) -> Void)
    func stop()
    /// Why no adapter can be seen at all: `forbidden` to this process, or `absent` from this kernel; nil when they can.
    var obstacle: AdapterStatus.State? { get }
    /// What the management channel could not use.
    var counters: Tally<ManagementDrop> { get }
}

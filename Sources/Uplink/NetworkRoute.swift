/// A way to the internet: how streams are made, and whether it is there. The program has one, chosen by its
/// configuration at start, so that what is not configured cannot be reached by any mistake (chapter 05 §18.9).
public protocol NetworkRoute: StreamDialer {
    /// What becomes of what is to be sent.
    var access: RouteAccess { get }
    /// Whether streams can be made now, if only to ask the time.
    var isProven: Bool { get }
    /// Called after `access` or `isProven` has changed, never from inside `setTimeProven` or `makeStream`.
    var onChange: (() -> Void)? { get set }

    func start()
    /// Nothing is published before the time is known.
    func setTimeProven(_ isProven: Bool)
    /// Closes what the route itself has open, makes no stream and reports nothing any more.
    func stop()
}

/// The way without Tor: relays see this machine's address.
public final class DirectRoute: NetworkRoute {
    public var onChange: (() -> Void)?
    public var access: RouteAccess { isProven && isTimeProven ? .open : .closed }
    public private(set) var isProven = false
    private var isTimeProven = false

    private let dialer: any StreamDialer

    public init(_ dialer: any StreamDialer) { self.dialer = dialer }

    public func start() {
        guard !isProven else { return }
        isProven = true
        onChange?()
    }

    public func setTimeProven(_ isProven: Bool) { isTimeProven = isProven }

    public func stop() {
        isProven = false
        onChange = nil
    }

    public func makeStream(
        to address: WebSocketAddress, isolation: StreamIsolation
    ) throws(StreamFailure) -> any ByteStream {
        guard isProven else { throw .routeUnavailable("the network is switched off") }
        return try dialer.makeStream(to: address, isolation: isolation)
    }
}

import EventLoop

/// Finds the addresses of a host name, outside Tor: only direct mode has one.
public protocol NameResolver: AnyObject {
    /// - Parameter completion: gets numeric addresses in the order of preference. Not called from inside this call, nor
    ///   after cancelling.
    func resolve(
        _ host: String, completion: @escaping (Result<[String], NameQuery.Failure>) -> Void
    ) -> any Cancellable
}

/// The system's name servers.
public final class SystemResolver: NameResolver {
    private let loop: LibeventLoop

    public init(loop: LibeventLoop) { self.loop = loop }

    public func resolve(
        _ host: String, completion: @escaping (Result<[String], NameQuery.Failure>) -> Void
    ) -> any Cancellable {
        NameQuery(host, loop: loop, completion: completion)
    }
}

import EventLoop

/// Finds the addresses of a host name, outside Tor: only direct mode has one.
public protocol NameResolver: AnyObject {
    /// - Parameter completion: gets numeric addresses in the order of preference. Not called from inside this call, nor
    ///   after cancelling.
    func resolve(
        _ host: String, completion: @escaping (Result<[String], NameQuery.Failure>) -> Void
    ) -> any Cancellable
}

/// The system's name servers. A loop that is not libevent's has none to ask.
public final class SystemResolver: NameResolver {
    private let loop: any EventLoop

    public init(loop: any EventLoop) { self.loop = loop }

    public func resolve(
        _ host: String, completion: @escaping (Result<[String], NameQuery.Failure>) -> Void
    ) -> any Cancellable {
        if let loop = loop as? LibeventLoop { return NameQuery(host, loop: loop, completion: completion) }
        return loop.schedule(after: .zero) { completion(.failure(.unavailable("no name servers"))) }
    }
}

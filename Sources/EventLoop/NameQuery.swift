import Clibevent
import Glibc

/// One look-up of a host name's addresses through libevent's resolver, without blocking. It asks the servers of
/// `/etc/resolv.conf`, read for each query, so that a changed network is noticed.
public final class NameQuery: Cancellable {
    public enum Failure: Error, Equatable {
        /// The servers say that there is no such name, or that it has no address.
        case noSuchName
        /// No server could be asked, or none answered.
        case unavailable(String)
    }

    /// What libevent refers to until it has answered, which it always does, also after cancelling; only then may its
    /// resolver be freed.
    private final class Request {
        weak var loop: LibeventLoop?
        var resolver: OpaquePointer?
        var handle: OpaquePointer?
        var isAnswered = false
        var completion: ((Result<[String], Failure>) -> Void)?

        init(loop: LibeventLoop, _ completion: @escaping (Result<[String], Failure>) -> Void) {
            self.loop = loop
            self.completion = completion
        }

        func answer(_ result: Result<[String], Failure>) {
            isAnswered = true
            handle = nil
            // The resolver must not be freed from inside its own call.
            loop?.enqueue { [self] in
                if let resolver { evdns_base_free(resolver, 0) }
                resolver = nil
                let completion = completion
                self.completion = nil
                completion?(result)
            }
        }
    }

    private let request: Request

    /// Addresses of one name that are looked at.
    private static let addressLimit = 16

    /// - Parameters:
    ///   - host: looked up as it stands, in no search domain.
    ///   - completion: gets the addresses as text, in the order of preference; never called from inside this call.
    public init(
        _ host: String, loop: LibeventLoop, completion: @escaping (Result<[String], Failure>) -> Void
    ) {
        request = Request(loop: loop, completion)
        guard let resolver = evdns_base_new(loop.base, Int32(EVDNS_BASE_INITIALIZE_NAMESERVERS)) else {
            request.answer(.failure(.unavailable("no name server is configured")))
            return
        }
        request.resolver = resolver
        evdns_base_search_clear(resolver)
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        let handle = evdns_getaddrinfo(
            resolver, host, nil, &hints,
            { status, list, address in
                defer { if let list { evutil_freeaddrinfo(list) } }
                guard let address else { return }
                Unmanaged<Request>.fromOpaque(address).takeRetainedValue().answer(NameQuery.read(status, list))
            }, Unmanaged.passRetained(request).toOpaque())
        // What needs no server is answered at once.
        if !request.isAnswered { request.handle = handle }
    }

    deinit { cancel() }

    public func cancel() {
        request.completion = nil
        guard let handle = request.handle else { return }
        request.handle = nil
        evdns_getaddrinfo_cancel(handle)
    }

    private static func read(
        _ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?
    ) -> Result<[String], Failure> {
        switch status {
        case 0: break
        case EVUTIL_EAI_NONAME, EVUTIL_EAI_NODATA: return .failure(.noSuchName)
        default: return .failure(.unavailable("the name servers do not answer"))
        }
        var addresses: [String] = []
        var entry = list
        while let current = entry, addresses.count < addressLimit {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let size = socklen_t(current.pointee.ai_addrlen)
            let flags = NI_NUMERICHOST
            if getnameinfo(current.pointee.ai_addr, size, &text, socklen_t(text.count), nil, 0, flags) == 0 {
                let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                addresses.append(String(decoding: bytes, as: UTF8.self))
            }
            entry = current.pointee.ai_next
        }
        return addresses.isEmpty ? .failure(.noSuchName) : .success(addresses)
    }
}

import Clibevent
import Glibc

/// One look-up of a host name's addresses through libevent's resolver, without blocking. It asks the servers of
/// `/etc/resolv.conf`, read anew each time, so that a network which has changed is noticed.
public final class NameQuery: Cancellable {
    public enum Failure: Error, Equatable {
        /// The servers say that there is no such name, or that it has no address.
        case noSuchName
        /// No server could be asked, or none answered.
        case unavailable(String)
    }

    private weak var loop: LibeventLoop?
    private var resolver: OpaquePointer?
    private var request: OpaquePointer?
    private var completion: ((Result<[String], Failure>) -> Void)?

    /// Addresses of one name that are looked at.
    private static let addressLimit = 16

    /// - Parameters:
    ///   - host: looked up as it stands, in no search domain.
    ///   - completion: gets the addresses as text, in the order of preference; never called from inside this call.
    public init(
        _ host: String, loop: LibeventLoop, completion: @escaping (Result<[String], Failure>) -> Void
    ) {
        self.loop = loop
        self.completion = completion
        guard let resolver = evdns_base_new(loop.base, Int32(EVDNS_BASE_INITIALIZE_NAMESERVERS)) else {
            finishLater(.failure(.unavailable("no name server is configured")))
            return
        }
        self.resolver = resolver
        evdns_base_search_clear(resolver)
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        request = evdns_getaddrinfo(
            resolver, host, nil, &hints,
            { status, list, address in
                guard let address else { return }
                Unmanaged<NameQuery>.fromOpaque(address).takeUnretainedValue().answered(status, list)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { cancel() }

    public func cancel() {
        completion = nil
        if let request {
            self.request = nil
            evdns_getaddrinfo_cancel(request)
        }
        release()
    }

    private func answered(_ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?) {
        request = nil
        defer { if let list { evutil_freeaddrinfo(list) } }
        guard completion != nil else { return }
        finishLater(NameQuery.read(status, list))
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

    /// The resolver must not be freed from inside its own call.
    private func finishLater(_ result: Result<[String], Failure>) {
        loop?.enqueue { [weak self] in
            guard let self, let completion = self.completion else { return }
            self.completion = nil
            self.release()
            completion(result)
        }
    }

    private func release() {
        guard let resolver else { return }
        self.resolver = nil
        evdns_base_free(resolver, 0)
    }
}

/// The client's side of SOCKS5 up to the connection (RFC 1928, RFC 1929): user name and password, then CONNECT to a
/// host name. Asks for exactly the bytes it needs, so none that belong to the server is ever taken.
struct SOCKSHandshake {
    struct Target {
        /// A name, or an address as text: always sent as a name, resolved by the proxy alone (chapter 05 §15.2).
        let host: String
        let port: UInt16
    }

    enum Outcome: Equatable {
        case incomplete
        /// The proxy is one and takes our credentials; CONNECT is ready to be sent.
        case authenticated
        /// The connection is there; or, without a target, could be made.
        case connected
        case failed(StreamFailure)
    }

    private enum Stage {
        case method
        case authentication
        case reply
        case boundAddress
        case boundRest
    }

    /// What is to be written before anything is read.
    private(set) var unsent: [UInt8]
    /// How many bytes the next call of `receive` must bring in all.
    private(set) var needed = 2
    private var received: [UInt8] = []
    private var stage = Stage.method
    private let target: Target?
    private let isolation: StreamIsolation

    static let version: UInt8 = 5
    private static let userAndPassword: UInt8 = 2
    private static let domainName: UInt8 = 3

    /// - Parameter target: nil to learn only whether the proxy works.
    init?(target: Target?, isolation: StreamIsolation) {
        guard isolation.isUsable, (1...255).contains(target?.host.utf8.count ?? 1) else { return nil }
        self.target = target
        self.isolation = isolation
        unsent = [SOCKSHandshake.version, 1, SOCKSHandshake.userAndPassword]
    }

    mutating func sent(_ count: Int) { unsent.removeFirst(min(count, unsent.count)) }

    /// Takes the next bytes, at most `needed`.
    mutating func receive(_ bytes: some Collection<UInt8>) -> Outcome {
        received.append(contentsOf: bytes.prefix(needed))
        needed -= min(needed, bytes.count)
        guard needed == 0 else { return .incomplete }
        switch stage {
        case .method: return methodChosen()
        case .authentication: return authenticated()
        case .reply: return replied()
        case .boundAddress: return measureAddress()
        case .boundRest: return .connected
        }
    }

    private mutating func methodChosen() -> Outcome {
        guard received[0] == SOCKSHandshake.version else { return broken("what answers there is no SOCKS5 proxy") }
        guard received[1] == SOCKSHandshake.userAndPassword else {
            return broken("the proxy does not take a user name and password")
        }
        let (user, password) = (Array(isolation.user.utf8), Array(isolation.password.utf8))
        unsent = [1, UInt8(user.count)] + user + [UInt8(password.count)] + password
        expect(2, .authentication)
        return .incomplete
    }

    private mutating func authenticated() -> Outcome {
        guard received[0] == 1, received[1] == 0 else { return broken("the proxy refused the user name and password") }
        guard let target else { return .connected }
        let host = Array(target.host.utf8)
        unsent = [SOCKSHandshake.version, 1, 0, SOCKSHandshake.domainName, UInt8(host.count)] + host
        unsent += [UInt8(target.port >> 8), UInt8(target.port & 0xff)]
        expect(2, .reply)
        return .authenticated
    }

    private mutating func replied() -> Outcome {
        guard received[0] == SOCKSHandshake.version else { return broken("the proxy's answer is no SOCKS5") }
        guard let reply = SOCKSReply(rawValue: received[1]) else { return .failed(SOCKSReply.unknown(received[1])) }
        if let failure = reply.failure { return .failed(failure) }
        // Reserved byte, kind of address, and the first byte of it: for a name, its length.
        expect(3, .boundAddress)
        return .incomplete
    }

    private mutating func measureAddress() -> Outcome {
        switch received[1] {
        case 1: expect(3 + 2, .boundRest)
        case 3: expect(Int(received[2]) + 2, .boundRest)
        case 4: expect(15 + 2, .boundRest)
        default: return broken("the proxy's answer is no SOCKS5")
        }
        return .incomplete
    }

    private mutating func expect(_ count: Int, _ next: Stage) {
        needed = count
        stage = next
        received.removeAll(keepingCapacity: true)
    }

    private func broken(_ text: String) -> Outcome { .failed(.routeUnavailable(text)) }
}

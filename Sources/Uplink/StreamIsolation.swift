import Basics

/// The SOCKS5 user name and password of a stream. Tor puts streams with different credentials on different circuits
/// (`IsolateSOCKSAuth`, chapter 05 §15.2). Without a proxy it means nothing.
///
/// The password is derived from a secret of this run, so it is never printed.
public struct StreamIsolation: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let user: String
    public let password: String

    /// Both must be 1 to 255 bytes (RFC 1929 §2) and the user name must not begin with `<torS0X>`, which newer Tor
    /// keeps for itself; a stream with other credentials fails as unsupported.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public var description: String { user }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }

    var isUsable: Bool {
        [user, password].allSatisfy { (1...255).contains($0.utf8.count) } && !user.hasPrefix("<torS0X>")
    }
}

/// Makes the credentials of a run: the same for every dial to the same server in the same role, so that a redial may
/// take the old circuit, and different for everything else (chapter 05 §15.2).
public struct IsolationKeys {
    /// What a stream is for. Streams of different roles never share a circuit, not even to the same server.
    public enum Role: String, Sendable {
        case relay
        case directory
        /// What a relay says about itself.
        case information
        /// The operator's own question whether a relay can be reached.
        case check
        case publication
    }

    private var random: any RandomNumberGenerator
    private var token: [UInt8]

    /// - Parameter random: the system's generator outside tests.
    public init(random: any RandomNumberGenerator = SystemRandomNumberGenerator()) {
        self.random = random
        token = self.random.bytes(32)
    }

    /// - Parameter url: normalised, so that no server has two spellings.
    public func isolation(_ role: Role, _ url: String) -> StreamIsolation {
        StreamIsolation(user: role.rawValue, password: Hex.encode(SHA256.hash(token + Array(url.utf8))))
    }

    /// Credentials that nothing had before: for a publication that must not be linked to anything.
    public mutating func once() -> StreamIsolation {
        StreamIsolation(user: Role.publication.rawValue, password: Hex.encode(random.bytes(32)))
    }

    /// Forgets all circuits given out so far, for the wipe.
    public mutating func renew() { token = random.bytes(32) }
}

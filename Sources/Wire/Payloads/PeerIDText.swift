import Basics

/// The local text form of a conversation partner (chapter 01 §7.2): a prefix that says what it is, and a bare part. It
/// never travels in binary fields.
public struct PeerIDText: Hashable, Sendable, CustomStringConvertible {
    public enum Prefix: String, CaseIterable, Sendable {
        case none = ""
        case mesh = "mesh:"
        case name = "name:"
        case noise = "noise:"
        /// An author heard through a mesh bridge; not routable.
        case bridge = "bridge:"
        /// A geohash direct-message conversation.
        case geoDirectMessage = "nostr_"
        /// A geohash channel participant.
        case geoChat = "nostr:"
        /// A private-group conversation.
        case group = "group_"
    }

    private static let shortDigits = 16
    private static let noiseKeyDigits = 64
    private static let groupIDDigits = 32
    private static let geoChatDigits = 8
    /// Characters of a valid bare part that is no hex ID.
    private static let nameLengths = 1...63

    public let prefix: Prefix
    /// Lower case.
    public let bare: String

    /// Prefixes count in lower case only; any other text is all bare part.
    public init(_ text: String) {
        let prefix = Prefix.allCases.first { $0 != .none && text.utf8.starts(with: $0.rawValue.utf8) } ?? .none
        self.init(
            prefix: prefix, bare: String(decoding: text.utf8.dropFirst(prefix.rawValue.utf8.count), as: UTF8.self))
    }

    public init(prefix: Prefix, bare: String) {
        self.prefix = prefix
        self.bare = bare.lowercased()
    }

    public init(_ peerID: PeerID) { self.init(prefix: .none, bare: peerID.hex) }

    /// - Parameter pubkey: hex of the author's rendezvous Nostr key.
    public static func bridge(pubkey: String) -> PeerIDText {
        PeerIDText(prefix: .bridge, bare: String(pubkey.prefix(shortDigits)))
    }

    /// - Parameter pubkey: hex of the partner's Nostr key.
    public static func geoDirectMessage(pubkey: String) -> PeerIDText {
        PeerIDText(prefix: .geoDirectMessage, bare: String(pubkey.prefix(shortDigits)))
    }

    /// - Parameter pubkey: hex of the participant's Nostr key.
    public static func geoChat(pubkey: String) -> PeerIDText {
        PeerIDText(prefix: .geoChat, bare: String(pubkey.prefix(geoChatDigits)))
    }

    /// - Parameter groupID: 16 bytes.
    public static func group(_ groupID: [UInt8]) -> PeerIDText {
        PeerIDText(prefix: .group, bare: Hex.encode(groupID))
    }

    public var description: String { prefix.rawValue + bare }

    /// The bare part is a mesh peer ID, whatever the prefix.
    public var isShort: Bool { Self.isHex(bare, Self.shortDigits) }
    /// The bare part is a whole Noise static key, whatever the prefix.
    public var isNoiseKey: Bool { Self.isHex(bare, Self.noiseKeyDigits) }

    public var isValid: Bool {
        if isShort || isNoiseKey { return true }
        let length = bare.count
        return Self.nameLengths.contains(length) && length != Self.shortDigits
            && bare.unicodeScalars.allSatisfy(Self.isNameScalar)
    }

    /// The peer ID derived from a Noise key; any other text is its own short form, prefix included.
    public var short: PeerIDText {
        guard isNoiseKey, let key = Hex.decode(bare) else { return self }
        return PeerIDText(prefix: .none, bare: Hex.encode(SHA256.hash(key).prefix(PeerID.size)))
    }

    /// The bytes the text stands for in packets, normally 8; `nil` for none.
    public var routingBytes: [UInt8]? {
        for candidate in [description, bare] {
            if let bytes = TolerantHex.decode(candidate), bytes.count == PeerID.size { return bytes }
        }
        return TolerantHex.decode(short.description)
    }

    /// The peer packets can be addressed to, where the text stands for one.
    public var peerID: PeerID? { routingBytes.flatMap { PeerID($0) } }

    /// The 16 bytes of a private group's ID.
    public var groupID: [UInt8]? {
        guard prefix == .group, Self.isHex(bare, Self.groupIDDigits) else { return nil }
        return Hex.decode(bare)
    }

    private static func isHex(_ text: String, _ digits: Int) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { Hex.value(of: $0) != nil }
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default:
            scalar == "-" || scalar == "_"
        }
    }
}

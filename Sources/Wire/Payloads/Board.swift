import Basics

/// What a packet of type 0x23 holds (chapter 01 §9.11). Decoding checks form only; believe nothing before its own
/// signature verifies under its own author key.
public enum BoardPayload: Hashable, Sendable {
    case post(BoardPost)
    case tombstone(BoardTombstone)

    fileprivate enum Kind: UInt8 {
        case post = 0x01
        case tombstone = 0x02
    }

    fileprivate enum Field {
        static let kind: UInt8 = 0x01
        static let postID: UInt8 = 0x02
        static let geohash: UInt8 = 0x03
        static let content: UInt8 = 0x04
        static let authorSigningKey: UInt8 = 0x05
        static let authorNickname: UInt8 = 0x06
        static let createdAt: UInt8 = 0x07
        static let expiresAt: UInt8 = 0x08
        static let flags: UInt8 = 0x09
        static let signature: UInt8 = 0x0a
        static let deletedAt: UInt8 = 0x0b
    }

    fileprivate static let postIDSize = 16
    fileprivate static let keySize = 32
    fileprivate static let signatureSize = 64

    public init?(payload: [UInt8]) {
        var kind: Kind?
        var postID: [UInt8]?
        var geohash: [UInt8]?
        var content: [UInt8]?
        var authorSigningKey: [UInt8]?
        var authorNickname: [UInt8]?
        var createdAt: UInt64?
        var expiresAt: UInt64?
        var flags: UInt8?
        var signature: [UInt8]?
        var deletedAt: UInt64?
        let isWellFormed = TLVFormat.lenientTLV16.read(payload) { type, value in
            switch type {
            case Field.kind:
                kind = value.integer().flatMap(Kind.init)
                return kind != nil
            case Field.postID:
                postID = value.bytes(Self.postIDSize)
                return postID != nil
            case Field.geohash:
                geohash = Self.bytes(value, upTo: BoardPost.maximumGeohashSize)
                return geohash != nil
            case Field.content:
                content = Self.bytes(value, upTo: BoardPost.contentSizes.upperBound)
                return content != nil
            case Field.authorSigningKey:
                authorSigningKey = value.bytes(Self.keySize)
                return authorSigningKey != nil
            case Field.authorNickname:
                authorNickname = Self.bytes(value, upTo: BoardPost.maximumNicknameSize)
                return authorNickname != nil
            case Field.flags:
                flags = value.integer()
                return flags != nil
            case Field.signature:
                signature = value.bytes(Self.signatureSize)
                return signature != nil
            case Field.createdAt: createdAt = value.integer() ?? createdAt
            case Field.expiresAt: expiresAt = value.integer() ?? expiresAt
            case Field.deletedAt: deletedAt = value.integer() ?? deletedAt
            default: break
            }
            return true
        }
        guard isWellFormed, let kind, let postID, let authorSigningKey, let signature else { return nil }
        switch kind {
        case .post:
            // Only a post's texts are read, so only there do they have to be UTF-8.
            guard
                let geohash = geohash.flatMap({ String(validating: $0, as: UTF8.self) }),
                let content = content.flatMap({ String(validating: $0, as: UTF8.self) }),
                let authorNickname = authorNickname.flatMap({ String(validating: $0, as: UTF8.self) }),
                let createdAt, let expiresAt, let flags
            else { return nil }
            let post = BoardPost(
                postID: postID, geohash: geohash, content: content, authorSigningKey: authorSigningKey,
                authorNickname: authorNickname, createdAt: WallTime(milliseconds: createdAt),
                expiresAt: WallTime(milliseconds: expiresAt), flags: flags, signature: signature)
            guard post.isWellFormed else { return nil }
            self = .post(post)
        case .tombstone:
            guard let deletedAt else { return nil }
            self = .tombstone(
                BoardTombstone(
                    postID: postID, authorSigningKey: authorSigningKey, deletedAt: WallTime(milliseconds: deletedAt),
                    signature: signature))
        }
    }

    /// `nil` when a field is outside its limits.
    public func encoded() -> [UInt8]? {
        switch self {
        case .post(let post): post.encoded()
        case .tombstone(let tombstone): tombstone.encoded()
        }
    }

    /// Whether a relay treats the packet as urgent: bit 0 of the first one-byte flags field that can be reached,
    /// without judging the rest.
    public static func isUrgent(peeking payload: UnsafeRawBufferPointer) -> Bool {
        var isUrgent = false
        _ = TLVFormat.lenientTLV16.read(payload) { type, value in
            guard type == Field.flags, let flags = value.integer(UInt8.self) else { return true }
            isUrgent = flags & BoardPost.urgentFlag != 0
            return false
        }
        return isUrgent
    }

    private static func bytes(_ value: UnsafeRawBufferPointer, upTo limit: Int) -> [UInt8]? {
        value.count <= limit ? [UInt8](value) : nil
    }

    /// What the author signs.
    public var signedBytes: [UInt8] {
        switch self {
        case .post(let post): post.signedBytes
        case .tombstone(let tombstone): tombstone.signedBytes
        }
    }

    public var authorSigningKey: [UInt8] {
        switch self {
        case .post(let post): post.authorSigningKey
        case .tombstone(let tombstone): tombstone.authorSigningKey
        }
    }

    public var signature: [UInt8] {
        switch self {
        case .post(let post): post.signature
        case .tombstone(let tombstone): tombstone.signature
        }
    }
}

/// A notice pinned to a place, or to the mesh itself (chapter 01 §9.11).
public struct BoardPost: Hashable, Sendable {
    /// Bytes.
    public static let maximumGeohashSize = 12
    /// Bytes.
    public static let contentSizes = 1...512
    /// Bytes.
    public static let maximumNicknameSize = 64
    /// Milliseconds: 7 days.
    public static let maximumLifetime: UInt64 = 604_800_000
    public static let urgentFlag: UInt8 = 0x01

    /// 16 random bytes.
    public var postID: [UInt8]
    /// Empty for the mesh-local board.
    public var geohash: String
    public var content: String
    /// Ed25519, 32 bytes.
    public var authorSigningKey: [UInt8]
    public var authorNickname: String
    public var createdAt: WallTime
    /// Later than `createdAt`, by at most `maximumLifetime`.
    public var expiresAt: WallTime
    /// Bit 0 urgent; the others are kept, because the signature covers them.
    public var flags: UInt8
    /// Ed25519 over `signedBytes`, 64 bytes.
    public var signature: [UInt8]

    public init(
        postID: [UInt8], geohash: String, content: String, authorSigningKey: [UInt8], authorNickname: String,
        createdAt: WallTime, expiresAt: WallTime, flags: UInt8, signature: [UInt8]
    ) {
        self.postID = postID
        self.geohash = geohash
        self.content = content
        self.authorSigningKey = authorSigningKey
        self.authorNickname = authorNickname
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.flags = flags
        self.signature = signature
    }

    public var isUrgent: Bool { flags & Self.urgentFlag != 0 }

    /// `nil` when a field is outside its limits.
    public func encoded() -> [UInt8]? {
        guard isWellFormed else { return nil }
        var writer = TLVWriter(.lenientTLV16)
        writer.append(BoardPayload.Field.kind, bigEndian: BoardPayload.Kind.post.rawValue)
        writer.append(BoardPayload.Field.postID, postID)
        writer.append(BoardPayload.Field.geohash, geohash.utf8)
        writer.append(BoardPayload.Field.content, content.utf8)
        writer.append(BoardPayload.Field.authorSigningKey, authorSigningKey)
        writer.append(BoardPayload.Field.authorNickname, authorNickname.utf8)
        writer.append(BoardPayload.Field.createdAt, bigEndian: createdAt.milliseconds)
        writer.append(BoardPayload.Field.expiresAt, bigEndian: expiresAt.milliseconds)
        writer.append(BoardPayload.Field.flags, bigEndian: flags)
        writer.append(BoardPayload.Field.signature, signature)
        return writer.encoded
    }

    /// What the author signs.
    public var signedBytes: [UInt8] {
        var bytes = [UInt8]()
        bytes.append(length8: "bitchat-board-v1".utf8)
        bytes.append(contentsOf: postID)
        bytes.append(length16: geohash.utf8)
        bytes.append(length16: content.utf8)
        bytes.append(contentsOf: authorSigningKey)
        bytes.append(length16: authorNickname.utf8)
        bytes.append(bigEndian: createdAt.milliseconds)
        bytes.append(bigEndian: expiresAt.milliseconds)
        bytes.append(flags)
        return bytes
    }

    fileprivate var isWellFormed: Bool {
        postID.count == BoardPayload.postIDSize && authorSigningKey.count == BoardPayload.keySize
            && signature.count == BoardPayload.signatureSize && geohash.utf8.count <= Self.maximumGeohashSize
            && geohash.utf8.allSatisfy(Self.isGeohashDigit) && Self.contentSizes.contains(content.utf8.count)
            && authorNickname.utf8.count <= Self.maximumNicknameSize && expiresAt > createdAt
            && createdAt.distance(to: expiresAt) <= Self.maximumLifetime
    }

    private static func isGeohashDigit(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "a"), UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "o"): false
        case UInt8(ascii: "b")...UInt8(ascii: "z"): true
        default: false
        }
    }
}

/// Takes a post back. Effective only under the post's own author key (chapter 01 §9.11).
public struct BoardTombstone: Hashable, Sendable {
    /// Of the post, 16 bytes.
    public var postID: [UInt8]
    /// Ed25519, 32 bytes.
    public var authorSigningKey: [UInt8]
    public var deletedAt: WallTime
    /// Ed25519 over `signedBytes`, 64 bytes.
    public var signature: [UInt8]

    public init(postID: [UInt8], authorSigningKey: [UInt8], deletedAt: WallTime, signature: [UInt8]) {
        self.postID = postID
        self.authorSigningKey = authorSigningKey
        self.deletedAt = deletedAt
        self.signature = signature
    }

    /// `nil` when a field has a wrong size.
    public func encoded() -> [UInt8]? {
        guard
            postID.count == BoardPayload.postIDSize, authorSigningKey.count == BoardPayload.keySize,
            signature.count == BoardPayload.signatureSize
        else { return nil }
        var writer = TLVWriter(.lenientTLV16)
        writer.append(BoardPayload.Field.kind, bigEndian: BoardPayload.Kind.tombstone.rawValue)
        writer.append(BoardPayload.Field.postID, postID)
        writer.append(BoardPayload.Field.authorSigningKey, authorSigningKey)
        writer.append(BoardPayload.Field.deletedAt, bigEndian: deletedAt.milliseconds)
        writer.append(BoardPayload.Field.signature, signature)
        return writer.encoded
    }

    /// What the author signs.
    public var signedBytes: [UInt8] {
        var bytes = [UInt8]()
        bytes.append(length8: "bitchat-board-del-v1".utf8)
        bytes.append(contentsOf: postID)
        bytes.append(bigEndian: deletedAt.milliseconds)
        return bytes
    }
}

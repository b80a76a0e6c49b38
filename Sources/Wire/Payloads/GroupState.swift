import Basics

/// One member in a group's roster (chapter 01 §9.12).
public struct GroupMember: Hashable, Sendable {
    /// Of the member's Noise key, 32 bytes.
    public var fingerprint: [UInt8]
    /// Ed25519, 32 bytes.
    public var signingKey: [UInt8]
    public var nickname: String

    public init(fingerprint: [UInt8], signingKey: [UInt8], nickname: String) {
        self.fingerprint = fingerprint
        self.signingKey = signingKey
        self.nickname = nickname
    }
}

/// The member list of a group, as one blob (chapter 01 §9.12).
public enum GroupRoster {
    public static let maximumMembers = 16
    /// Bytes on emission.
    public static let maximumNicknameSize = 64

    /// `nil` unless the blob is consumed exactly by well-formed entries.
    public static func members(in blob: UnsafeRawBufferPointer) -> [GroupMember]? {
        var reader = ByteReader(blob)
        guard let count = reader.readUInt8(), count <= maximumMembers else { return nil }
        var members = [GroupMember]()
        for _ in 0..<count {
            guard
                let fingerprint = reader.readBytes(GroupSize.fingerprint),
                let signingKey = reader.readBytes(GroupSize.key), let length = reader.readUInt8(),
                let nickname = reader.readView(Int(length))?.text
            else { return nil }
            members.append(GroupMember(fingerprint: fingerprint, signingKey: signingKey, nickname: nickname))
        }
        return reader.isAtEnd ? members : nil
    }

    /// Nicknames are cut to 64 bytes at a character boundary. `nil` for more than 16 members or an ill-sized key.
    public static func encoded(_ members: [GroupMember]) -> [UInt8]? {
        guard members.count <= maximumMembers else { return nil }
        var blob = [UInt8(members.count)]
        for member in members {
            guard member.fingerprint.count == GroupSize.fingerprint, member.signingKey.count == GroupSize.key else {
                return nil
            }
            var nickname = member.nickname
            while nickname.utf8.count > maximumNicknameSize { nickname.removeLast() }
            blob.append(contentsOf: member.fingerprint)
            blob.append(contentsOf: member.signingKey)
            blob.append(length8: nickname.utf8)
        }
        return blob
    }
}

/// Everything a member has to know of a group: the body of Noise payloads 0x06 and 0x07 (chapter 01 §9.12). Believe it
/// only when the session's peer is the creator and the signature verifies under `creatorSigningKey`.
public struct GroupState: Hashable, Sendable {
    /// 16 bytes.
    public var groupID: [UInt8]
    public var name: String
    /// The group key, 32 bytes: a secret, to be moved into storage that forgets it.
    public var key: [UInt8]
    public var epoch: UInt32
    /// 1 to 16.
    public var members: [GroupMember]
    /// Of the creator's Noise key, 32 bytes.
    public var creatorFingerprint: [UInt8]
    /// Ed25519 by the creator over `signedBytes`, 64 bytes.
    public var signature: [UInt8]

    public init(
        groupID: [UInt8], name: String, key: [UInt8], epoch: UInt32, members: [GroupMember],
        creatorFingerprint: [UInt8], signature: [UInt8]
    ) {
        self.groupID = groupID
        self.name = name
        self.key = key
        self.epoch = epoch
        self.members = members
        self.creatorFingerprint = creatorFingerprint
        self.signature = signature
    }

    private enum Field {
        static let groupID: UInt8 = 0x01
        static let name: UInt8 = 0x02
        static let key: UInt8 = 0x03
        static let epoch: UInt8 = 0x04
        static let roster: UInt8 = 0x05
        static let creatorFingerprint: UInt8 = 0x06
        static let signature: UInt8 = 0x07
    }

    public init?(body: [UInt8]) {
        var groupID: [UInt8]?
        var name: String?
        var key: [UInt8]?
        var epoch: UInt32?
        var members: [GroupMember]?
        var creatorFingerprint: [UInt8]?
        var signature: [UInt8]?
        let isWellFormed = TLVFormat.tlv16.read(body) { type, value in
            switch type {
            case Field.groupID: groupID = value.bytes(GroupSize.id) ?? groupID
            case Field.name: name = value.text
            case Field.key: key = value.bytes(GroupSize.key) ?? key
            case Field.epoch: epoch = value.integer() ?? epoch
            case Field.roster: members = GroupRoster.members(in: value)
            case Field.creatorFingerprint:
                creatorFingerprint = value.bytes(GroupSize.fingerprint) ?? creatorFingerprint
            case Field.signature: signature = value.bytes(GroupSize.signature) ?? signature
            default: break
            }
            return true
        }
        guard
            isWellFormed, let groupID, let name, let key, let epoch, let members, !members.isEmpty,
            let creatorFingerprint, let signature
        else { return nil }
        self.init(
            groupID: groupID, name: name, key: key, epoch: epoch, members: members,
            creatorFingerprint: creatorFingerprint, signature: signature)
    }

    /// The body; `nil` when a field has a wrong size or the roster none or too many members.
    public func encoded() -> [UInt8]? {
        guard
            groupID.count == GroupSize.id, key.count == GroupSize.key, signature.count == GroupSize.signature,
            creatorFingerprint.count == GroupSize.fingerprint, !members.isEmpty,
            let roster = GroupRoster.encoded(members)
        else { return nil }
        var writer = TLVWriter(.tlv16)
        writer.append(Field.groupID, groupID)
        writer.append(Field.name, name.utf8)
        writer.append(Field.key, key)
        writer.append(Field.epoch, bigEndian: epoch)
        writer.append(Field.roster, roster)
        writer.append(Field.creatorFingerprint, creatorFingerprint)
        writer.append(Field.signature, signature)
        return writer.encoded
    }

    /// What the creator signs, made from the roster as it would be emitted: a received nickname above 64 bytes does not
    /// verify. `nil` when the roster cannot be emitted.
    public var signedBytes: [UInt8]? {
        guard let roster = GroupRoster.encoded(members) else { return nil }
        var bytes = Array("bitchat-group-v1".utf8)
        bytes.append(contentsOf: groupID)
        bytes.append(bigEndian: epoch)
        bytes.append(contentsOf: SHA256.hash(key))
        bytes.append(contentsOf: SHA256.hash(roster))
        bytes.append(contentsOf: SHA256.hash(Array(name.utf8)))
        return bytes
    }

    /// The key the signature must verify under; `nil` when the creator is not in the roster.
    public var creatorSigningKey: [UInt8]? { members.first { $0.fingerprint == creatorFingerprint }?.signingKey }
}

/// The key must not get into a log by way of a debug print.
extension GroupState: CustomStringConvertible, CustomReflectable {
    public var description: String { "GroupState" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

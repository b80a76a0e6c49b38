import Basics
import Crypto
import Mesh
import Wire

// How the mesh's records look inside the vault. The vault says which format version they are of.

extension PacketID {
    var vaultKey: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
        return bytes
    }

    init?(vaultKey: [UInt8]) {
        let id = vaultKey.withUnsafeBytes { bytes -> PacketID? in
            var reader = ByteReader(bytes)
            guard let high = reader.readUInt64(), let low = reader.readUInt64(), reader.isAtEnd else { return nil }
            return PacketID(high: high, low: low)
        }
        guard let id else { return nil }
        self = id
    }
}

extension HistoryRecord {
    var vaultValue: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: timestamp.milliseconds)
        guard let frame else { return bytes }
        bytes.append(bigEndian: arrival)
        return bytes + frame
    }

    init?(key: [UInt8], value: [UInt8]) {
        guard let id = PacketID(vaultKey: key) else { return nil }
        let record = value.withUnsafeBytes { bytes -> HistoryRecord? in
            var reader = ByteReader(bytes)
            guard let timestamp = reader.readUInt64().map({ WallTime(milliseconds: $0) }) else { return nil }
            if reader.isAtEnd { return HistoryRecord(id: id, timestamp: timestamp, arrival: 0, frame: nil) }
            guard let arrival = reader.readUInt64(), let frame = reader.readBytes(reader.remaining) else { return nil }
            return HistoryRecord(id: id, timestamp: timestamp, arrival: arrival, frame: frame)
        }
        guard let record else { return nil }
        self = record
    }
}

extension BoardRecord {
    private static let post: UInt8 = 0
    private static let tombstone: UInt8 = 1
    private static let orphan: UInt8 = 2

    var vaultValue: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(retention.map { $0.isOrphan ? BoardRecord.orphan : BoardRecord.tombstone } ?? BoardRecord.post)
        bytes.append(bigEndian: retention?.until.milliseconds ?? 0)
        bytes.append(bigEndian: arrival)
        return bytes + frame
    }

    init?(key: [UInt8], value: [UInt8]) {
        guard let id = PacketID(vaultKey: key) else { return nil }
        let record = value.withUnsafeBytes { bytes -> BoardRecord? in
            var reader = ByteReader(bytes)
            guard let kind = reader.readUInt8(), kind <= BoardRecord.orphan, let until = reader.readUInt64(),
                let arrival = reader.readUInt64(), let frame = reader.readBytes(reader.remaining)
            else { return nil }
            let retention =
                kind == BoardRecord.post
                ? nil : Retention(until: WallTime(milliseconds: until), isOrphan: kind == BoardRecord.orphan)
            return BoardRecord(id: id, arrival: arrival, frame: frame, retention: retention)
        }
        guard let record else { return nil }
        self = record
    }
}

extension IdentityRecord {
    var vaultKey: [UInt8] { noiseKey.bytes }

    /// The pins and nothing else (chapter 02 §2.5): no name and no time, so that the disk does not tell who was here
    /// when.
    var vaultValue: [UInt8] {
        signingKey.bytes + [authenticatedSigningKey == nil ? 0 : 1] + (authenticatedSigningKey?.bytes ?? [])
    }

    /// What follows the keys is left unread.
    init?(key: [UInt8], value: [UInt8]) {
        guard let noiseKey = NoisePublicKey(key) else { return nil }
        let record = value.withUnsafeBytes { bytes -> IdentityRecord? in
            var reader = ByteReader(bytes)
            func readKey() -> SigningPublicKey? { reader.readBytes(Bytes32.size).flatMap { SigningPublicKey($0) } }
            guard let signingKey = readKey(), let flag = reader.readUInt8(), flag <= 1 else { return nil }
            let authenticated = flag == 1 ? readKey() : nil
            guard flag == 0 || authenticated != nil else { return nil }
            return IdentityRecord(
                noiseKey: noiseKey, signingKey: signingKey, authenticatedSigningKey: authenticated, nickname: "")
        }
        guard let record else { return nil }
        self = record
    }
}

import Basics
import Gateway
import Nostr
import Vault
import Wire

/// Takes what the Nostr side must not forget into the vault, and gives it back after a restart.
struct NostrArchive {
    private let vault: Vault

    init(_ vault: Vault) { self.vault = vault }

    // MARK: Publications

    /// - Parameter isUrgent: on the disk before anything else is done: what a relay has confirmed must not be published
    ///   again because the power failed just then.
    func keep(_ record: PublicationRecord, isUrgent: Bool) {
        let isWaiting = if case .waiting = record.state { true } else { false }
        vault.put(
            record.vaultValue, for: record.key.bytes, in: BoxStores.publications, evictionClass: isWaiting ? 1 : 0)
        if isUrgent { vault.flush() }
    }

    func forget(_ key: PublicationKey) {
        vault.remove(key.bytes, from: BoxStores.publications, within: VaultLimits.relaxed)
    }

    /// In the order they came.
    var publications: [PublicationRecord] {
        vault.read(BoxStores.publications) { PublicationRecord(key: $0, value: $1) }
    }

    // MARK: Events

    /// The event was acted upon; on the disk in the next turn of the loop, since what is acted upon after a restart
    /// is shown twice.
    func keep(processed id: EventID) { vault.put([], for: id.bytes, in: BoxStores.processed, within: .zero) }

    var processed: [EventID] { vault.read(BoxStores.processed) { key, _ in EventID(key) } }

    /// The event was carried. When that is lost, so is what a neighbour would have heard twice.
    func keep(carried id: EventID) {
        vault.put([], for: id.bytes, in: BoxStores.carried, within: VaultLimits.gathered)
    }

    var carried: [EventID] { vault.read(BoxStores.carried) { key, _ in EventID(key) } }

    // MARK: Copies of own posts

    /// On the disk before the note goes out.
    func keep(_ copy: BoardCopy) {
        vault.put(copy.vaultValue, for: copy.id.bytes, in: BoxStores.boardCopies)
        vault.flush()
    }

    func forget(copy id: EventID) { vault.remove(id.bytes, from: BoxStores.boardCopies) }

    /// Oldest first.
    var boardCopies: [BoardCopy] { vault.read(BoxStores.boardCopies) { BoardCopy(key: $0, value: $1) } }

    // MARK: Directory

    private static let directoryKey = Array("directory".utf8)

    func keep(directory csv: [UInt8], fetchedAt: WallTime) {
        var value: [UInt8] = []
        value.append(bigEndian: fetchedAt.milliseconds)
        vault.put(value + csv, for: NostrArchive.directoryKey, in: BoxStores.directory)
    }

    var directory: (csv: [UInt8], fetchedAt: WallTime)? {
        guard let value = vault.value(for: NostrArchive.directoryKey, in: BoxStores.directory) else { return nil }
        return value.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let fetchedAt = reader.readUInt64(), let csv = reader.readBytes(reader.remaining) else { return nil }
            return (csv, WallTime(milliseconds: fetchedAt))
        }
    }
}

extension BoardCopy {
    private static let postIDSize = 16

    var vaultValue: [UInt8] {
        var bytes = boardPost
        bytes.append(bigEndian: postedAt.milliseconds)
        bytes.append(bigEndian: expiresAt.milliseconds)
        bytes.append(shortText: geohash)
        return bytes + Array(text.utf8)
    }

    init?(key: [UInt8], value: [UInt8]) {
        guard let id = EventID(key) else { return nil }
        let copy = value.withUnsafeBytes { bytes -> BoardCopy? in
            var reader = ByteReader(bytes)
            guard let boardPost = reader.readBytes(BoardCopy.postIDSize), let postedAt = reader.readUInt64(),
                let expiresAt = reader.readUInt64(), let geohash = reader.readShortText(),
                Geohash.isCanonical(geohash), let text = reader.readBytes(reader.remaining)
            else { return nil }
            return BoardCopy(
                boardPost: boardPost, id: id, geohash: geohash, text: String(decoding: text, as: UTF8.self),
                postedAt: WallTime(milliseconds: postedAt), expiresAt: WallTime(milliseconds: expiresAt))
        }
        guard let copy else { return nil }
        self = copy
    }
}

extension PublicationRecord {
    private static let published: UInt8 = 0
    private static let event: UInt8 = 1
    private static let unlinkable: UInt8 = 2

    var vaultValue: [UInt8] {
        switch state {
        case .published(let at):
            var bytes = [PublicationRecord.published]
            bytes.append(bigEndian: at.milliseconds)
            return bytes
        case .waiting(let content, let expiresAt, let attempts, let lastAttempt):
            var bytes: [UInt8] = []
            let json: [UInt8]
            let place: String
            switch content {
            case .event(let event, let geohash):
                bytes.append(PublicationRecord.event)
                (json, place) = (event.json(), geohash ?? "")
            case .unlinkable(let template):
                bytes.append(PublicationRecord.unlinkable)
                (json, place) = (template.draft.json(), "")
            }
            bytes.append(bigEndian: expiresAt.milliseconds)
            bytes.append(bigEndian: lastAttempt.milliseconds)
            bytes.append(UInt8(clamping: attempts))
            bytes.append(UInt8(clamping: place.utf8.count))
            return bytes + Array(place.utf8.prefix(255)) + json
        }
    }

    /// What is taken back is checked like what comes from outside: an event by its signature.
    init?(key: [UInt8], value: [UInt8]) {
        guard let key = PublicationKey(key) else { return nil }
        let state = value.withUnsafeBytes { bytes -> State? in
            var reader = ByteReader(bytes)
            guard let kind = reader.readUInt8() else { return nil }
            if kind == PublicationRecord.published {
                guard let at = reader.readUInt64(), reader.isAtEnd else { return nil }
                return .published(at: WallTime(milliseconds: at))
            }
            guard let expiresAt = reader.readUInt64(), let lastAttempt = reader.readUInt64(),
                let attempts = reader.readUInt8(), let placeLength = reader.readUInt8(),
                let place = reader.readBytes(Int(placeLength)), let json = reader.readBytes(reader.remaining),
                let event = try? NostrEvent(json: json)
            else { return nil }
            let content: DurableContent
            switch kind {
            case PublicationRecord.event:
                guard let verified = VerifiedEvent(verifying: event) else { return nil }
                let geohash = String(decoding: place, as: UTF8.self)
                guard geohash.isEmpty || Geohash.isCanonical(geohash) else { return nil }
                content = .event(verified, place: geohash.isEmpty ? nil : geohash)
            case PublicationRecord.unlinkable: content = .unlinkable(EventTemplate(draft: event))
            default: return nil
            }
            return .waiting(
                content, expiresAt: WallTime(milliseconds: expiresAt), attempts: Int(attempts),
                lastAttempt: WallTime(milliseconds: lastAttempt))
        }
        guard let state else { return nil }
        self.init(key: key, state: state)
    }
}

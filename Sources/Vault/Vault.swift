import Basics
import Crypto
import EventLoop

/// Sealed records in one SQLite file, for everything that must survive a restart and nothing that must survive a wipe.
///
/// Changes are gathered and written together, each batch when the first of them must be: two seconds after it was made,
/// unless it can wait. A power cut costs that much and never corrupts. A disk that takes nothing, or a file that cannot
/// be read, is never fatal: the vault goes on in memory, says so, and tries again.
public final class Vault {
    enum Change {
        case put(store: Int64, row: RowKey, evictionClass: UInt8, sealed: [UInt8])
        case remove(store: Int64)

        var store: Int64 {
            switch self {
            case .put(let store, _, _, _), .remove(let store): store
            }
        }
    }

    /// The database in its directory.
    public static let fileName = VaultFile.name

    private let loop: any EventLoop
    private var random: any RandomNumberGenerator
    private let file: VaultFile
    private let mark: StoreCipher
    private var indexes: [Int64: StoreIndex] = [:]
    /// By row number. Bounded by `VaultLimits.waitingBytes`.
    private var waiting: [Int64: Change] = [:]
    /// Those of them that wait for a time of their own.
    private var relaxed: Set<Int64> = []
    private var relaxedDeadline: Instant?
    private var waitingBytes = 0
    private var nextID: Int64 = 1
    private var deadline: Instant?
    private var timer: (any Cancellable)?
    private var ledger = WriteLedger()
    private var isOpen = true
    /// Earliest time to retry opening a file that failed to open.
    private var reopensAt = Instant.zero
    public private(set) var counts = Tally<VaultEvent>()
    public private(set) var trouble: VaultTrouble?

    /// Opens the vault, or begins a new one.
    /// - Parameters:
    ///   - directory: where its file lies; nil keeps everything in memory, for as long as the process lives.
    ///   - stores: what it holds. Records of stores not named are left alone.
    public convenience init(
        in directory: String?, masterKey: SecretBytes, stores: [VaultStore], loop: any EventLoop,
        random: some RandomNumberGenerator
    ) {
        self.init(
            file: VaultFile(directory.map { $0 + "/" + VaultFile.name }, stores: stores, schema: .current),
            masterKey: masterKey,
            stores: stores, loop: loop, random: random)
    }

    init(
        file: VaultFile, masterKey: SecretBytes, stores: [VaultStore], loop: any EventLoop,
        random: some RandomNumberGenerator
    ) {
        self.file = file
        self.loop = loop
        self.random = random
        for store in stores { indexes[store.number] = StoreIndex(store, masterKey: masterKey) }
        mark = StoreCipher(store: "mark", masterKey: masterKey)
        openFile()
    }

    private func openFile() {
        file.open(mark: mark, nonce: random.bytes(XChaChaPoly.nonceSize))
        takeOverRows()
        noteFileEvents()
        reopensAt = loop.now.monotonic + VaultLimits.retry
    }

    /// A disk that could not be used at the start may be there now. What it holds is as good as before, and older than
    /// what was kept in memory since: rows are numbered in the order records came.
    private func reopenFile() {
        guard isOpen, !file.isOpen, loop.now.monotonic >= reopensAt else { return }
        let kept = (entries: indexes.mapValues(\.entries), waiting: waiting, relaxed: relaxed, nextID: nextID)
        for index in indexes.values { index.removeAll() }
        (waiting, relaxed, waitingBytes, relaxedDeadline) = ([:], [], 0, nil)
        openFile()
        let shift = nextID - 1
        for (number, entries) in kept.entries {
            for (row, entry) in entries {
                if let older = indexes[number]?[row] {
                    change(older.id, .remove(store: number), within: VaultLimits.relaxed)
                }
                indexes[number]?.set(entry.renumbered(by: shift), at: row)
            }
        }
        for (id, change) in kept.waiting {
            let horizon = kept.relaxed.contains(id) ? VaultLimits.relaxed : VaultLimits.horizon
            self.change(id + shift, change, within: horizon)
        }
        nextID = kept.nextID + shift
    }

    private func noteFileEvents() {
        counts.count(.fileSetAside, UInt64(file.takeSetAside()))
        ledger.add(file.takeBytesWritten(), at: loop.now.monotonic)
        trouble = file.trouble
    }

    private func takeOverRows() {
        var superseded: [(id: Int64, store: Int64)] = []
        nextID =
            1
            + file.scan { id, store, row, evictionClass, size in
                guard let index = indexes[store] else { return }
                if let earlier = index[row] { superseded.append((earlier.id, store)) }
                index.set(
                    StoreIndex.Entry(id: id, size: size, evictionClass: evictionClass, isStored: true), at: row)
            }
        for (id, store) in superseded { change(id, .remove(store: store), within: VaultLimits.relaxed) }
    }

    // MARK: Changes

    /// Stores a value under a key, replacing any earlier value.
    /// - Parameters:
    ///   - evictionClass: records of a lower class make room first.
    ///   - isNewest: it counts as come just now, and not with what it takes the place of: for whoever lets go of what
    ///     was longest unchanged, as the vault does of what came first.
    ///   - horizon: when it must be on the disk; it goes earlier when something else does.
    /// - Returns: false when the record is too large, or there is no room for it even in memory.
    @discardableResult
    public func put(
        _ value: [UInt8], for key: [UInt8], in store: VaultStore, evictionClass: UInt8 = 0,
        isNewest: Bool = false, within horizon: Interval = VaultLimits.horizon
    ) -> Bool {
        guard isOpen, let index = indexes[store.number], key.count <= VaultLimits.keySize,
            key.count + value.count < VaultLimits.recordSize
        else { return refuse() }
        let row = index.cipher.row(of: key)
        let sealed = index.cipher.seal(
            VaultRecord(key: key, value: value).content, row: row, nonce: random.bytes(XChaChaPoly.nonceSize))
        guard waitingBytes + sealed.count <= VaultLimits.waitingBytes else { return refuse() }
        // Both go to the disk in one write, and rows are told apart by their numbers.
        if isNewest { remove(row, from: store, within: horizon) }
        let known = index[row]
        let id = known?.id ?? nextID
        if known == nil { nextID += 1 }
        indexes[store.number]?.set(
            StoreIndex.Entry(
                id: id, size: sealed.count, evictionClass: evictionClass, isStored: known?.isStored ?? false),
            at: row)
        counts.count(.put)
        change(
            id, .put(store: store.number, row: row, evictionClass: evictionClass, sealed: sealed), within: horizon)
        evict(from: store, sparing: row)
        return true
    }

    private func refuse() -> Bool {
        counts.count(.refused)
        return false
    }

    public func remove(_ key: [UInt8], from store: VaultStore, within horizon: Interval = VaultLimits.horizon) {
        guard isOpen, let index = indexes[store.number] else { return }
        remove(index.cipher.row(of: key), from: store, within: horizon)
    }

    public func removeAll(from store: VaultStore) {
        for row in indexes[store.number]?.entries.keys.map({ $0 }) ?? [] {
            remove(row, from: store, within: VaultLimits.horizon)
        }
    }

    private func remove(_ row: RowKey, from store: VaultStore, within horizon: Interval) {
        guard let entry = indexes[store.number]?.remove(row) else { return }
        counts.count(.removed)
        if entry.isStored {
            change(entry.id, .remove(store: store.number), within: horizon)
        } else {
            forget(entry.id)
        }
    }

    private func evict(from store: VaultStore, sparing newest: RowKey) {
        for row in indexes[store.number]?.surplus(sparing: newest) ?? [] {
            counts.count(.evicted)
            remove(row, from: store, within: VaultLimits.relaxed)
        }
    }

    private func forget(_ id: Int64) {
        relaxed.remove(id)
        if case .put(_, _, _, let sealed) = waiting.removeValue(forKey: id) { waitingBytes -= sealed.count }
    }

    private func change(_ id: Int64, _ change: Change, within horizon: Interval) {
        // What is about to be written is not put off by being changed again: the change before this one may matter.
        let isAwaited = waiting[id] != nil && !relaxed.contains(id)
        forget(id)
        waiting[id] = change
        if case .put(_, _, _, let sealed) = change { waitingBytes += sealed.count }
        let now = loop.now.monotonic
        if horizon >= VaultLimits.relaxed, !isAwaited {
            relaxed.insert(id)
            relaxedDeadline = relaxedDeadline ?? now + horizon
        }
        if trouble == nil, isMuchWaiting { return arm(now) }
        arm(now + (trouble == nil ? horizon : VaultLimits.retry))
    }

    private var isMuchWaiting: Bool {
        waitingBytes >= VaultLimits.promptBytes || relaxed.count >= VaultLimits.relaxedRecords
    }

    private func arm(_ due: Instant) {
        guard due < deadline ?? .distantFuture else { return }
        deadline = due
        timer?.cancel()
        timer = loop.schedule(after: due - loop.now.monotonic) { [weak self] in self?.flushDue() }
    }

    // MARK: Reading

    public func value(for key: [UInt8], in store: VaultStore) -> [UInt8]? {
        guard isOpen, let index = indexes[store.number] else { return nil }
        let row = index.cipher.row(of: key)
        guard let entry = index[row], let sealed = sealed(entry.id, in: store),
            let record = open(sealed, id: entry.id, row: row, in: store), record.key == key
        else { return nil }
        return record.value
    }

    /// Every record of a store, in the order they first came.
    public func records(in store: VaultStore) -> [VaultRecord] {
        guard isOpen, let index = indexes[store.number] else { return [] }
        var stored = file.sealed(of: store.number)
        return index.entries.sorted { $0.value.id < $1.value.id }.compactMap { row, entry in
            let sealed: [UInt8]?
            if case .put(_, _, _, let bytes) = waiting[entry.id] {
                sealed = bytes
            } else {
                sealed = stored.removeValue(forKey: entry.id)
            }
            return sealed.flatMap { open($0, id: entry.id, row: row, in: store) }
        }
    }

    public func count(in store: VaultStore) -> Int { indexes[store.number]?.entries.count ?? 0 }

    private func sealed(_ id: Int64, in store: VaultStore) -> [UInt8]? {
        if case .put(_, _, _, let sealed) = waiting[id] { return sealed }
        return file.sealed(id, of: store.number)
    }

    /// Sets aside what does not open: the rest of the store is as good as before.
    private func open(_ sealed: [UInt8], id: Int64, row: RowKey, in store: VaultStore) -> VaultRecord? {
        guard let index = indexes[store.number] else { return nil }
        if let record = index.cipher.open(sealed, row: row).flatMap({ VaultRecord(content: $0) }) { return record }
        counts.count(.recordSetAside)
        _ = indexes[store.number]?.remove(row)
        file.quarantine(id, of: store.number)
        return nil
    }

    // MARK: Writing

    /// Writes all that waits, now. For what must be on the disk before it is acted on.
    /// - Returns: whether nothing waits any more.
    @discardableResult
    public func flush() -> Bool {
        reopenFile()
        return write(waiting)
    }

    private func flushDue() {
        reopenFile()
        let now = loop.now.monotonic
        if let relaxedDeadline, relaxedDeadline > now, !isMuchWaiting {
            write(waiting.filter { !relaxed.contains($0.key) })
        } else {
            write(waiting)
        }
    }

    @discardableResult
    private func write(_ changes: [Int64: Change]) -> Bool {
        timer?.cancel()
        timer = nil
        deadline = nil
        guard isOpen else { return false }
        guard !changes.isEmpty else { return true }
        let isWritten = file.write(changes)
        noteFileEvents()
        guard isWritten else {
            counts.count(.writeFailed)
            arm(loop.now.monotonic + VaultLimits.retry)
            return false
        }
        counts.count(.written)
        for (id, change) in changes {
            if case .put(let store, let row, _, _) = change { indexes[store]?.markStored(row) }
            forget(id)
        }
        if relaxed.isEmpty { relaxedDeadline = nil }
        if let relaxedDeadline { arm(relaxedDeadline) }
        return true
    }

    /// Writes all that waits and closes the file.
    public func close() {
        flush()
        end()
        file.close()
    }

    /// Lets go of everything unwritten, for the panic wipe: nothing touches the file any more.
    public func abandon() {
        end()
        file.abandon()
        waiting.removeAll()
        indexes.removeAll()
    }

    private func end() {
        isOpen = false
        timer?.cancel()
        timer = nil
        deadline = nil
    }

    public var status: VaultStatus {
        VaultStatus(
            isPersistent: file.isPersistent, records: indexes.values.reduce(0) { $0 + $1.entries.count },
            bytes: indexes.values.reduce(0) { $0 + $1.bytes }, waitingBytes: waitingBytes,
            writtenToday: ledger.lastDay(at: loop.now.monotonic), trouble: trouble)
    }
}

import Basics
import Nostr
import Wire

/// A note pinned to a place. Name and text are untrusted.
public struct LocationNote: Hashable, Sendable {
    public let id: EventID
    public let pubkey: String
    public let nickname: String?
    public let text: String
    /// The one of the asked cells that it names first.
    public let geohash: String
    /// Unix seconds.
    public let createdAt: Int64
    public let expiresAt: Int64?
    public let isUrgent: Bool

    public var displayName: String { DisplayName.of(nickname: nickname, pubkey: pubkey) }
}

/// The notes of a place and its neighbouring cells, as relays have them (chapter 05 §10).
struct NotesBoard {
    let cells: [String]
    private var notes: [(note: LocationNote, order: Int64)] = []
    /// Of all texts together.
    private var bytes = 0
    /// Ids are kept, so that a replay resurrects nothing.
    private var seen = BoundedSet<EventID>(capacity: GatewayLimits.rememberedNotes)

    init(around geohash: String) {
        var cells = [geohash]
        for neighbour in Geohash.neighbours(of: geohash) where !cells.contains(neighbour) { cells.append(neighbour) }
        self.cells = cells
    }

    var filter: NostrFilter {
        NostrFilter(kinds: [EventKind.locationNote], tags: ["g": cells], limit: GatewayLimits.subscriptionLimit)
    }

    /// Newest first.
    var all: [LocationNote] { notes.map(\.note) }

    mutating func receive(_ event: VerifiedEvent, at wall: WallTime) {
        guard event.event.kind == EventKind.locationNote, seen.insert(event.id),
            let note = LocationNote(event, in: cells), !NotesBoard.hasExpired(note, at: wall)
        else { return }
        // One from the future is not newer than all that will be written until then.
        let now = wall.unixSeconds
        let order = note.createdAt > now + Int64(GatewayLimits.eventSkew) ? now : note.createdAt
        let index = notes.firstIndex { $0.order < order } ?? notes.endIndex
        notes.insert((note, order), at: index)
        bytes += note.text.utf8.count
        while notes.count > GatewayLimits.notes || bytes > GatewayLimits.notesBytes, let last = notes.popLast() {
            bytes -= last.note.text.utf8.count
        }
    }

    mutating func prune(at wall: WallTime) { removeAll { NotesBoard.hasExpired($0, at: wall) } }

    /// An own note was deleted.
    mutating func remove(_ id: EventID) {
        seen.insert(id)
        removeAll { $0.id == id }
    }

    private mutating func removeAll(where isOver: (LocationNote) -> Bool) {
        notes.removeAll { isOver($0.note) }
        bytes = notes.reduce(0) { $0 + $1.note.text.utf8.count }
    }

    private static func hasExpired(_ note: LocationNote, at wall: WallTime) -> Bool {
        note.expiresAt.map { $0 <= wall.unixSeconds } ?? false
    }
}

extension LocationNote {
    /// `nil` for an event of none of the cells, or without text. Names of tags and cells are compared without regard to
    /// case, as phones do for notes.
    init?(_ event: VerifiedEvent, in cells: [String]) {
        func values(_ name: String) -> [String] {
            event.event.tags.filter { $0.count >= 2 && $0[0].lowercased() == name }.map { $0[1] }
        }
        let text = TextTrimming.trim(event.event.content)
        let named = values("g").lazy.map { $0.lowercased() }.first { cells.contains($0) }
        guard let named, !text.isEmpty, text.utf8.count <= GatewayLimits.noteBytes else { return nil }
        id = event.id
        pubkey = event.author.hex
        nickname = DisplayName.nickname(of: event.event)
        self.text = text
        geohash = named
        createdAt = event.event.createdAt
        expiresAt = values("expiration").first.flatMap { Int64($0) }
        isUrgent = values("t").contains { $0.lowercased() == "urgent" }
    }
}

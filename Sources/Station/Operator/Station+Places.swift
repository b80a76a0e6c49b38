import Basics
import Gateway
import Nostr

/// What the operator asks about places: location channels and the notes pinned there.
extension Station {
    var channelReports: [ChannelReport] {
        let now = now
        return gateway.channels(at: now).map { channel in
            ChannelReport(
                channel: channel.geohash, configured: channel.isConfigured, people: channel.participants,
                relays: uplink.choice.relays(of: channel.geohash).count,
                subscribed: relays(subscribedTo: channel.subscription, now))
        }
    }

    private func relays(subscribedTo id: String, _ now: Now) -> Int {
        uplink.client.relays(at: now).count { $0.subscriptions.contains { $0.id == id && $0.isActive } }
    }

    /// Begins to look at a place, or looks on; ask again until the answer is complete.
    func lookAtNotes(_ argument: String?) throws(ControlError) -> NotesReport {
        guard let place = argument, Geohash.isCanonical(place) else { throw Station.noPlace }
        try requireClock()
        switchboard.perform { switchboard.notes?.look(at: place, at: $0) }
        return notesReport(place)
    }

    func postNote(_ argument: String?) throws(ControlError) -> NotesReport {
        guard let request = argument.flatMap({ NoteRequest(argument: $0) }) else {
            throw ControlError(
                code: ControlError.malformed,
                message: "no note: at most \(NoteRequest.textBytes) bytes for 0 to 720 hours at a lower-case geohash")
        }
        try requireClock()
        guard uplink.durable.publications.hasRoom else {
            throw ControlError(code: "refused", message: "too much waits for relays already")
        }
        let isTaken = switchboard.perform { now in
            let expiresAt = now.wall.milliseconds + UInt64(request.hours) * 3_600_000
            return switchboard.notes?.post(
                request.text, at: request.place, nickname: configuration.nickname(for: mesh.me),
                expiresAt: request.hours == 0 ? nil : WallTime(milliseconds: expiresAt), isUrgent: request.isUrgent,
                work: uplink.work(for: request.place), at: now) ?? false
        }
        guard isTaken else { throw ControlError(code: "refused", message: "no text, or notes are still being made") }
        return notesReport(request.place)
    }

    func deleteNote(_ argument: String?) throws(ControlError) -> NotesReport {
        let parts = (argument ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard let place = parts.first, Geohash.isCanonical(place) else { throw Station.noPlace }
        guard parts.count == 2, let id = EventID(hex: parts[1]) else {
            throw ControlError(
                code: ControlError.malformed, message: "no ID of a note: 64 hex digits, as bitgate notes shows them")
        }
        try requireClock()
        _ = switchboard.perform { switchboard.notes?.delete(id, at: place, at: $0) }
        return notesReport(place)
    }

    private static let noPlace = ControlError(
        code: ControlError.malformed, message: "no lower-case geohash such as u4pruydq")

    private func requireClock() throws(ControlError) {
        guard uplink.client.gate != .closed else {
            throw ControlError(
                code: "refused", message: "no relay may be dialled: bitgate status says what stands in the way")
        }
    }

    private func notesReport(_ place: String) -> NotesReport {
        let now = now
        let notes = switchboard.notes
        /// Not negative, whatever a stranger wrote into a note.
        func seconds(from start: Int64, to end: Int64) -> Int { Int(max(0, Freshness.seconds(from: start, to: end))) }
        let shown = notes?.geohash == place ? notes?.notes ?? [] : []
        let subscription = uplink.client.subscriptionIDs.first { notes?.owns(subscription: $0) ?? false }
        let listed = shown.map { note in
            NotesReport.Note(
                id: note.id.hex, name: note.displayName, text: note.text, cell: note.geohash,
                ageSeconds: seconds(from: note.createdAt, to: now.wall.unixSeconds),
                leftSeconds: note.expiresAt.map { seconds(from: now.wall.unixSeconds, to: $0) },
                urgent: note.isUrgent, own: notes?.isOwn(note) ?? false)
        }.fitting(ControlLimits.listSize)
        return NotesReport(
            place: place, complete: notes?.isLoaded ?? true, relays: uplink.choice.relays(of: place).count,
            subscribed: subscription.map { relays(subscribedTo: $0, now) } ?? 0,
            unconfirmed: uplink.durable.publications.waiting + (notes?.beingMade ?? 0),
            notes: listed, leftOut: shown.count - listed.count)
    }
}

extension Array where Element: JSONConvertible {
    /// The first elements, as many as take so many bytes in an answer.
    func fitting(_ bytes: Int) -> [Element] {
        var room = bytes
        return Array(
            prefix { element in
                room -= element.json.encoded().count + 1
                return room >= 0
            })
    }
}

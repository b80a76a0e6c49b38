/// One reply of tor's control port: to a command, or an event of its own accord (control-spec §2.3).
struct TorReply: Equatable {
    static let success = 250
    static let eventStatus = 650

    let status: Int
    /// The text of each line, a data block with the line it belongs to, after a line feed. At least one.
    let lines: [String]

    var isEvent: Bool { status == TorReply.eventStatus }
    var isSuccess: Bool { status == TorReply.success }

    /// The lines without the closing `OK` of a longer reply.
    var content: ArraySlice<String> { lines.count > 1 && lines.last == "OK" ? lines.dropLast() : lines[...] }
}

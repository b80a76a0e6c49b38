/// Why bytes of the control port are no conversation with tor.
enum TorControlSyntax: String, Error {
    case lineTooLong = "a line is too long"
    case replyTooLong = "a reply is too long"
    case malformedLine = "a line is no reply"
    case statusChanged = "a reply changes its status"
}

/// Cuts the bytes of a control port into replies (control-spec §2.3). Holds at most one unfinished reply.
struct TorControlParser {
    private var line: [UInt8] = []
    private var status: Int?
    private var lines: [String] = []
    private var size = 0
    /// A data block is being read; it ends with a dot on a line of its own.
    private var isInData = false

    /// The next whole reply; `nil` when the bytes do not end one.
    ///
    /// - Parameter bytes: what was received; what the reply took is removed from the front.
    mutating func next(_ bytes: inout ArraySlice<UInt8>) throws(TorControlSyntax) -> TorReply? {
        while let end = bytes.firstIndex(of: 0x0a) {
            let text = try finishLine(bytes[..<end])
            bytes = bytes[(end + 1)...]
            if let reply = try take(text) { return reply }
        }
        try keep(bytes)
        bytes = []
        return nil
    }

    private mutating func keep(_ part: ArraySlice<UInt8>) throws(TorControlSyntax) {
        guard line.count + part.count <= TorLimits.lineBytes else { throw .lineTooLong }
        line += part
    }

    private mutating func finishLine(_ rest: ArraySlice<UInt8>) throws(TorControlSyntax) -> [UInt8] {
        try keep(rest)
        defer { line.removeAll(keepingCapacity: true) }
        size += line.count + 1
        guard size <= TorLimits.replyBytes else { throw .replyTooLong }
        return line.last == 0x0d ? line.dropLast() : line
    }

    private mutating func take(_ text: [UInt8]) throws(TorControlSyntax) -> TorReply? {
        if isInData {
            takeData(text)
            return nil
        }
        guard text.count >= 4, text.prefix(3).allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformedLine }
        let number = text.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        if let status, status != number { throw .statusChanged }
        guard lines.count < TorLimits.replyLines else { throw .replyTooLong }
        status = number
        lines.append(String(decoding: text.dropFirst(4), as: UTF8.self))
        switch text[3] {
        case UInt8(ascii: "-"): return nil
        case UInt8(ascii: "+"):
            isInData = true
            return nil
        case UInt8(ascii: " "):
            defer { (status, lines, size) = (nil, [], 0) }
            return TorReply(status: number, lines: lines)
        default: throw .malformedLine
        }
    }

    /// A line of data; a dot at its beginning is doubled on the way.
    private mutating func takeData(_ text: [UInt8]) {
        guard text != [UInt8(ascii: ".")] else {
            isInData = false
            return
        }
        let isStuffed = text.first == UInt8(ascii: ".")
        lines[lines.count - 1] += "\n" + String(decoding: isStuffed ? text.dropFirst() : text[...], as: UTF8.self)
    }
}

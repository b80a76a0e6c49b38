import Basics

/// Why a text is not taken as an event (chapter 05 §1.1). Nothing was allocated when one of these is thrown.
public enum NostrEventRejection: String, Error, CaseIterable, Sendable {
    case oversized
    case invalidUTF8
    case malformedJSON
    case nestedTooDeep
    case missingMember
    case tooManyTags
    case tooManyTagValues
    case tagValueTooLong
}

extension NostrEvent {
    /// Parses the JSON of one event within the structural limits. Members may come in any order and with any legal
    /// escape; unknown ones are skipped; of equal names the last counts.
    ///
    /// - Parameter limit: most bytes the text may have.
    public init(
        json: UnsafeRawBufferPointer, limit: Int = NostrLimits.messageBytes
    ) throws(NostrEventRejection) {
        guard json.count <= limit else { throw .oversized }
        guard json.isValidUTF8 else { throw .invalidUTF8 }
        var scanner = JSONScanner(json)
        let layout: Result<EventLayout, NostrEventRejection>
        do throws(JSONError) {
            layout = try EventLayout.read(&scanner, in: json).event
            try scanner.expectEnd()
        } catch {
            throw error == .tooDeep ? .nestedTooDeep : .malformedJSON
        }
        self.init(try layout.get())
    }

    public init(json: [UInt8], limit: Int = NostrLimits.messageBytes) throws(NostrEventRejection) {
        // A closure would erase the error's type.
        let result = json.withUnsafeBytes { bytes -> Result<NostrEvent, NostrEventRejection> in
            do throws(NostrEventRejection) {
                return .success(try NostrEvent(json: bytes, limit: limit))
            } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    init(_ layout: EventLayout) {
        self.init(
            id: layout.id?.text ?? "", pubkey: layout.pubkey.text, createdAt: layout.createdAt, kind: layout.kind,
            tags: layout.tags(), content: layout.content.text, sig: layout.sig?.text)
    }
}

/// Where the members of one event stand in a JSON text: checked against every structural limit, nothing decoded yet.
/// A duplicate is recognised from this alone.
struct EventLayout {
    let id: JSONString?
    let sig: JSONString?
    let pubkey: JSONString
    let content: JSONString
    let createdAt: Int64
    let kind: Int
    private let text: UnsafeRawBufferPointer
    private let tagsPosition: Int
    private let tagCount: Int

    /// Reads the object at the scanner, which must be over `text`, and leaves the scanner behind it.
    static func read(
        _ scanner: inout JSONScanner, in text: UnsafeRawBufferPointer
    ) throws(JSONError) -> (createdAt: Int64?, event: Result<EventLayout, NostrEventRejection>) {
        var members = Members()
        try members.scan(&scanner)
        do throws(NostrEventRejection) {
            return (members.createdAt, .success(try EventLayout(members, in: text)))
        } catch {
            return (members.createdAt, .failure(error))
        }
    }

    private init(_ members: Members, in text: UnsafeRawBufferPointer) throws(NostrEventRejection) {
        guard let pubkey = members.pubkey, let content = members.content, let createdAt = members.createdAt,
            let kind = members.kind.flatMap({ Int(exactly: $0) }), let tags = members.tags
        else { throw .missingMember }
        id = members.id
        sig = members.sig
        self.pubkey = pubkey
        self.content = content
        self.createdAt = createdAt
        self.kind = kind
        self.text = text
        tagsPosition = tags
        tagCount = try EventLayout.checkTags(JSONScanner(text, from: tags))
    }

    /// The id if it is spelled as a valid one must be.
    var eventID: EventID? {
        guard let id, !id.hasEscapes else { return nil }
        return EventID(hexDigits: id.bytes)
    }

    /// Decoded tags. The text passed `checkTags`, so no step here can fail.
    func tags() -> [[String]] {
        var scanner = JSONScanner(text, from: tagsPosition)
        var tags = [[String]]()
        tags.reserveCapacity(tagCount)
        guard scanner.take("["), !scanner.take("]") else { return tags }
        repeat {
            var tag = [String]()
            guard scanner.take("[") else { return tags }
            if !scanner.take("]") {
                repeat {
                    guard let value = try? scanner.string() else { return tags }
                    tag.append(value.text)
                } while scanner.take(",")
                _ = scanner.take("]")
            }
            tags.append(tag)
        } while scanner.take(",")
        return tags
    }

    /// The number of tags, all of them within the limits. Types are checked here, grammar was before.
    private static func checkTags(_ start: JSONScanner) throws(NostrEventRejection) -> Int {
        var scanner = start
        guard scanner.take("[") else { throw .missingMember }
        var tagCount = 0
        if scanner.take("]") { return 0 }
        repeat {
            tagCount += 1
            guard tagCount <= NostrLimits.tagsPerEvent else { throw .tooManyTags }
            guard scanner.take("[") else { throw .missingMember }
            if scanner.take("]") { continue }
            var valueCount = 0
            repeat {
                valueCount += 1
                guard valueCount <= NostrLimits.valuesPerTag else { throw .tooManyTagValues }
                guard let value = try? scanner.string() else { throw .missingMember }
                guard value.utf8Count <= NostrLimits.bytesPerTagValue else { throw .tagValueTooLong }
            } while scanner.take(",")
            guard scanner.take("]") else { throw .missingMember }
        } while scanner.take(",")
        return tagCount
    }
}

/// The members of an event object as met so far; a member of the wrong type counts as missing.
private struct Members {
    var id: JSONString?
    var pubkey: JSONString?
    var content: JSONString?
    var sig: JSONString?
    var createdAt: Int64?
    var kind: Int64?
    var tags: Int?

    mutating func scan(_ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.expect("{")
        if scanner.take("}") { return }
        repeat {
            let name = try scanner.string()
            try scanner.expect(":")
            if name.equals("id") {
                id = try Members.string(&scanner)
            } else if name.equals("pubkey") {
                pubkey = try Members.string(&scanner)
            } else if name.equals("content") {
                content = try Members.string(&scanner)
            } else if name.equals("sig") {
                sig = try Members.string(&scanner)
            } else if name.equals("created_at") {
                createdAt = try Members.integer(&scanner)
            } else if name.equals("kind") {
                kind = try Members.integer(&scanner)
            } else if name.equals("tags") {
                tags = scanner.peek() == UInt8(ascii: "[") ? scanner.position : nil
                try scanner.skipValue()
            } else {
                try scanner.skipValue()
            }
        } while scanner.take(",")
        try scanner.expect("}")
    }

    private static func string(_ scanner: inout JSONScanner) throws(JSONError) -> JSONString? {
        if scanner.peek() == UInt8(ascii: "\"") { return try scanner.string() }
        try scanner.skipValue()
        return nil
    }

    private static func integer(_ scanner: inout JSONScanner) throws(JSONError) -> Int64? {
        let start = scanner
        do throws(JSONError) {
            return try scanner.integer()
        } catch {
            scanner = start
            try scanner.skipValue()
            return nil
        }
    }
}

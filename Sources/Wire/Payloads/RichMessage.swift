import Basics

/// A binary message form that both apps can read but never send (chapter 01 §15).
public struct RichMessage: Hashable, Sendable {
    public var id: String
    public var sender: String
    public var content: String
    public var timestamp: WallTime
    public var isRelay: Bool
    public var isPrivate: Bool
    /// iOS's meaning of the bit; Android means "has a channel".
    public var isBridged: Bool
    public var originalSender: String?
    public var recipientNickname: String?
    public var senderPeerID: String?
    public var mentions: [String]?

    public init(
        id: String, sender: String, content: String, timestamp: WallTime, isRelay: Bool = false,
        isPrivate: Bool = false, isBridged: Bool = false, originalSender: String? = nil,
        recipientNickname: String? = nil, senderPeerID: String? = nil, mentions: [String]? = nil
    ) {
        self.id = id
        self.sender = sender
        self.content = content
        self.timestamp = timestamp
        self.isRelay = isRelay
        self.isPrivate = isPrivate
        self.isBridged = isBridged
        self.originalSender = originalSender
        self.recipientNickname = recipientNickname
        self.senderPeerID = senderPeerID
        self.mentions = mentions
    }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let isRelay = Flags(rawValue: 0x01)
        static let isPrivate = Flags(rawValue: 0x02)
        static let hasOriginalSender = Flags(rawValue: 0x04)
        static let hasRecipientNickname = Flags(rawValue: 0x08)
        static let hasSenderPeerID = Flags(rawValue: 0x10)
        static let hasMentions = Flags(rawValue: 0x20)
        static let isBridged = Flags(rawValue: 0x40)
    }

    /// `nil` when ID, sender or content are cut off. What is cut off behind them is taken as absent.
    /// - Parameter fallbackID: takes the place of an ID that is not UTF-8.
    public init?(payload: [UInt8], fallbackID: String) {
        guard let message = payload.withUnsafeBytes({ Self(reading: $0, fallbackID: fallbackID) }) else { return nil }
        self = message
    }

    private init?(reading payload: UnsafeRawBufferPointer, fallbackID: String) {
        var reader = ByteReader(payload)
        guard
            let flags = reader.readUInt8().map(Flags.init), let timestamp = reader.readUInt64(),
            let idSize = reader.readUInt8(), let id = reader.readView(Int(idSize)),
            let senderSize = reader.readUInt8(), let sender = reader.readView(Int(senderSize)),
            let contentSize = reader.readUInt16(), let content = reader.readView(Int(contentSize))
        else { return nil }
        self.init(
            id: id.text ?? fallbackID, sender: sender.text ?? "unknown", content: content.text ?? "",
            timestamp: Self.throughDouble(timestamp), isRelay: flags.contains(.isRelay),
            isPrivate: flags.contains(.isPrivate), isBridged: flags.contains(.isBridged))
        if flags.contains(.hasOriginalSender) { originalSender = Self.text(&reader) }
        if flags.contains(.hasRecipientNickname) { recipientNickname = Self.text(&reader) }
        if flags.contains(.hasSenderPeerID) { senderPeerID = Self.text(&reader) }
        if flags.contains(.hasMentions), let count = reader.readUInt8() {
            mentions = (0..<count).compactMap { _ in Self.text(&reader) }
        }
    }

    /// Texts are cut at the 255 bytes, the content at the 65,535 bytes, that their lengths can tell.
    public func encoded() -> [UInt8] {
        var flags = Flags()
        if isRelay { flags.insert(.isRelay) }
        if isPrivate { flags.insert(.isPrivate) }
        if isBridged { flags.insert(.isBridged) }
        if originalSender != nil { flags.insert(.hasOriginalSender) }
        if recipientNickname != nil { flags.insert(.hasRecipientNickname) }
        if senderPeerID != nil { flags.insert(.hasSenderPeerID) }
        if mentions?.isEmpty == false { flags.insert(.hasMentions) }

        var bytes = [flags.rawValue]
        bytes.append(bigEndian: timestamp.milliseconds)
        bytes.append(length8: id.utf8)
        bytes.append(length8: sender.utf8)
        bytes.append(length16: content.utf8)
        for text in [originalSender, recipientNickname, senderPeerID] {
            if let text { bytes.append(length8: text.utf8) }
        }
        if let mentions {
            let kept = mentions.prefix(0xff)
            bytes.append(UInt8(kept.count))
            for mention in kept { bytes.append(length8: mention.utf8) }
        }
        return bytes
    }

    /// One optional text. When it is cut off its length byte stays consumed, as iOS has it.
    private static func text(_ reader: inout ByteReader) -> String? {
        reader.readUInt8().flatMap { reader.readView(Int($0)) }.flatMap(\.text)
    }

    /// iOS keeps the time as a double, which rounds values above 2^53.
    private static func throughDouble(_ milliseconds: UInt64) -> WallTime {
        WallTime(milliseconds: UInt64(exactly: Double(milliseconds)) ?? .max)
    }
}

import Basics

/// A file: the payload of type 0x22 and the body of Noise payload 0x20 (chapter 01 §9.10).
public struct FileTransfer: Hashable, Sendable {
    /// Bytes, for the content and for what `fileSize` may claim: 1 MiB.
    public static let maximumContentSize = 1_048_576

    /// Hostile text: no path to open, and not fit to be shown unchecked.
    public var fileName: String?
    /// As the sender states it, which need not be `content.count`.
    public var fileSize: UInt64
    public var mimeType: String?
    public var content: [UInt8]

    /// - Parameter fileSize: `nil` for the size of the content.
    public init(fileName: String?, mimeType: String?, content: [UInt8], fileSize: UInt64? = nil) {
        self.fileName = fileName
        self.fileSize = fileSize ?? UInt64(content.count)
        self.mimeType = mimeType
        self.content = content
    }

    private enum Field {
        static let fileName: UInt8 = 0x01
        static let fileSize: UInt8 = 0x02
        static let mimeType: UInt8 = 0x03
        static let content: UInt8 = 0x04
    }

    public init?(payload: [UInt8]) {
        var fileName: String?
        var fileSize: UInt64?
        var mimeType: String?
        var content = [UInt8]()
        let isWellFormed = TLVFormat.file.read(payload) { type, value in
            switch type {
            case Field.fileName: fileName = value.text
            case Field.fileSize:
                fileSize = value.integer(UInt32.self).map(UInt64.init) ?? value.integer() ?? fileSize
                return fileSize ?? 0 <= Self.maximumContentSize
            case Field.mimeType: mimeType = value.text
            case Field.content:
                guard value.count <= Self.maximumContentSize - content.count else { return false }
                content.append(contentsOf: value)
            default: break
            }
            return true
        }
        guard isWellFormed, !content.isEmpty else { return nil }
        self.init(fileName: fileName, mimeType: mimeType, content: content, fileSize: fileSize)
    }

    /// `nil` when size, name or type are too long to be told.
    public func encoded() -> [UInt8]? {
        guard fileSize <= Self.maximumContentSize, content.count <= Self.maximumContentSize else { return nil }
        var writer = TLVWriter(.file)
        if let fileName { writer.append(Field.fileName, fileName.utf8) }
        writer.append(Field.fileSize, bigEndian: UInt32(clamping: fileSize))
        if let mimeType { writer.append(Field.mimeType, mimeType.utf8) }
        writer.append(Field.content, content)
        return writer.encoded
    }
}

/// The media types iOS takes, each only with content that begins as its kind does (chapter 01 §9.10).
public enum FileMediaType: String, CaseIterable, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case gif = "image/gif"
    case webp = "image/webp"
    case mp4Audio = "audio/mp4"
    case m4a = "audio/m4a"
    case aac = "audio/aac"
    case mpeg = "audio/mpeg"
    case mp3 = "audio/mp3"
    case wav = "audio/wav"
    case xWav = "audio/x-wav"
    case ogg = "audio/ogg"
    case pdf = "application/pdf"
    case octetStream = "application/octet-stream"

    /// MPEG-4 audio has no fixed first bytes; content must only be longer than this.
    private static let minimumMP4Size = 100

    /// Whether `content` begins the way the type demands.
    public func matches(_ content: [UInt8]) -> Bool {
        switch self {
        case .jpeg: content.starts(with: [0xff, 0xd8, 0xff])
        case .png: content.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case .gif: content.starts(with: "GIF87a".utf8) || content.starts(with: "GIF89a".utf8)
        case .webp: Self.isRIFF("WEBP", content)
        case .wav, .xWav: Self.isRIFF("WAVE", content)
        case .mp4Audio, .m4a, .aac: content.count > Self.minimumMP4Size
        case .mpeg, .mp3: content.starts(with: "ID3".utf8) || Self.isMPEGFrame(content)
        case .ogg: content.starts(with: "OggS".utf8)
        case .pdf: content.starts(with: "%PDF".utf8)
        case .octetStream: true
        }
    }

    private static func isRIFF(_ form: String, _ content: [UInt8]) -> Bool {
        content.starts(with: "RIFF".utf8) && content.dropFirst(8).starts(with: form.utf8)
    }

    /// Eleven set bits, the frame synchronisation of ISO 11172-3.
    private static func isMPEGFrame(_ content: [UInt8]) -> Bool {
        content.count >= 2 && content[0] == 0xff && content[1] & 0xe0 == 0xe0
    }
}

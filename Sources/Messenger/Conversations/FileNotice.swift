import Wire

/// What is told of a file somebody sent. The file itself is looked at and dropped: nothing received is stored.
public struct FileNotice: Hashable, Sendable {
    /// The last part of the name, as sent: hostile text.
    public let name: String?
    /// Bytes that arrived.
    public let size: Int
    public let type: FileMediaType
    /// Whether the content begins as its type does.
    public let isWhatItSays: Bool

    /// `nil` for a body that is no file, or of a type no app takes.
    public init?(body: [UInt8]) {
        guard let file = FileTransfer(payload: body) else { return nil }
        let type = file.mimeType.map { FileMediaType(rawValue: $0.lowercased()) } ?? .octetStream
        guard let type else { return nil }
        name = file.fileName.flatMap(FileNotice.lastPart)
        size = file.content.count
        self.type = type
        isWhatItSays = type.matches(file.content)
    }

    private static func lastPart(_ name: String) -> String? {
        let part = name.split { $0 == "/" || $0 == "\\" }.last.map(String.init)
        return part == "." || part == ".." ? nil : part
    }
}

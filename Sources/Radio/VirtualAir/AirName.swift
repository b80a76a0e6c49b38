/// The name of a node in a room: 1–32 characters of `a-z 0-9 -` (virtual air, version 1).
public struct AirName: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    public static let longest = 32
    static let suffix = ".air"

    public init?(_ text: some StringProtocol) {
        guard (1...AirName.longest).contains(text.utf8.count), text.utf8.allSatisfy(AirName.isAllowed) else {
            return nil
        }
        self.text = String(text)
    }

    /// The name in a directory entry, if the entry is a node's socket.
    init?(fileName: some StringProtocol) {
        guard fileName.hasSuffix(AirName.suffix) else { return nil }
        self.init(fileName.dropLast(AirName.suffix.count))
    }

    var fileName: String { text + AirName.suffix }
    public var description: String { text }
    public static func < (a: AirName, b: AirName) -> Bool { a.text < b.text }

    private static func isAllowed(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

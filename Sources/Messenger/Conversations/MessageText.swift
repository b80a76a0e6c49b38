import Basics
import Wire

/// A typed text as private messages, which hold 255 bytes each (chapter 02 §6.1).
enum MessageText {
    /// Pieces cut between characters; within one only where it is longer than a message by itself.
    static func pieces(_ text: String, limit: Int = PrivateMessage.maximumTextSize) -> [String] {
        var pieces: [String] = []
        var piece = ""
        for character in text {
            for part in parts(of: character, limit: limit) {
                if !piece.isEmpty, piece.utf8.count + part.utf8.count > limit {
                    pieces.append(piece)
                    piece = ""
                }
                piece += part
            }
        }
        if !piece.isEmpty { pieces.append(piece) }
        return pieces
    }

    private static func parts(of character: Character, limit: Int) -> [String] {
        let whole = String(character)
        return whole.utf8.count <= limit ? [whole] : whole.unicodeScalars.map { String($0) }
    }

    /// A random UUID in upper case, as iOS has it.
    static func messageID(using random: inout some RandomNumberGenerator) -> String {
        var bytes = random.bytes(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let groups = [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
        return groups.map { Hex.encode(Array($0)).uppercased() }.joined(separator: "-")
    }
}

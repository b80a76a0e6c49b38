import Basics
import Wire

/// A message that was shown, so that no second copy of it is, and whether its writer has been told (chapter 06 §7,
/// "Acks").
public struct ReceivedMessage: Hashable, Sendable {
    public let sender: PeerID
    public let messageID: String
    public let at: WallTime
    /// It came as mail, and its writer has not been in reach since.
    public let owesReceipt: Bool

    /// Message IDs are unique for one sender only.
    public var name: String { ReceivedMessage.name(sender, messageID) }

    static func name(_ sender: PeerID, _ messageID: String) -> String { sender.hex + messageID }
}

extension ReceivedMessage {
    private static let version: UInt8 = 1

    /// Under `name`.
    public func encoded() -> [UInt8] {
        var bytes = [ReceivedMessage.version, owesReceipt ? 1 : 0]
        bytes.append(bigEndian: sender.value)
        bytes.append(bigEndian: at.milliseconds)
        return bytes + Array(messageID.utf8)
    }

    /// `nil` for anything but an encoded record.
    public init?(decoding bytes: [UInt8]) {
        let record = bytes.withUnsafeBytes { bytes -> ReceivedMessage? in
            var reader = ByteReader(bytes)
            guard reader.readUInt8() == ReceivedMessage.version, let flag = reader.readUInt8(), flag <= 1,
                let sender = reader.readUInt64(), let at = reader.readUInt64(),
                let messageID = reader.readBytes(reader.remaining)
            else { return nil }
            return ReceivedMessage(
                sender: PeerID(value: sender), messageID: String(decoding: messageID, as: UTF8.self),
                at: WallTime(milliseconds: at), owesReceipt: flag == 1)
        }
        guard let record else { return nil }
        self = record
    }
}

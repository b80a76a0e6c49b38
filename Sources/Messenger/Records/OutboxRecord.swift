import Basics
import Crypto
import Wire

/// An own message that is not known to have arrived, for sealed storage (chapter 06 §7).
public struct OutboxRecord: Hashable, Sendable {
    public let messageID: String
    public let recipient: NoisePublicKey
    public let content: String
    /// What the person knows it by; `nil` for control messages.
    public let number: Int?
    /// `nil` while it was not known what time it is.
    public let writtenAt: WallTime?
    /// One of those of a message under way.
    public let state: DeliveryState
    public let attempts: Int
    /// Who carries it.
    public let couriers: [NoisePublicKey]
    /// As couriers and relays get it: after a restart no other envelope of it is made.
    public let sealed: CourierEnvelope?
}

extension OutboxRecord {
    private static let version: UInt8 = 2
    /// Without a sealed letter between the couriers and the content.
    private static let unsealedVersion: UInt8 = 1
    private static let states: [DeliveryState] = [.sending, .sent, .carried]

    /// Under `messageID`.
    public func encoded() -> [UInt8] {
        var bytes = [OutboxRecord.version, UInt8(clamping: OutboxRecord.states.firstIndex(of: state) ?? 0)]
        bytes += recipient.bytes
        bytes.append(bigEndian: writtenAt?.milliseconds ?? 0)
        bytes.append(bigEndian: UInt32(clamping: number ?? 0))
        bytes.append(UInt8(clamping: attempts))
        let couriers = self.couriers.prefix(MessengerLimits.couriersPerMessage)
        bytes.append(UInt8(clamping: couriers.count))
        for courier in couriers { bytes += courier.bytes }
        let sealed = self.sealed?.encoded() ?? []
        bytes.append(bigEndian: UInt16(clamping: sealed.count))
        return bytes + sealed + Array(content.utf8)
    }

    /// Of this version or the one before; `nil` for anything else.
    public init?(messageID: String, decoding bytes: [UInt8]) {
        let record = bytes.withUnsafeBytes { bytes -> OutboxRecord? in
            var reader = ByteReader(bytes)
            func readKey() -> NoisePublicKey? { reader.readBytes(Bytes32.size).flatMap { NoisePublicKey($0) } }
            guard let version = reader.readUInt8(),
                version == OutboxRecord.version || version == OutboxRecord.unsealedVersion,
                let state = reader.readUInt8().map({ Int($0) }),
                OutboxRecord.states.indices.contains(state), let recipient = readKey(),
                let writtenAt = reader.readUInt64(), let number = reader.readUInt32(),
                let attempts = reader.readUInt8(), let count = reader.readUInt8(),
                count <= MessengerLimits.couriersPerMessage
            else { return nil }
            var couriers: [NoisePublicKey] = []
            for _ in 0..<count {
                guard let courier = readKey() else { return nil }
                couriers.append(courier)
            }
            var sealed: CourierEnvelope?
            if version == OutboxRecord.version {
                guard let size = reader.readUInt16(), let bytes = reader.readBytes(Int(size)) else { return nil }
                sealed = CourierEnvelope(payload: bytes)
                guard size == 0 || sealed != nil else { return nil }
            }
            guard let content = reader.readBytes(reader.remaining) else { return nil }
            return OutboxRecord(
                messageID: messageID, recipient: recipient, content: String(decoding: content, as: UTF8.self),
                number: number == 0 ? nil : Int(number),
                writtenAt: writtenAt == 0 ? nil : WallTime(milliseconds: writtenAt),
                state: OutboxRecord.states[state], attempts: Int(attempts), couriers: couriers,
                sealed: sealed)
        }
        guard let record else { return nil }
        self = record
    }
}

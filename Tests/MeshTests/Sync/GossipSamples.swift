import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Frames for stores that check nothing, and a moment to put them at.
enum GossipSamples {
    static let now = Now(monotonic: .zero + .hours(1), wall: WallTime(milliseconds: 1_700_000_000_000))

    /// - Parameter age: milliseconds; negative for a time ahead.
    static func frame(
        _ type: MessageType = .message, sender: UInt64 = 0xa1, age: Int64 = 0, payload: [UInt8] = [1, 2, 3],
        recipient: PeerID? = nil, at now: Now = now
    ) throws -> Frame {
        let packet = Packet(
            type: type, timestamp: WallTime(milliseconds: UInt64(Int64(now.wall.milliseconds) - age)),
            senderID: PeerID(value: sender), recipientID: recipient, payload: payload,
            signature: [UInt8](repeating: 0xee, count: 64))
        return try Frame(packet.encoded())
    }

    static func numbered(_ number: Int) -> [UInt8] {
        var payload: [UInt8] = []
        payload.append(bigEndian: UInt32(number))
        return payload
    }

    static func fragment(stream: UInt64 = 7, index: UInt16 = 0) -> [UInt8] {
        var payload: [UInt8] = []
        payload.append(bigEndian: stream)
        payload.append(bigEndian: index)
        payload.append(bigEndian: UInt16(10_000))
        payload.append(MessageType.message.rawValue)
        return payload + [9, 9]
    }

    static func bundle(owner: UInt8, generation: UInt64 = 1) throws -> (payload: [UInt8], owner: PeerID) {
        let key = [UInt8](repeating: owner, count: 32)
        let bundle = PrekeyBundle(
            noisePublicKey: key, prekeys: [.init(id: 1, publicKey: key)],
            generatedAt: WallTime(milliseconds: generation), signature: [UInt8](repeating: 1, count: 64))
        return (try XCTUnwrap(bundle.encoded()), try XCTUnwrap(NoisePublicKey(key)).peerID)
    }

    static func entry(_ frame: Frame, at now: Now = now) throws -> GossipEntry {
        try XCTUnwrap(GossipEntry(frame, at: now.monotonic))
    }
}

extension Frame {
    var id: PacketID? { withView { PacketID($0) } }
}

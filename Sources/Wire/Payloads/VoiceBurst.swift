import Basics

/// One packet of a push-to-talk burst: the payload of type 0x29 and the body of Noise payload 0x08 (chapter 01 §9.13).
public struct VoiceBurst: Hashable, Sendable {
    public enum Codec: UInt8, Sendable {
        /// AAC-LC, 16 kHz, mono, about 16 kbit/s.
        case aacLC = 0x01
    }

    public enum Content: Hashable, Sendable {
        case start(Codec)
        /// 1 to 8 codec frames, none empty.
        case frames([[UInt8]])
        case end(totalDataPackets: UInt16, durationMilliseconds: UInt32)
        case canceled
    }

    /// Frames in one packet.
    public static let frameCounts = 1...8
    static let headerSize = 11

    /// Random, 8 bytes on the wire, the same in all packets of a burst.
    public var burstID: UInt64
    /// 0 in `start`, then counting data packets from 1.
    public var sequence: UInt16
    public var content: Content

    public init(burstID: UInt64, sequence: UInt16, content: Content) {
        self.burstID = burstID
        self.sequence = sequence
        self.content = content
    }

    private enum Flags {
        static let frames: UInt8 = 0x00
        static let start: UInt8 = 0x01
        static let end: UInt8 = 0x02
        static let canceled: UInt8 = 0x04
    }

    public init?(payload: [UInt8]) {
        let parsed: (UInt64, UInt16, Content)? = payload.withUnsafeBytes {
            var reader = ByteReader($0)
            guard
                let burstID = reader.readUInt64(), let sequence = reader.readUInt16(), let flags = reader.readUInt8(),
                let content = Self.content(flags, &reader)
            else { return nil }
            return (burstID, sequence, content)
        }
        guard let parsed else { return nil }
        self.init(burstID: parsed.0, sequence: parsed.1, content: parsed.2)
    }

    /// `nil` for no or more than 8 frames, and for a frame that is empty or longer than 65,535 bytes.
    public func encoded() -> [UInt8]? {
        var bytes = [UInt8]()
        bytes.append(bigEndian: burstID)
        bytes.append(bigEndian: sequence)
        switch content {
        case .start(let codec):
            bytes.append(Flags.start)
            bytes.append(codec.rawValue)
        case .frames(let frames):
            guard
                Self.frameCounts.contains(frames.count), frames.allSatisfy({ (1...0xffff).contains($0.count) })
            else { return nil }
            bytes.append(Flags.frames)
            for frame in frames { bytes.append(length16: frame) }
        case .end(let totalDataPackets, let durationMilliseconds):
            bytes.append(Flags.end)
            bytes.append(bigEndian: totalDataPackets)
            bytes.append(bigEndian: durationMilliseconds)
        case .canceled:
            bytes.append(Flags.canceled)
        }
        return bytes
    }

    private static func content(_ flags: UInt8, _ reader: inout ByteReader) -> Content? {
        switch flags {
        case Flags.start:
            return reader.readUInt8().flatMap(Codec.init).map(Content.start)
        case Flags.frames:
            return frames(&reader).map(Content.frames)
        case Flags.end:
            guard let total = reader.readUInt16(), let duration = reader.readUInt32() else { return nil }
            return .end(totalDataPackets: total, durationMilliseconds: duration)
        case Flags.canceled:
            return .canceled
        default:
            return nil
        }
    }

    private static func frames(_ reader: inout ByteReader) -> [[UInt8]]? {
        var frames = [[UInt8]]()
        while !reader.isAtEnd {
            guard
                frames.count < frameCounts.upperBound, let length = reader.readUInt16(), length > 0,
                let frame = reader.readBytes(Int(length))
            else { return nil }
            frames.append(frame)
        }
        return frames.isEmpty ? nil : frames
    }
}

/// Packs the codec frames of one burst into data packets (chapter 01 §9.13).
public struct VoicePacketizer {
    /// Bytes of a packet that still goes out as one BLE frame.
    public static let defaultBudget = 210

    private let burstID: UInt64
    private let budget: Int
    private var pending: [[UInt8]] = []
    private var size = VoiceBurst.headerSize
    private var nextSequence: UInt16 = 1

    public init(burstID: UInt64, budget: Int = VoicePacketizer.defaultBudget) {
        self.burstID = burstID
        self.budget = budget
    }

    /// Adds a frame; one that no packet can hold is dropped.
    /// - Returns: the packet this frame did not fit into any more.
    public mutating func append(_ frame: [UInt8]) -> VoiceBurst? {
        let cost = 2 + frame.count
        guard (1...0xffff).contains(frame.count), cost <= budget - VoiceBurst.headerSize else { return nil }
        let isFull = pending.count == VoiceBurst.frameCounts.upperBound || size + cost > budget
        let packet = isFull ? flush() : nil
        pending.append(frame)
        size += cost
        return packet
    }

    /// The packet with the frames not yet sent, at the end of the burst.
    public mutating func flush() -> VoiceBurst? {
        guard !pending.isEmpty else { return nil }
        let packet = VoiceBurst(burstID: burstID, sequence: nextSequence, content: .frames(pending))
        nextSequence &+= 1
        pending = []
        size = VoiceBurst.headerSize
        return packet
    }
}

import Basics
import Wire

enum WireBenchmarks {
    static var all: [Benchmark] { [decodePadded, decodeCompressed, encode] }

    /// From received bytes to a packet with its own payload.
    private static func decoding(_ bytes: [UInt8]) -> Work {
        { count in for _ in 0..<count { consume(Packet(decoding: bytes)) } }
    }

    private static var decodePadded: Benchmark {
        Benchmark("decode-padded", "decode a signed frame of 200 bytes padded to 256") {
            Trial(subject: decoding(Samples.paddedNoiseMessage))
        }
    }

    private static var decodeCompressed: Benchmark {
        Benchmark("decode-compressed", "decode a signed frame of 352 bytes, payload compressed; beside inflate") {
            let bytes = Samples.compressedMessage
            let frame = try? Frame(bytes)
            let body = frame?.withView { [UInt8]($0.body) } ?? []
            return Trial(
                bare: BareLibraries.inflate(body, size: frame?.layout.payloadLength ?? 0), subject: decoding(bytes))
        }
    }

    private static var encode: Benchmark {
        Benchmark("encode", "encode a frame of 62 bytes") {
            let packet = Samples.packet(
                .noiseHandshake, payload: [UInt8](repeating: 0x9d, count: 32), recipient: PeerID(value: 0x1122_3344))
            return Trial { count in
                for _ in 0..<count { consume(try? packet.encoded()) }
            }
        }
    }
}

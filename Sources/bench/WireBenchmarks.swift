import Basics
import Wire

enum WireBenchmarks {
    static var all: [Benchmark] { [decodePadded, decodeCompressed, encode, fragment, gcs, gcsHashed] }

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

    private static var fragment: Benchmark {
        Benchmark("fragment", "cut a frame of 100 kB into fragments and put it together again") {
            var random = SeededRandom(seed: 8)
            let bytes = Samples.signedFrame(.fileTransfer, payload: random.bytes(100_000), version: 2)
            var assembler = FragmentAssembler()
            return Trial { count in
                for _ in 0..<count {
                    guard let frame = try? Frame(bytes) else { return }
                    consume(roundTrip(of: frame, through: &assembler, using: &random))
                }
            }
        }
    }

    private static func roundTrip(
        of frame: Frame, through assembler: inout FragmentAssembler, using random: inout SeededRandom
    ) -> Frame? {
        let streamID = FragmentStreamID(using: &random)
        guard let plan = FragmentPlan(frame, chunk: FragmentChunk.largest, streamID: streamID) else { return nil }
        for index in 0..<plan.count {
            let outcome = plan.frame(at: index)?.withView { fragment -> FragmentAssembler.Outcome? in
                fragment.withPayload { payload in
                    FragmentHeader(payload: payload).map {
                        assembler.add(
                            $0, slice: FragmentHeader.slice(of: payload), sender: fragment.senderID,
                            link: LinkID(value: 1), at: .zero)
                    }
                } ?? nil
            }
            if case .complete(let joined) = outcome ?? nil { return try? Frame(joined) }
        }
        return nil
    }

    private static let packetIDs: [PacketID] = {
        var random = SeededRandom(seed: 9)
        return (0..<1_000).map { _ in PacketID(high: random.next(), low: random.next()) }
    }()

    /// 1,000 members need 1,125 bytes at P = 7.
    private static func buildAndDecode(_ hashes: [GCSHash]) -> [UInt32] {
        GCSFilter.build(newestFirst: hashes, budget: 1_200, parameter: 7).filter.buckets()
    }

    private static var gcs: Benchmark {
        Benchmark("gcs", "hash 1,000 packet IDs, build a filter and decode it; beside SHA-256 of the IDs") {
            Trial(bare: BareLibraries.hash(identifiers: packetIDs.map(\.bytes))) { count in
                for _ in 0..<count { consume(buildAndDecode(packetIDs.map { GCSHash($0) })) }
            }
        }
    }

    private static var gcsHashed: Benchmark {
        Benchmark("gcs-hashed", "build a filter over 1,000 hashed packet IDs, as a store keeps them, and decode it") {
            let hashes = packetIDs.map { GCSHash($0) }
            return Trial { count in
                for _ in 0..<count { consume(buildAndDecode(hashes)) }
            }
        }
    }
}

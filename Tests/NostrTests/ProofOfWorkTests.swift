import Basics
import Crypto
import Nostr
import TestSupport
import XCTest

final class ProofOfWorkTests: XCTestCase {
    func testWorkIsDoneAndCountedAsTheReferenceDoes() throws {
        try Vectors("pow.json").run { vector in
            switch vector.kind {
            case "zero_bits":
                // Shorter than an id: what is added begins with a one.
                let bytes = try vector.bytes("bytes")
                let id = EventID(bytes + [UInt8](repeating: 0xff, count: max(0, 32 - bytes.count)))
                XCTAssertEqual(id?.leadingZeroBits, try vector.int("bits"), vector.name)
            case "difficulty":
                let tags = try XCTUnwrap(vector.array("tags") as? [[String]])
                XCTAssertEqual(
                    ProofOfWork.difficulty(id: EventID(hex: try vector.string("id")), tags: tags),
                    try vector.int("difficulty"), vector.name)
            case "mined": try checkMined(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkMined(_ vector: VectorCase) throws {
        let event = try vector.object("event").nostrEvent()
        XCTAssertEqual(VerifiedEvent(verifying: event) != nil, try vector.bool("valid"), vector.name)
        XCTAssertEqual(EventID(hex: event.id)?.leadingZeroBits, try vector.int("zeroBits"), vector.name)
        XCTAssertEqual(VerifiedEvent(verifying: event)?.proofOfWork, try vector.int("difficulty"), vector.name)

        let key = try XCTUnwrap(NostrSecretKey(vector.bytes("privateKey")))
        XCTAssertEqual(key.publicKey.hex, event.pubkey, vector.name)
        let work = try XCTUnwrap(event.tags.last { $0.first == "nonce" }, vector.name)
        XCTAssertEqual(work.last, String(try vector.int("target")), vector.name)
        let template = EventTemplate(
            kind: event.kind, tags: event.tags.filter { $0.first != "nonce" }, content: event.content)
        var miner = ProofOfWorkMiner(
            template, author: key.publicKey, createdAt: event.createdAt, target: try vector.int("target"), nonce: 7,
            at: .zero)
        var mined: NostrEvent?
        while mined == nil { mined = miner.mine(at: .zero) }
        var random = SeededRandom(seed: 3)
        let signed = try XCTUnwrap(VerifiedEvent.signed(XCTUnwrap(mined), key: key, using: &random))
        XCTAssertEqual(VerifiedEvent(verifying: signed.event), signed, vector.name)
        XCTAssertEqual(signed.proofOfWork, try vector.int("target"), vector.name)
        XCTAssertEqual(signed.event.id, mined?.id, "the id is that of the canonical form that was hashed")
    }

    /// Chapter 05 §17.3.
    func testTheWorkOfTheExampleFindsTheNonceAsWritten() throws {
        let key = try XCTUnwrap(NostrSecretKey([UInt8](repeating: 0, count: 31) + [3]))
        let template = EventTemplate(kind: 20_000, tags: [["g", "u4pruyd"], ["n", "tester"]], content: "hello pow")
        var miner = ProofOfWorkMiner(
            template, author: key.publicKey, createdAt: 1_700_000_000, nonce: 0, at: .zero)
        let mined = try XCTUnwrap(miner.mine(at: .zero, hashes: 1_000))
        XCTAssertEqual(mined.tags.last, ["nonce", "0000000000000164", "8"])
        XCTAssertEqual(mined.id, "00dca1c7c28ae508eff744d60be87412b34e5cf6440620404c3389c93e284bae")
        let id = EventID(hex: mined.id)
        XCTAssertEqual(ProofOfWork.difficulty(id: id, tags: mined.tags), 8)
        XCTAssertEqual(ProofOfWork.difficulty(id: id, tags: [["nonce", "0", "9"]]), 0)
        XCTAssertEqual(ProofOfWork.difficulty(id: id, tags: [["nonce", "0", "4"]]), 4)
    }

    func testTheTargetIsHalvedWhenTimeRunsOutSoThatMiningAlwaysEnds() throws {
        var random = SeededRandom(seed: 4)
        let key = NostrSecretKey.generate(using: &random)
        var miner = ProofOfWorkMiner(
            EventTemplate(kind: 20_000, content: "x"), author: key.publicKey, createdAt: 0, target: 200, nonce: 0,
            at: .zero)
        var now = Instant.zero
        XCTAssertNil(miner.mine(at: now, hashes: 1))
        now = now + .milliseconds(1_999)
        XCTAssertNil(miner.mine(at: now, hashes: 1))
        XCTAssertEqual(miner.target, 200)
        now = now + .milliseconds(1)
        var targets: [Int] = []
        var mined: NostrEvent?
        while mined == nil {
            mined = miner.mine(at: now, hashes: 1)
            targets.append(miner.target)
            now = now + .milliseconds(150)
        }
        XCTAssertEqual(targets.first, 100)
        XCTAssertEqual(Array(targets.prefix(4)), [100, 50, 25, 12])
        XCTAssertEqual(mined?.tags.last?.last, miner.target.description)
    }
}

import Basics
import TestSupport
import XCTest

@testable import Wire

final class CapabilitiesTests: XCTestCase {
    func testCapabilitiesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("capabilities.json").run { vector in
            switch vector.kind {
            case "encode":
                let value = Capabilities(rawValue: try vector.uint64("value"))
                XCTAssertEqual(value.encoded, try vector.bytes("encoded"), vector.name)
            case "decode":
                let value = Capabilities(littleEndian: try vector.bytes("bytes"))
                XCTAssertEqual(value.rawValue, try vector.uint64("value"), vector.name)
            case "local":
                try self.checkBits(vector)
            case "peer_state_encode", "peer_state_encode_reject":
                let state = AuthenticatedPeerState(
                    capabilities: Capabilities(rawValue: try vector.uint64("capabilities")),
                    signingPublicKey: try vector.bytes("signingPublicKey"))
                XCTAssertEqual(state.encoded(), try vector.optionalBytes("encoded"), vector.name)
            case "peer_state_accept", "peer_state_reject":
                let state = AuthenticatedPeerState(body: try vector.bytes("payload"))
                XCTAssertEqual(state?.capabilities.rawValue, try vector.optionalUInt64("capabilities"), vector.name)
                XCTAssertEqual(state?.signingPublicKey, try vector.optionalBytes("signingPublicKey"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkBits(_ vector: VectorCase) throws {
        let named: [String: Capabilities] = [
            "prekeys": .prekeys, "wifiBulk": .wifiBulk, "gateway": .gateway, "groups": .groups, "board": .board,
            "vouch": .vouch, "meshDiagnostics": .meshDiagnostics, "bridge": .bridge, "privateMedia": .privateMedia,
            "privateMediaReceipts": .privateMediaReceipts,
            "nonDestructiveNoiseReplacement": .nonDestructiveNoiseReplacement,
        ]
        let bits = try vector.object("bits")
        XCTAssertEqual(Set(bits.members.keys), Set(named.keys), vector.name)
        for (name, capability) in named {
            XCTAssertEqual(capability.rawValue, try 1 << UInt64(bits.int(name)), name)
        }
        let phone: Capabilities = [.prekeys, .groups, .vouch, .privateMedia, .privateMediaReceipts]
        XCTAssertEqual(phone.rawValue, try vector.uint64("value"), vector.name)
    }

    /// Chapter 01 §12.
    func testExamplesOfTheChapter() {
        XCTAssertEqual(Capabilities(rawValue: 0x0329).encoded, hex("2903"))
        XCTAssertEqual(Capabilities(rawValue: 0x03ad).encoded, hex("ad03"))
        XCTAssertEqual(Capabilities.privateMedia.encoded, hex("0001"))
        XCTAssertEqual(([.gateway, .bridge] as Capabilities).encoded, hex("84"))
        XCTAssertEqual(([] as Capabilities).encoded, hex("00"))
    }

    func testUnknownBitsSurvive() {
        let bytes = hex("0100000000000080")
        XCTAssertEqual(Capabilities(littleEndian: bytes).encoded, bytes)
    }
}

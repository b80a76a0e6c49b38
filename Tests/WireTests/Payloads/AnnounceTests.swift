import Basics
import TestSupport
import XCTest

@testable import Wire

final class AnnounceTests: XCTestCase {
    func testAnnouncesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("announce.json").run { vector in
            switch vector.kind {
            case "encode", "encode_reject":
                let announce = try XCTUnwrap(try vector.optionalObject("announce").map(self.announce))
                XCTAssertEqual(announce.encoded(), try vector.optionalBytes("encoded"), vector.name)
            case "accept", "reject":
                let expected = try vector.optionalObject("announce").map(self.announce)
                XCTAssertEqual(Announce(payload: try vector.bytes("payload")), expected, vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func announce(_ fields: VectorCase) throws -> Announce {
        var neighbors: [PeerID]?
        if !fields.isNull("directNeighbors") {
            // A list with an ill-sized ID cannot be expressed: as on the wire, it is no list.
            let ids = try fields.bytesList("directNeighbors").map { PeerID($0) }
            neighbors = ids.contains(nil) ? nil : ids.compactMap { $0 }
        }
        return Announce(
            nickname: try fields.string("nickname"), noisePublicKey: try fields.bytes("noisePublicKey"),
            signingPublicKey: try fields.bytes("signingPublicKey"), directNeighbors: neighbors,
            capabilities: try fields.optionalUInt64("capabilities").map(Capabilities.init(rawValue:)),
            bridgeGeohash: try fields.optionalString("bridgeGeohash"))
    }

    /// Chapter 01 §17.5.
    func testTheAnnounceOfTheExampleIsEncodedAsWritten() throws {
        let announce = Announce(
            nickname: "gateway-pi", noisePublicKey: Example.A.noisePublicKey,
            signingPublicKey: Example.A.signingPublicKey,
            directNeighbors: [Example.B.peerID, PeerID(value: 0x0011_2233_4455_6677)],
            capabilities: [.gateway, .bridge], bridgeGeohash: "u4pruy")
        let payload = hex(
            "010a676174657761792d7069022007a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c0320"
                + "e7f162a10bec559afea195e4dce84b69568d5d2cb0963eb446c0685e2b17f2f00410bc841db8fea3efd8001122334455"
                + "66770501840606753470727579")
        XCTAssertEqual(announce.encoded(), payload)
        XCTAssertEqual(Announce(payload: payload), announce)
    }

    /// Chapter 01 §17.5, Android contract vector.
    func testAndroidContractExample() {
        let payload =
            hex("0103626f620220") + [UInt8](repeating: 0x11, count: 32) + hex("0320")
            + [UInt8](repeating: 0x22, count: 32) + hex("05020001")
        let announce = Announce(payload: payload)
        XCTAssertEqual(announce?.nickname, "bob")
        XCTAssertEqual(announce?.capabilities, .privateMedia)
        XCTAssertNil(announce?.directNeighbors)
    }

    /// Android emits 1,2,3,5,4 (chapter 01 §9.1).
    func testAndroidFieldOrderDecodes() {
        let key = [UInt8](repeating: 7, count: 32)
        let payload =
            hex("010161") + hex("0220") + key + hex("0320") + key + hex("050104") + hex("0408")
            + Example.B.peerID.bytes
        let announce = Announce(payload: payload)
        XCTAssertEqual(announce?.capabilities, .gateway)
        XCTAssertEqual(announce?.directNeighbors, [Example.B.peerID])
    }

    func testIllFormedRepeatOfAnOptionalFieldKeepsTheGoodOne() {
        let key = [UInt8](repeating: 7, count: 32)
        let payload = hex("010161") + hex("0220") + key + hex("0320") + key + hex("0603753470") + hex("0601ff")
        XCTAssertEqual(Announce(payload: payload)?.bridgeGeohash, "u4p")
    }
}

import Basics
import Crypto
import Wire
import XCTest

/// Signatures cover compressed bytes, and relays on iOS compress anew (chapter 01 §6.4).
final class RecompressionTests: XCTestCase {
    private enum Body: CaseIterable { case level5, level6, uncompressed }

    /// A message on which zlib's levels 5 and 6 disagree. Found by trying, always the same one.
    private func ambiguousPayload() throws -> [UInt8] {
        let words = "river gate lantern mesh train water tower quick friend music delay night signal map".split(
            separator: " ")
        var random = SeededRandom(seed: 640)
        for _ in 0..<2_000 {
            let text = (0..<250).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
            let payload = Array(text.utf8)
            if body(.level5, of: payload) != body(.level6, of: payload) { return payload }
        }
        throw XCTSkip("this zlib writes the same at both levels")
    }

    private func body(_ form: Body, of payload: [UInt8]) -> [UInt8]? {
        switch form {
        case .level5: payload.withUnsafeBytes { Compression.deflate($0, level: 5) }
        case .level6: payload.withUnsafeBytes { Compression.deflate($0, level: 6) }
        case .uncompressed: nil
        }
    }

    /// A version 1 frame written by hand, so that the form of the body is ours to choose. Without a signature and with
    /// TTL 0 it is, once padded, what a signature covers.
    private func frame(
        _ payload: [UInt8], as form: Body, ttl: UInt8, signature: [UInt8]?, sender: PeerID
    ) throws -> [UInt8] {
        let deflated = body(form, of: payload)
        var bytes: [UInt8] = [1, MessageType.message.rawValue, ttl]
        bytes.append(bigEndian: Examples.time.milliseconds)
        bytes.append((deflated == nil ? 0 : 4) | (signature == nil ? 0 : 2))
        bytes.append(bigEndian: UInt16((deflated.map { $0.count + 2 } ?? payload.count)))
        bytes += sender.bytes
        if let deflated {
            bytes.append(bigEndian: UInt16(payload.count))
            bytes += deflated
        } else {
            bytes += payload
        }
        return bytes + (signature ?? [])
    }

    private func signed(_ payload: [UInt8], as signedForm: Body, sentAs sentForm: Body, by author: NodeIdentity)
        throws -> Frame
    {
        let covered = Padding.padded(
            try frame(payload, as: signedForm, ttl: 0, signature: nil, sender: author.peerID))
        let signature = author.signing.sign(covered)
        return try Frame(frame(payload, as: sentForm, ttl: 7, signature: signature, sender: author.peerID))
    }

    func testAnyFormOfTheBodyVerifiesWhateverFormWasSigned() throws {
        let author = try Examples.a()
        let payload = try ambiguousPayload()
        for signedForm in Body.allCases {
            for sentForm in Body.allCases {
                let frame = try signed(payload, as: signedForm, sentAs: sentForm, by: author)
                let verified = VerifiedFrame(verifying: frame, under: author.signing.publicKey)
                XCTAssertEqual(verified?.packet.payload, payload, "\(signedForm) sent as \(sentForm)")
                XCTAssertEqual(verified?.frame.bytes, frame.bytes, "relays keep the received bytes")
            }
        }
    }

    func testAnotherPayloadNeverVerifiesInAnyForm() throws {
        let author = try Examples.a()
        let payload = try ambiguousPayload()
        var other = payload
        other[0] ^= 1
        for signedForm in Body.allCases {
            let genuine = try signed(payload, as: signedForm, sentAs: signedForm, by: author)
            for sentForm in Body.allCases {
                let forged = try Frame(
                    frame(other, as: sentForm, ttl: 7, signature: genuine.signature, sender: author.peerID))
                XCTAssertNil(VerifiedFrame(verifying: forged, under: author.signing.publicKey), "\(signedForm)")
            }
        }
    }

    /// The size announced for the payload cuts it: the cut text was never signed.
    func testShortenedPayloadNeverVerifies() throws {
        let author = try Examples.a()
        let payload = try ambiguousPayload()
        for signedForm in Body.allCases {
            for sentForm in [Body.level5, .level6] {
                var bytes = try signed(payload, as: signedForm, sentAs: sentForm, by: author).bytes
                // Bytes 22 and 23: the announced size.
                bytes[22] = 0
                bytes[23] = 120
                let cut = try Frame(bytes)
                XCTAssertEqual(cut.payload()?.count, 120)
                XCTAssertNil(VerifiedFrame(verifying: cut, under: author.signing.publicKey), "\(signedForm)")
            }
        }
    }

    func testBodyThatDoesNotInflateNeverVerifies() throws {
        let author = try Examples.a()
        let payload = try ambiguousPayload()
        var bytes = try frame(payload, as: .level5, ttl: 0, signature: nil, sender: author.peerID)
        bytes[24] = 0xff
        let signature = author.signing.sign(Padding.padded(bytes))
        bytes[11] |= 2
        let frame = try Frame(bytes + signature)
        XCTAssertNil(frame.payload())
        XCTAssertNil(VerifiedFrame(verifying: frame, under: author.signing.publicKey))
    }
}

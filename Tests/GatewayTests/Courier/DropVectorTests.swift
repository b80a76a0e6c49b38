import Basics
import Crypto
import Nostr
import TestSupport
import Wire
import XCTest

@testable import Gateway

/// Kind-1401 drops as relays tell them (chapter 06 §5.5, §5.6).
final class DropVectorTests: XCTestCase {
    func testDropsAreMadeAndTakenAsTheReferenceDoes() throws {
        try Vectors("courier_drops.json").run { vector in
            switch vector.kind {
            case "tags": try tags(vector)
            case "event": try event(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func tags(_ vector: VectorCase) throws {
        var watch = WatchSet(own: try XCTUnwrap(NoisePublicKey(try vector.bytes("noiseStaticPublic"))))
        if let peer = try watchedPeer(vector) { _ = watch.heard(peer.peerID, peer, isProven: false, at: .zero) }
        let now = Clock.now(unix: Int64(try vector.int("nowUnix")))
        XCTAssertEqual(watch.tagGroups(at: now.wall), [try vector.strings("tags")], vector.name)
    }

    private func watchedPeer(_ vector: VectorCase) throws -> NoisePublicKey? {
        try vector.optionalBytes("watchedPeerNoisePublic").map { try XCTUnwrap(NoisePublicKey($0)) }
    }

    /// What the courier does with the event; nothing with one that the relay client refuses.
    private func effect(of vector: VectorCase, for own: NoiseStaticKey) throws -> CourierEffect? {
        let now = Clock.now(unix: Int64(try vector.int("nowUnix")))
        let courier = Courier(
            configuration: CourierConfiguration(own: own.publicKey), random: SeededRandom(seed: 1))
        courier.setClock(isUsable: true, isTrusted: true, at: now)
        courier.start(at: now)
        courier.relayConnectivityChanged(true, at: now)
        if let peer = try watchedPeer(vector) { courier.met(peer.peerID, peer, .relayed, at: now) }
        while courier.nextEffect() != nil {}

        let json = try JSONSerialization.data(withJSONObject: try vector.object("event").members)
        guard let event = (try? NostrEvent(json: Array(json))).flatMap({ VerifiedEvent(verifying: $0) }) else {
            return nil
        }
        courier.relayEvent(event, at: now)
        return courier.nextEffect()
    }

    private func event(_ vector: VectorCase) throws {
        let own = try XCTUnwrap(NoiseStaticKey(privateKey: try vector.bytes("recipientNoisePrivate")))
        let effect = try effect(of: vector, for: own)
        switch try vector.string("result") {
        case "ours":
            guard case .open(let envelope, let drop) = effect else {
                return XCTFail("\(vector.name): \(effect as Any)")
            }
            XCTAssertEqual(drop?.hex, try vector.object("event").string("id"), vector.name)
            try checkOpened(envelope, by: own, vector)
        case "deliver":
            guard case .send(let envelope, let to, .provenLink, _) = effect else {
                return XCTFail("\(vector.name): \(effect as Any)")
            }
            XCTAssertEqual(envelope.encoded(), try vector.bytes("envelope"), vector.name)
            XCTAssertEqual(to.hex, try vector.string("peerID"), vector.name)
        case "ignored": XCTAssertNil(effect, vector.name)
        case let other: throw VectorError.unknownKind(other)
        }
    }

    /// The payload is what the static key opens, whatever prekey the envelope names; a box that keeps to chapter 02
    /// §7.5 step 3a does not try its static key on one that names a prekey.
    private func checkOpened(_ envelope: CourierEnvelope, by own: NoiseStaticKey, _ vector: VectorCase) throws {
        if envelope.prekeyID != nil { XCTAssertNil(SealedMail.open(envelope, with: own), vector.name) }
        var sealedToStatic = envelope
        sealedToStatic.prekeyID = nil
        let opened = SealedMail.open(sealedToStatic, with: own)
        XCTAssertEqual(opened?.payload, try vector.optionalBytes("innerPayload"), vector.name)
        XCTAssertEqual(opened?.sender.bytes, try vector.optionalBytes("senderNoisePublic"), vector.name)
    }
}

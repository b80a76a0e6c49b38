import Basics
import Crypto
import Messenger
import Nostr
import Wire

extension FuzzTarget {
    static let privates = [
        FuzzTarget("envelope-layer", checkLayer), FuzzTarget("private-envelope", checkEnvelope),
        FuzzTarget("sealed-mail", checkMail), FuzzTarget("file-notice", checkFile),
        FuzzTarget("trust-record", decode: { TrustRecord(decoding: $0) }, encode: { $0.encoded() }),
        FuzzTarget(
            "prekey-snapshot", decode: { OwnPrekeys(snapshot: SecretBytes(copying: $0)) },
            encode: { $0.snapshot.withBytes { [UInt8]($0) } }),
        FuzzTarget("messenger", checkMessenger),
    ]

    private static let time = WallTime(milliseconds: 1_750_000_000_000)

    private struct Correspondents: Sendable {
        let sender: NostrSecretKey
        let recipient: NostrSecretKey
        let once: NostrSecretKey

        static let all: Correspondents = {
            var random = SeededRandom(seed: 1)
            return Correspondents(
                sender: .generate(using: &random), recipient: .generate(using: &random), once: .generate(using: &random)
            )
        }()

        func layer(_ plaintext: [UInt8], from key: NostrSecretKey) -> String {
            EnvelopeLayer.seal(
                plaintext, from: key, to: recipient.publicKey, nonce: [UInt8](repeating: 1, count: 24)) ?? ""
        }

        func event(_ kind: Int, _ content: String, tags: [[String]], by key: NostrSecretKey) -> VerifiedEvent? {
            var random = SeededRandom(seed: 2)
            return .signed(kind: kind, tags: tags, content: content, createdAt: 0, key: key, using: &random)
        }

        func open(wrapping content: String) -> PrivateLetter? {
            event(EventKind.privateEnvelope, content, tags: [["p", recipient.publicKey.hex]], by: once).flatMap {
                try? PrivateEnvelope.open($0, with: recipient)
            }
        }
    }

    private static func checkLayer(_ buffer: UnsafeRawBufferPointer) {
        let people = Correspondents.all
        let bytes = [UInt8](buffer)
        let opened = EnvelopeLayer.open(
            people.layer(bytes, from: people.sender), by: people.recipient, from: people.sender.publicKey)
        require(bytes.isEmpty || opened == bytes, "what was sealed opens as it was")
        let invented = EnvelopeLayer.open(
            "v2:" + String(decoding: bytes, as: UTF8.self), by: people.recipient, from: people.sender.publicKey)
        require(invented == nil, "what nobody sealed does not open")
    }

    /// The first byte says which layer the rest is put in.
    private static func checkEnvelope(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        let people = Correspondents.all
        let depth = input.byte() % 3
        let bytes = [UInt8](input.rest())
        switch depth {
        case 0:
            let letter = people.open(wrapping: String(decoding: bytes, as: UTF8.self))
            require(letter == nil, "what nobody sealed does not open")
        case 1:
            let letter = people.open(wrapping: people.layer(bytes, from: people.once))
            require(letter == nil, "a seal without a signature is no seal")
        default:
            let seal = people.event(
                EventKind.seal, people.layer(bytes, from: people.sender), tags: [], by: people.sender)
            guard let seal else { return }
            let letter = people.open(wrapping: people.layer(seal.json(), from: people.once))
            require(letter.map { $0.sender == people.sender.publicKey } ?? true, "the sender is who signed the seal")
            _ = letter?.packet
        }
    }

    private static func checkMail(_ buffer: UnsafeRawBufferPointer) {
        var random = SeededRandom(seed: 3)
        let sender = NoiseStaticKey.generate(using: &random)
        let recipient = NoiseStaticKey.generate(using: &random)
        var prekeys = OwnPrekeys()
        var box = Mailbox(identity: recipient)
        let bytes = [UInt8](buffer)
        let sealed = SealedMail.seal(bytes, to: recipient.publicKey, from: sender, at: time, using: &random)
        let envelopes = [sealed, CourierEnvelope(payload: bytes)].compactMap { $0 }
        for envelope in envelopes {
            let opening = box.open(
                envelope, prekeys: &prekeys, at: time, isBlocked: { _ in false }, using: &random)
            guard case .letter(let letter) = opening.result else { continue }
            require(letter.sender == sender.publicKey, "the sender is who sealed")
            require(bytes.first == NoisePayloadType.privateMessage.rawValue, "only private messages are mail")
            let again = box.open(
                envelope, prekeys: &prekeys, at: time, isBlocked: { _ in false }, using: &random)
            if case .letter = again.result { require(false, "mail is opened once") }
        }
    }

    private static func checkFile(_ buffer: UnsafeRawBufferPointer) {
        guard let name = FileNotice(body: [UInt8](buffer))?.name else { return }
        require(!name.isEmpty && !name.contains("/") && !name.contains("\\"), "a file's name is no path")
    }

    /// A session in which the peer sends anything: a type, a length, a body, and again.
    private static func checkMessenger(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        var random = SeededRandom(seed: 4)
        let messenger = Messenger(identity: .generate(using: &random), random: SeededRandom(seed: 5))
        let peer = NodeIdentity.generate(using: &random)
        var now = Now(monotonic: .zero, wall: time)
        messenger.met(
            Acquaintance(noiseKey: peer.noise.publicKey, signingKey: peer.signing.publicKey, nickname: "peer"), at: now)
        messenger.sessionEstablished(with: peer.peerID, fingerprint: peer.fingerprint, at: now)
        while !input.isAtEnd {
            let type = input.byte()
            let body = [UInt8](input.bytes(Int(input.short() % 1_024)))
            guard let payload = NoisePayload(payload: [type] + body) else { continue }
            now = now.advanced(by: .seconds(1))
            messenger.take(payload, from: peer.peerID, fingerprint: peer.fingerprint, at: now)
            var answers = 0
            while let effect = messenger.nextEffect() {
                if case .send(let answer, let to) = effect {
                    answers += 1
                    require(to == peer.peerID && answer.type != .privateMessage, "only receipts and proofs answer")
                }
            }
            require(answers <= 2, "one message draws two receipts at most")
        }
    }
}

import Basics
import Crypto
import Wire

extension FuzzTarget {
    static let noise = [
        FuzzTarget("noise-handshake", checkHandshake), FuzzTarget("noise-transport", checkTransport),
        FuzzTarget("noise-seal", checkSeal),
    ]

    private struct Parties {
        var random = SeededRandom(seed: 1)
        var initiator: NoiseHandshake
        var responder: NoiseHandshake

        init() {
            initiator = NoiseHandshake(
                .initiator, staticKey: .generate(using: &random), ephemeral: .generate(using: &random))
            responder = NoiseHandshake(
                .responder, staticKey: .generate(using: &random), ephemeral: .generate(using: &random))
        }

        /// Carries the next message of a handshake over.
        mutating func pass(_ number: Int) -> Bool {
            if number == 2 { return (try? initiator.read(responder.write())) != nil }
            return (try? responder.read(initiator.write())) != nil
        }

        /// Gives the receiver of a message something else in its place.
        mutating func offer(_ bytes: [UInt8], as number: Int) -> Bool {
            if number == 2 { return (try? initiator.read(bytes)) != nil }
            return (try? responder.read(bytes)) != nil
        }
    }

    /// The first byte says in place of which message the rest comes.
    private static func checkHandshake(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        let step = Int(input.byte() % 3) + 1
        let message = [UInt8](input.rest())
        var parties = Parties()
        for number in 1..<step { require(parties.pass(number), "a handshake goes through") }
        let isAccepted = parties.offer(message, as: step)
        // The first message carries no proof, so nearly anything of its length is one.
        if step > 1 { require(!isAccepted, "what no party wrote is refused") }
        guard !isAccepted else { return }
        for number in step...3 { require(parties.pass(number), "a refusal changes nothing") }
        require(
            parties.initiator.handshakeHash == parties.responder.handshakeHash, "both sides saw the same handshake")
    }

    /// Messages of a session, each as it was, bent, or put in at random; each plaintext comes out once.
    private static func checkTransport(_ buffer: UnsafeRawBufferPointer) {
        var input = FuzzInput(buffer)
        var parties = Parties()
        for number in 1...3 { require(parties.pass(number), "a handshake goes through") }
        guard var sender = parties.initiator.transport(), var receiver = parties.responder.transport() else { return }
        var messages: [[UInt8]] = []
        var delivered: Set<Int> = []
        var count = 0
        while !input.isAtEnd, count < 4_000 {
            count += 1
            switch input.byte() % 4 {
            case 0, 1:
                let number = messages.count
                let plaintext = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
                if let message = try? sender.encrypt(plaintext) { messages.append(message) }
            case 2:
                guard !messages.isEmpty else { continue }
                let number = Int(input.short()) % messages.count
                let isNew = delivered.insert(number).inserted
                let plaintext = try? receiver.decrypt(messages[number])
                let isNear = messages.count - number <= NoiseLimits.replayWindow
                require(plaintext == nil || isNew, "nothing is delivered twice")
                require(plaintext != nil || !isNew || !isNear, "what is new and near is delivered")
            default:
                let invented = [UInt8](input.bytes(Int(input.byte())))
                require((try? receiver.decrypt(invented)) == nil, "what nobody wrote is refused")
            }
        }
    }

    private static func checkSeal(_ buffer: UnsafeRawBufferPointer) {
        var random = SeededRandom(seed: 2)
        let key = NoiseStaticKey.generate(using: &random)
        require(NoiseSeal.open([UInt8](buffer), with: key, prologue: []) == nil, "what nobody sealed does not open")
    }
}

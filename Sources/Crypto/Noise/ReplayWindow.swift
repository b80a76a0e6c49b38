/// Which counters of a stream were accepted (chapter 02 §3.5): the highest, and a bit for each of the 1024 up to it.
struct ReplayWindow: Sendable {
    private static let size = UInt32(NoiseLimits.replayWindow)

    /// Nil until the first message: counter 0 is accepted once.
    private(set) var highest: UInt32?
    /// The bit of counter n is at n modulo the size, so that moving on touches only the counters passed over.
    private var seen = [UInt64](repeating: 0, count: NoiseLimits.replayWindow / 64)

    func accepts(_ nonce: UInt32) -> Bool {
        guard let highest, nonce <= highest else { return true }
        return highest - nonce < ReplayWindow.size && !isSeen(nonce)
    }

    /// To be called once the message has proved authentic.
    mutating func mark(_ nonce: UInt32) {
        if let former = highest, nonce > former {
            advance(from: former, to: nonce)
        } else if highest == nil {
            highest = nonce
        }
        let (word, bit) = ReplayWindow.position(of: nonce)
        seen[word] |= bit
    }

    private mutating func advance(from former: UInt32, to nonce: UInt32) {
        highest = nonce
        guard nonce - former < ReplayWindow.size else {
            for word in seen.indices { seen[word] = 0 }
            return
        }
        for passed in former + 1...nonce {
            let (word, bit) = ReplayWindow.position(of: passed)
            seen[word] &= ~bit
        }
    }

    private func isSeen(_ nonce: UInt32) -> Bool {
        let (word, bit) = ReplayWindow.position(of: nonce)
        return seen[word] & bit != 0
    }

    private static func position(of nonce: UInt32) -> (word: Int, bit: UInt64) {
        let offset = nonce % size
        return (Int(offset / 64), 1 << UInt64(offset % 64))
    }
}

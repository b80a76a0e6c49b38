import Basics

/// Confirmed publications over connections of their own, one per relay and event, closed when all is said. On a shared
/// socket a relay could link every courier drop to the box that left it; over Tor each of these sockets takes a circuit
/// of its own.
struct IsolatedPublications {
    private struct Attempt {
        let socket: NostrSocketID
        let publication: PublicationID
        let event: EventID
        let frame: [UInt8]
        var deadline: Instant
        var isOpen = false
        var isWritten = false
        /// Messages that were not the answer.
        var otherMessages = 0
    }

    private var attempts: [Attempt] = []
    /// The relay that took a publication first, until its last attempt is over.
    private var takers: [PublicationID: NostrRelayURL] = [:]

    /// Publications that were written to a relay, until the last attempt is over: each is charged to the pace once.
    private var begun: Set<PublicationID> = []

    var count: Int { attempts.count }
    var nextDeadline: Instant? { attempts.map(\.deadline).min() }

    mutating func begin(
        _ publication: PublicationID, event: EventID, frame: [UInt8], socket: NostrSocketID, at now: Instant
    ) -> NostrEffect {
        attempts.append(
            Attempt(
                socket: socket, publication: publication, event: event, frame: frame,
                deadline: now + NostrLimits.dialTimeout))
        return .dial(socket)
    }

    mutating func opened(_ socket: NostrSocketID) {
        if let index = index(of: socket) { attempts[index].isOpen = true }
    }

    /// A socket that is ready for its event, and whether the publication has been written to another one before.
    var nextToWrite: (socket: NostrSocketID, isBegun: Bool)? {
        guard let next = attempts.first(where: { $0.isOpen && !$0.isWritten }) else { return nil }
        return (next.socket, begun.contains(next.publication))
    }

    mutating func write(_ socket: NostrSocketID, at now: Instant) -> [NostrEffect] {
        guard let index = index(of: socket), !attempts[index].isWritten else { return [] }
        attempts[index].isWritten = true
        begun.insert(attempts[index].publication)
        attempts[index].deadline = now + NostrLimits.confirmationTimeout
        return [.send(attempts[index].frame, on: socket)]
    }

    /// The relay's answer to the event, if this message is it.
    mutating func answer(in message: [UInt8], from socket: NostrSocketID) -> RelayAnswer? {
        guard let index = index(of: socket) else { return nil }
        attempts[index].otherMessages += 1
        guard attempts[index].isWritten, message.count <= NostrLimits.messageBytes else { return nil }
        return message.withUnsafeBytes { bytes in
            guard bytes.isValidUTF8, case .ok(let event, let answer)? = try? RelayFrame.parse(bytes),
                EventID(hexDigits: event.bytes) == attempts[index].event
            else { return nil }
            return answer
        }
    }

    func isChattering(_ socket: NostrSocketID) -> Bool {
        index(of: socket).map { attempts[$0].otherMessages >= NostrLimits.isolatedMessages } ?? false
    }

    /// A relay took the event. The others are still given it, for a while: one that only says so, and says it first,
    /// must not be the only one that has it.
    mutating func accepted(on socket: NostrSocketID, at now: Instant) -> [NostrEffect] {
        guard let index = index(of: socket) else { return [] }
        let publication = attempts[index].publication
        if takers[publication] == nil {
            takers[publication] = socket.relay
            let end = now + NostrLimits.confirmationTimeout
            for index in attempts.indices where attempts[index].publication == publication {
                attempts[index].deadline = min(attempts[index].deadline, end)
            }
        }
        return ended(socket, isClosed: false)
    }

    /// This attempt is over. The last one of a publication is its outcome.
    ///
    /// - Parameter isClosed: the socket is gone already.
    mutating func ended(
        _ socket: NostrSocketID, isClosed: Bool, _ failure: PublicationFailure = .rejected
    ) -> [NostrEffect] {
        guard let index = index(of: socket) else { return [] }
        let publication = attempts.remove(at: index).publication
        var effects: [NostrEffect] = isClosed ? [] : [.close(socket, code: CloseCode.goingAway)]
        if !attempts.contains(where: { $0.publication == publication }) {
            begun.remove(publication)
            let taker = takers.removeValue(forKey: publication)
            effects.append(.published(publication, taker.map { .accepted(by: $0) } ?? .failed(failure)))
        }
        return effects
    }

    mutating func expire(at now: Instant) -> [NostrEffect] {
        let late = attempts.filter { $0.deadline <= now }.map(\.socket)
        return late.flatMap { ended($0, isClosed: false, .timedOut) }
    }

    mutating func endAll() -> [NostrEffect] { attempts.map(\.socket).flatMap { ended($0, isClosed: false) } }

    private func index(of socket: NostrSocketID) -> Int? { attempts.firstIndex { $0.socket == socket } }
}

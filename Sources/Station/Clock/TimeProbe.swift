import Basics
import EventLoop
import Nostr
import Uplink

/// Asks relays what time it is, before anything may be published to them: opens a connection, takes the `Date` of the
/// answer, and closes it. Where a relay gives none, it listens for a moment to what is published there.
final class TimeProbe {
    var onDate: ((ServerDate, NostrRelayURL) -> Void)?
    var onEvent: ((_ createdAt: Int64, _ author: [UInt8], NostrRelayURL) -> Void)?
    private(set) var rounds = 0

    private struct Asked {
        let relay: NostrRelayURL
        let socket: WebSocketClient
        var question: TimeQuestion?
        var events = 0
    }

    private let loop: any EventLoop
    private let relays: () -> [NostrRelayURL]
    /// A socket that is not opened yet; `nil` while the relay may not be dialled.
    private let socket: (NostrRelayURL) -> WebSocketClient?
    private var asked: [ObjectIdentifier: Asked] = [:]
    private var timer: (any Cancellable)?
    private var pause = ClockLimits.firstQuestion
    private var need = Need.none

    /// How much it matters.
    enum Need { case none, refresh, urgent }

    init(
        loop: any EventLoop, relays: @escaping () -> [NostrRelayURL],
        socket: @escaping (NostrRelayURL) -> WebSocketClient?
    ) {
        self.loop = loop
        self.relays = relays
        self.socket = socket
    }

    func set(_ need: Need) {
        guard need != self.need else { return }
        self.need = need
        pause = ClockLimits.firstQuestion
        timer?.cancel()
        timer = nil
        switch need {
        case .none: abandon()
        case .refresh: arm(ClockLimits.refreshingQuestion)
        case .urgent: if asked.isEmpty { round() }
        }
    }

    /// The way has opened: what failed before is no reason to wait.
    func wayOpened() {
        guard need == .urgent, asked.isEmpty else { return }
        pause = ClockLimits.firstQuestion
        round()
    }

    private func abandon() {
        for entry in asked.values {
            entry.socket.delegate = nil
            entry.socket.close(code: 1_000)
        }
        asked.removeAll()
    }

    private func round() {
        rounds += 1
        timer?.cancel()
        for relay in relays().prefix(ClockLimits.relays) {
            guard let socket = socket(relay) else { continue }
            socket.delegate = self
            asked[ObjectIdentifier(socket)] = Asked(relay: relay, socket: socket)
            socket.open()
        }
        armNext()
    }

    private func armNext() {
        arm(need == .refresh ? ClockLimits.refreshingQuestion : pause)
        pause = min(pause * 2, ClockLimits.slowestQuestion)
    }

    private func arm(_ pause: Interval) {
        timer?.cancel()
        timer = loop.schedule(after: pause) { [weak self] in
            guard let self else { return }
            // A round that still waits for somebody goes on a while.
            if asked.isEmpty { round() } else { armNext() }
        }
    }
}

extension TimeProbe: WebSocketDelegate {
    func webSocket(_ socket: WebSocketClient, received date: ServerDate) {
        guard let entry = asked[ObjectIdentifier(socket)] else { return }
        // A server that refuses the request still gives the time.
        asked[ObjectIdentifier(socket)]?.events = ClockLimits.eventsPerRelay
        onDate?(date, entry.relay)
    }

    func webSocketOpened(_ socket: WebSocketClient) {
        guard let entry = asked[ObjectIdentifier(socket)] else { return socket.close(code: 1_000) }
        guard entry.events == 0, socket.send(text: TimeQuestion.request) else { return socket.close(code: 1_000) }
        asked[ObjectIdentifier(socket)]?.question = TimeQuestion()
        loop.schedule(after: ClockLimits.listening) { [weak socket] in socket?.close(code: 1_000) }
    }

    func webSocket(_ socket: WebSocketClient, received message: WebSocketMessage) {
        guard case .text(let bytes) = message, var entry = asked[ObjectIdentifier(socket)],
            let answer = entry.question?.read(bytes)
        else { return }
        if case .live(let createdAt, let author) = answer {
            entry.events += 1
            onEvent?(createdAt, author, entry.relay)
        }
        if answer == .ended || entry.events >= ClockLimits.eventsPerRelay { socket.close(code: 1_000) }
        if asked[ObjectIdentifier(socket)] != nil { asked[ObjectIdentifier(socket)] = entry }
    }

    func webSocket(_ socket: WebSocketClient, receivedPong payload: [UInt8]) {}
    func webSocketMaySendAgain(_ socket: WebSocketClient) {}

    func webSocket(_ socket: WebSocketClient, closed reason: WebSocketCloseReason) {
        asked[ObjectIdentifier(socket)] = nil
    }
}

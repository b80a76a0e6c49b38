import Basics
import EventLoop

/// An operator's question whether a relay can be used from here: dials it as the daemon would, asks it for one public
/// message, and says in words how far that got. Says nothing the relay wrote.
public final class RelayCheck {
    private let loop: any EventLoop
    private let socket: WebSocketClient
    private let report: (String) -> Void
    private var completion: ((Bool) -> Void)?
    private let started: Instant
    private var asked: Instant?
    private var hasAnswered = false
    private var deadline: (any Cancellable)?

    /// What is asked: nothing that a relay would have to look for.
    private static let request = #"["REQ","check",{"kinds":[20000],"limit":1}]"#
    private static let patience = Interval.seconds(15)

    /// - Parameters:
    ///   - report: gets one line for each step as it is made.
    ///   - completion: called once with whether the relay can be used.
    public init(
        loop: any EventLoop, address: WebSocketAddress, dialer: any StreamDialer, isolation: StreamIsolation,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), report: @escaping (String) -> Void,
        completion: @escaping (Bool) -> Void
    ) {
        self.loop = loop
        self.report = report
        self.completion = completion
        started = loop.now.monotonic
        socket = WebSocketClient(
            loop: loop, address: address, dialer: dialer, isolation: isolation, random: random)
        socket.delegate = self
        socket.open()
    }

    private func seconds(since start: Instant) -> String {
        let hundredths = max(0, (loop.now.monotonic - start).milliseconds / 10)
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }

    private func answered(_ text: String, isUsable: Bool) {
        guard !hasAnswered else { return }
        hasAnswered = true
        report(text)
        finish(isUsable)
    }

    private func finish(_ isUsable: Bool) {
        guard let completion else { return }
        self.completion = nil
        deadline?.cancel()
        socket.close()
        completion(isUsable)
    }
}

extension RelayCheck: WebSocketDelegate {
    public func webSocket(_ socket: WebSocketClient, received date: ServerDate) {
        let here = loop.now.wall
        let difference = here.distance(to: date.date) / 1_000
        // The date is whole seconds, and took its time to get here.
        let doubt = 2 + UInt64(max(0, (date.answered - date.asked).milliseconds / 1_000))
        guard difference > doubt else { return report("its clock and this machine's agree") }
        report("its clock is \(difference) s \(date.date > here ? "ahead of" : "behind") this machine's")
    }

    public func webSocketOpened(_ socket: WebSocketClient) {
        report("connected after \(seconds(since: started))" + (socket.address.isSecure ? ", certificate good" : ""))
        asked = loop.now.monotonic
        socket.send(text: Array(RelayCheck.request.utf8))
        deadline = loop.schedule(after: RelayCheck.patience) { [weak self] in
            self?.answered("it does not answer a request for public messages", isUsable: false)
        }
    }

    public func webSocket(_ socket: WebSocketClient, received message: WebSocketMessage) {
        guard case .text(let bytes) = message, let asked else { return }
        let text = String(decoding: bytes.prefix(16), as: UTF8.self).filter { $0 != " " }
        if text.hasPrefix("[\"EOSE\"") || text.hasPrefix("[\"EVENT\"") {
            answered("answered a request after \(seconds(since: asked))", isUsable: true)
        } else if text.hasPrefix("[\"AUTH\"") {
            report("it wants clients to authenticate; the box does so with a key made for the occasion")
        } else if text.hasPrefix("[\"CLOSED\"") || text.hasPrefix("[\"NOTICE\"") {
            answered("it refused a request for public messages", isUsable: false)
        }
    }

    public func webSocket(_ socket: WebSocketClient, receivedPong payload: [UInt8]) {}
    public func webSocketMaySendAgain(_ socket: WebSocketClient) {}

    public func webSocket(_ socket: WebSocketClient, closed reason: WebSocketCloseReason) {
        answered("\(reason)", isUsable: false)
    }
}

import Basics
import EventLoop
import Nostr
import Uplink

enum FetchLimits {
    /// Requests under way at once, and how many more may wait for their turn.
    static let atOnce = 4
    static let waiting = NostrLimits.informationRequests
    /// For a relay's information document.
    static let information = Interval.seconds(15)
}

/// Fetches documents one after the other over the streams of a dialer, each under an isolation of its own.
final class HTTPFetcher: DocumentFetcher {
    private let loop: any EventLoop
    private let dialer: any StreamDialer
    private var isolations = IsolationKeys()
    private var running: [Int: HTTPRequest] = [:]
    private var waiting: [() -> Void] = []
    private var numbers = 0

    init(loop: any EventLoop, dialer: any StreamDialer) {
        self.loop = loop
        self.dialer = dialer
    }

    func fetch(
        _ url: NostrRelayURL, as role: IsolationKeys.Role, accept: String?, limit: Int, timeout: Interval,
        completion: @escaping (Result<[UInt8], DocumentFailure>) -> Void
    ) {
        guard waiting.count < FetchLimits.waiting else {
            return loop.enqueue { completion(.failure(DocumentFailure(text: "too much is fetched already"))) }
        }
        waiting.append { [unowned self] in
            begin(url, role, accept, limit, timeout, completion)
        }
        beginNext()
    }

    /// Every request ends without a word.
    func stop() {
        waiting.removeAll()
        for request in running.values { request.cancel() }
        running.removeAll()
    }

    private func beginNext() {
        while running.count < FetchLimits.atOnce, !waiting.isEmpty { waiting.removeFirst()() }
    }

    private func begin(
        _ url: NostrRelayURL, _ role: IsolationKeys.Role, _ accept: String?, _ limit: Int, _ timeout: Interval,
        _ completion: @escaping (Result<[UInt8], DocumentFailure>) -> Void
    ) {
        let address: WebSocketAddress
        do {
            address = try WebSocketAddress(parsing: url.text)
        } catch {
            return loop.enqueue { completion(.failure(DocumentFailure(text: error.rawValue))) }
        }
        numbers += 1
        let number = numbers
        let request = HTTPRequest(
            loop: loop, address: address, accept: accept, dialer: dialer,
            isolation: isolations.isolation(role, url.text), bodyLimit: limit, timeout: timeout
        ) { [weak self] outcome in
            self?.running[number] = nil
            switch outcome.result {
            case .success(let response): completion(.success(response.body))
            case .failure(let failure): completion(.failure(DocumentFailure(text: "\(failure)")))
            }
            self?.beginNext()
        }
        running[number] = request
        request.start()
    }
}

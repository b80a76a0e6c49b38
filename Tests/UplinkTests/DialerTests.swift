import Basics
import EventLoop
import XCTest

@testable import Uplink

/// The rules by which a server is dialled or is not (chapter 05 §15, §18.9).
final class DialerTests: XCTestCase {
    private final class Resolver: NameResolver {
        private(set) var asked: [String] = []
        var answer: Result<[String], NameQuery.Failure> = .failure(.noSuchName)
        let loop: EmbeddedLoop

        init(_ loop: EmbeddedLoop) { self.loop = loop }

        func resolve(
            _ host: String, completion: @escaping (Result<[String], NameQuery.Failure>) -> Void
        ) -> any Cancellable {
            asked.append(host)
            return loop.schedule(after: .zero) { [answer] in completion(answer) }
        }
    }

    private let loop = EmbeddedLoop()
    private lazy var resolver = Resolver(loop)

    private func dialer(_ policy: NetworkPolicy) throws -> NetworkDialer {
        let dialer = NetworkDialer(
            loop: loop, policy: policy, trust: try TLSTrust(), time: { WallTime(milliseconds: 0) })
        dialer.readiness = { .open }
        return dialer
    }

    private func proxied() throws -> NetworkDialer {
        try dialer(.proxied(try XCTUnwrap(LocalEndpoint("127.0.0.1:9050"))))
    }

    private func direct() throws -> NetworkDialer { try dialer(.direct(resolver)) }

    /// The kinds of stream from the inside out; or the refusal.
    private func layers(_ dialer: NetworkDialer, _ url: String) throws -> String {
        do throws(StreamFailure) {
            let address: WebSocketAddress
            do { address = try WebSocketAddress(parsing: url) } catch { return "\(error)" }
            let stream = try dialer.makeStream(to: address, isolation: .test)
            let names = Mirror(reflecting: stream).children.compactMap { child -> String? in
                ["transport", "proxy"].contains(child.label) ? "\(type(of: child.value))" : nil
            }
            return (["\(type(of: stream))"] + names).joined(separator: " over ")
        } catch {
            if case .unsupported = error { return "unsupported" }
            if case .routeUnavailable(let reason) = error { return "closed: \(reason)" }
            return "\(error)"
        }
    }

    func testWithAProxyEverythingGoesThroughItOrNowhere() throws {
        let dialer = try proxied()
        for (url, expected) in [
            ("wss://relay.example", "TLSStream over SOCKSStream"), ("wss://10.0.0.1:444", "TLSStream over SOCKSStream"),
            ("wss://[2001:db8::1]", "TLSStream over SOCKSStream"), ("wss://abc.onion", "TLSStream over SOCKSStream"),
            ("ws://abc.onion", "SOCKSStream over TCPStream"), ("ws://ABC.Onion:81/x", "SOCKSStream over TCPStream"),
            ("ws://relay.example", "unsupported"), ("ws://10.0.0.1", "unsupported"), ("ws://localhost", "unsupported"),
            ("ws://127.0.0.1:7000", "unsupported"), ("wss://127.0.0.1", "unsupported"), ("wss://[::1]", "unsupported"),
            ("ws://onion.example", "unsupported"), ("ws://xonion", "unsupported"),
        ] {
            XCTAssertEqual(try layers(dialer, url), expected, url)
        }
        XCTAssertEqual(loop.watchedDescriptors, [])
    }

    func testWithoutAProxyOnlyThisMachineMayGoWithoutTLSAndOnionsGoNowhere() throws {
        let dialer = try direct()
        for (url, expected) in [
            ("wss://relay.example", "TLSStream over NamedStream"), ("wss://10.0.0.1:444", "TLSStream over TCPStream"),
            ("wss://[2001:db8::1]", "TLSStream over TCPStream"), ("ws://localhost:7000", "TCPStream"),
            ("ws://127.0.0.1:7000", "TCPStream"), ("ws://127.9.9.9", "TCPStream"), ("ws://[::1]", "TCPStream"),
            ("ws://relay.example", "unsupported"), ("ws://10.0.0.1", "unsupported"),
            ("ws://[::ffff:10.0.0.1]", "unsupported"), ("ws://localhost.example", "unsupported"),
            ("ws://abc.onion", "unsupported"), ("wss://abc.onion", "unsupported"), ("wss://abc.ONION.", "unsupported"),
            ("wss://onion", "unsupported"),
        ] {
            XCTAssertEqual(try layers(dialer, url), expected, url)
        }
        XCTAssertEqual(resolver.asked, [], "nothing is looked up before a stream is opened")
    }

    func testReadinessIsAskedAtEachDialAndSaysClosedUntilItIsSet() throws {
        for dialer in [try proxied(), try direct()] {
            var isOpen = false
            dialer.readiness = { isOpen ? .open : .closed("Tor is at 45 %") }
            for url in ["wss://relay.example", "ws://127.0.0.1", "ws://abc.onion"] {
                XCTAssertEqual(try layers(dialer, url), "closed: Tor is at 45 %")
            }
            isOpen = true
            XCTAssertTrue(try layers(dialer, "wss://relay.example").hasPrefix("TLSStream"))
            isOpen = false
            XCTAssertTrue(try layers(dialer, "wss://relay.example").hasPrefix("closed"))
        }
        let untouched = NetworkDialer(
            loop: loop, policy: .direct(resolver), trust: try TLSTrust(), time: { WallTime(milliseconds: 0) })
        XCTAssertTrue(try layers(untouched, "wss://relay.example").hasPrefix("closed"))
    }

    // MARK: Names in direct mode

    private func dial(_ answer: Result<[String], NameQuery.Failure>) throws -> StreamLog {
        resolver.answer = answer
        let stream = NamedStream(loop: loop, resolver: resolver, host: "relay.example", port: 443)
        let log = StreamLog(stream)
        stream.open()
        XCTAssertEqual(log.events, [])
        loop.settle()
        withExtendedLifetime(stream) { loop.advance(by: .seconds(60)) }
        return log
    }

    func testFailedLookUpsHaveTheirClass() throws {
        XCTAssertEqual(
            try dial(.failure(.noSuchName)).events,
            [.failed(.nameUnusable("relay.example: there is no such name"))])
        XCTAssertEqual(
            try dial(.failure(.unavailable("no name server"))).events,
            [.failed(.routeUnavailable("relay.example cannot be looked up: no name server"))])
        XCTAssertEqual(
            try dial(.success(["what is this"])).events,
            [.failed(.nameUnusable("relay.example: it has no usable address"))])
    }

    func testResolverThatNeverAnswersIsGivenUp() throws {
        final class Silent: NameResolver {
            final class Nothing: Cancellable { func cancel() {} }
            func resolve(
                _ host: String, completion: @escaping (Result<[String], NameQuery.Failure>) -> Void
            ) -> any Cancellable { Nothing() }
        }
        let stream = NamedStream(loop: loop, resolver: Silent(), host: "relay.example", port: 443)
        let log = StreamLog(stream)
        stream.open()
        loop.advance(by: .seconds(15))
        let failure = StreamFailure.routeUnavailable(
            "relay.example cannot be looked up: the name servers do not answer")
        XCTAssertEqual(log.events, [.failed(failure)], "which says nothing about the relay")
        XCTAssertTrue(loop.isIdle)
    }

    func testReleasedLookUpEndsWithoutAWord() throws {
        resolver.answer = .success(["127.0.0.1"])
        var stream: NamedStream? = NamedStream(loop: loop, resolver: resolver, host: "relay.example", port: 1)
        let log = stream.map { StreamLog($0) }
        stream?.open()
        stream = nil
        loop.advance(by: .seconds(60))
        XCTAssertEqual(log?.events, [])
        XCTAssertEqual(loop.watchedDescriptors, [])
    }

    /// Chapter 05 §6.3: a cable that is out burns nobody's attempts.
    func testNoNetworkIsTheWaysFaultAndARefusalTheServers() throws {
        func isWay(_ code: Int32) -> Bool {
            if case .routeUnavailable = TCPStream.failure(SystemError("connect", code: code)) { true } else { false }
        }
        for code in [ENETUNREACH, ENETDOWN] { XCTAssertTrue(isWay(code), "\(code)") }
        for code in [ECONNREFUSED, ECONNRESET, EHOSTUNREACH, ETIMEDOUT] { XCTAssertFalse(isWay(code), "\(code)") }
    }

    /// A server of two addresses that refuses at the one is not excused by there being no way to the other.
    func testAServersRefusalOutweighsAnAddressWithoutAWay() throws {
        for (addresses, isWay) in [
            (["255.255.255.255"], true), (["127.0.0.1", "255.255.255.255"], false),
            (["255.255.255.255", "127.0.0.1"], false),
        ] {
            let loop = try LibeventLoop()
            let stream = NamedStream(loop: loop, resolver: Addresses(loop, addresses), host: "relay.example", port: 1)
            let log = Failure(loop)
            stream.delegate = log
            stream.open()
            loop.run()
            guard let failure = log.failure else { return XCTFail("it is connected") }
            if case .routeUnavailable = failure {
                XCTAssertTrue(isWay, "\(addresses)")
            } else {
                XCTAssertFalse(isWay, "\(addresses): \(failure)")
            }
        }
    }
}

private final class Addresses: NameResolver {
    private let loop: any EventLoop
    private let addresses: [String]

    init(_ loop: any EventLoop, _ addresses: [String]) { (self.loop, self.addresses) = (loop, addresses) }

    func resolve(
        _ host: String, completion: @escaping (Result<[String], NameQuery.Failure>) -> Void
    ) -> any Cancellable {
        loop.schedule(after: .zero) { [addresses] in completion(.success(addresses)) }
    }
}

private final class Failure: ByteStreamDelegate {
    private(set) var failure: StreamFailure?
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func streamOpened() { loop.stop() }
    func streamReady(_ ready: IOInterest) {}
    func streamFailed(_ failure: StreamFailure) {
        self.failure = failure
        loop.stop()
    }
}

import Basics
import EventLoop
import XCTest

@testable import Uplink

final class HTTPTests: XCTestCase {
    /// A request to a server that the test plays.
    private final class Exchange {
        let loop = EmbeddedLoop()
        let dialer = ScriptedDialer()
        private(set) var request: HTTPRequest?
        private(set) var outcomes: [HTTPRequest.Outcome] = []
        var stream: ScriptedStream { dialer.stream }

        init(
            _ url: String = "https://files.example/relays.csv?v=2", accept: String? = nil, bodyLimit: Int = 1_000,
            refusal: StreamFailure? = nil
        ) throws {
            dialer.refusal = refusal
            request = HTTPRequest(
                loop: loop, address: try WebSocketAddress(parsingHTTP: url), accept: accept, dialer: dialer,
                isolation: .test, bodyLimit: bodyLimit, timeout: .seconds(15)
            ) { [weak self] in self?.outcomes.append($0) }
            request?.start()
            loop.settle()
        }

        func connect() {
            stream.delegate?.streamOpened()
            stream.pump(loop)
        }

        func serve(_ text: String) {
            stream.incoming += Array(text.utf8)
            stream.pump(loop)
        }

        func hangUp() {
            stream.hangsUp = true
            stream.pump(loop)
        }

        func forget() { request = nil }

        var body: String? {
            guard case .success(let response)? = outcomes.first?.result else { return nil }
            return String(decoding: response.body, as: UTF8.self)
        }

        var failure: HTTPFailure? {
            guard case .failure(let failure)? = outcomes.first?.result else { return nil }
            return failure
        }

        /// The outcome of one answer, served whole or in pieces, after which the server hangs up or does not.
        static func answer(
            _ text: String, bodyLimit: Int = 1_000, grain: Int = .max, hangsUp: Bool = false
        ) throws -> Exchange {
            let exchange = try Exchange(bodyLimit: bodyLimit)
            exchange.stream.readGrain = grain
            exchange.connect()
            exchange.serve(text)
            if hangsUp, exchange.outcomes.isEmpty { exchange.hangUp() }
            return exchange
        }
    }

    func testRequestSaysNothingButWhatItMust() throws {
        let exchange = try Exchange(accept: "application/nostr+json")
        exchange.connect()
        XCTAssertEqual(
            String(decoding: exchange.stream.written, as: UTF8.self),
            "GET /relays.csv?v=2 HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n"
                + "Accept: application/nostr+json\r\n\r\n")
        XCTAssertEqual(exchange.dialer.isolations, [.test])
    }

    func testEachFramingOfABodyIsRead() throws {
        let cases: [(String, Bool, String)] = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, "hello"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, ""),
            ("HTTP/1.1 204 No\r\n\r\n", false, ""),
            ("HTTP/1.0 200 OK\r\n\r\nhello", true, "hello"),
            ("HTTP/1.1 200 OK\r\n\r\n", true, ""),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n2;x=\"y\"\r\nlo\r\n0\r\n\r\n", false,
                "hello"
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000A \r\n0123456789\r\n0\r\nT: v\r\nU: w\r\n"
                    + "\r\n",
                false, "0123456789"
            ),
            ("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, "ok"),
            // What follows the response is nobody's.
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 x", false, "ok"),
        ]
        for (text, hangsUp, body) in cases {
            for grain in [1, 7, .max] {
                let exchange = try Exchange.answer(text, grain: grain, hangsUp: hangsUp)
                XCTAssertEqual(exchange.body, body, text)
                XCTAssertEqual(exchange.outcomes.count, 1)
                XCTAssertTrue(exchange.stream.isClosed)
                XCTAssertTrue(exchange.loop.isIdle)
            }
        }
    }

    func testTypeAndDateComeWithTheBody() throws {
        let exchange = try Exchange()
        exchange.connect()
        exchange.loop.advance(by: .seconds(2))
        exchange.serve("HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 1\r\n")
        exchange.serve("Content-Type: Application/Nostr+JSON; charset=utf-8\r\n\r\n")
        exchange.loop.advance(by: .seconds(3))
        exchange.serve("x")
        XCTAssertEqual(
            try exchange.outcomes.first?.result.get(), HTTPResponse(body: [0x78], mediaType: "application/nostr+json"))
        let date = ServerDate(
            date: WallTime(milliseconds: 784_111_777_000), asked: .zero, answered: .zero + .seconds(2))
        XCTAssertEqual(exchange.outcomes.first?.date, date)
    }

    func testEveryOtherStatusFailsAtOnceAndNothingIsFollowed() throws {
        for status in [301, 302, 307, 308, 304, 404, 429, 500, 101] {
            let exchange = try Exchange.answer(
                "HTTP/1.1 \(status) x\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nLocation: https://elsewhere/\r\n\r\n")
            XCTAssertEqual(exchange.failure, .status(status))
            XCTAssertNotNil(exchange.outcomes.first?.date)
            XCTAssertTrue(exchange.stream.isClosed)
        }
    }

    func testBodyOfTheLimitIsTakenAndOneByteMoreIsNot() throws {
        let full = String(repeating: "x", count: 10)
        let head = "HTTP/1.1 200 OK\r\n"
        for (text, hangsUp) in [
            ("Content-Length: 10\r\n\r\n\(full)", false), ("\r\n\(full)", true),
            ("Transfer-Encoding: chunked\r\n\r\n4\r\nxxxx\r\n6\r\nxxxxxx\r\n0\r\n\r\n", false),
        ] {
            let exchange = try Exchange.answer(head + text, bodyLimit: 10, hangsUp: hangsUp)
            XCTAssertEqual(exchange.body, full)
        }
        for text in [
            "Content-Length: 11\r\n\r\n", "Content-Length: 99999999999999999999999999\r\n\r\n", "\r\n\(full)x",
            "Transfer-Encoding: chunked\r\n\r\nB\r\n", "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
            "Transfer-Encoding: chunked\r\n\r\n4\r\nxxxx\r\n7\r\n",
        ] {
            XCTAssertEqual(try Exchange.answer(head + text, bodyLimit: 10).failure, .tooLong(limit: 10), text)
        }
    }

    func testWhatTwoReadersCouldUnderstandDifferentlyIsRefused() throws {
        let ok = "HTTP/1.1 200 OK\r\n"
        for text in [
            "SSH-2.0\r\n\r\n", "HTTP/2 200\r\n\r\n", ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
            ok + "Content-Length: 5, 5\r\n\r\n", ok + "Content-Length: +5\r\n\r\n", ok + "Content-Length: \r\n\r\n",
            ok + "Content-Length: 0x5\r\n\r\n", ok + "Content-Length: -1\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", ok + "Transfer-Encoding: chunked, chunked\r\n\r\n",
            ok + "Transfer-Encoding: identity\r\n\r\n", ok + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ok + " folded: x\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n+5\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n5\n", ok + "Transfer-Encoding: chunked\r\n\r\n0x5\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n123456789\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n;\r\n",
            ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n",
        ] {
            XCTAssertEqual(try Exchange.answer(text).failure, .malformed, text)
        }
    }

    func testHeadAndWhatStandsBetweenChunksAreBounded() throws {
        let endless = "HTTP/1.1 200 OK\r\n" + String(repeating: "A: bbbbbbbb\r\n", count: 2_000)
        XCTAssertEqual(try Exchange.answer(endless).failure, .malformed)
        let interim = String(repeating: "HTTP/1.1 100 x\r\n\r\n", count: 5)
        XCTAssertEqual(try Exchange.answer(interim).failure, .malformed)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        XCTAssertEqual(
            try Exchange.answer(chunked + "1;" + String(repeating: "x", count: 300)).failure, .malformed)
        let trailers = chunked + "0\r\n" + String(repeating: "T: vvvvvvvvvvvvvvvv\r\n", count: 4_000)
        XCTAssertEqual(try Exchange.answer(trailers).failure, .malformed)
    }

    func testAnswerCutAtAnyByteIsTruncated() throws {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        ] {
            for length in 0..<text.utf8.count {
                let exchange = try Exchange.answer(
                    String(decoding: Array(text.utf8).prefix(length), as: UTF8.self), hangsUp: true)
                XCTAssertEqual(exchange.failure, .truncated)
            }
        }
    }

    func testSlowServerIsGivenUpAfterTheTimeGiven() throws {
        let exchange = try Exchange()
        exchange.loop.advance(by: .seconds(100))
        exchange.connect()
        exchange.serve("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")
        for second in 1...15 {
            XCTAssertEqual(exchange.outcomes.count, 0, "\(second)")
            exchange.serve("x")
            exchange.loop.advance(by: .seconds(1))
        }
        XCTAssertEqual(exchange.failure, .timedOut)
        XCTAssertTrue(exchange.stream.isClosed)
        let unconnected = try Exchange()
        unconnected.loop.advance(by: .seconds(170))
        XCTAssertEqual(unconnected.failure, .timedOut)
    }

    func testFailuresOfTheStreamAreKept() throws {
        let refused = try Exchange(refusal: .routeUnavailable("Tor is not ready"))
        XCTAssertEqual(refused.failure, .stream(.routeUnavailable("Tor is not ready")))
        let broken = try Exchange()
        broken.stream.delegate?.streamFailed(.tlsFailed(.selfSigned))
        XCTAssertEqual(broken.failure, .stream(.tlsFailed(.selfSigned)))
    }

    func testReleasedOrCancelledRequestEndsWithoutAWord() throws {
        for stage in 0..<4 {
            let exchange = try Exchange()
            if stage > 0 { exchange.connect() }
            if stage > 1 { exchange.serve("HTTP/1.1 200 OK\r\n") }
            if stage == 3 { exchange.request?.cancel() } else { exchange.forget() }
            exchange.loop.advance(by: .seconds(500))
            XCTAssertEqual(exchange.outcomes.count, 0)
            XCTAssertTrue(exchange.stream.isClosed)
            XCTAssertTrue(exchange.loop.isIdle)
        }
    }

    func testOnlyWebAddressesAreWebAddresses() throws {
        XCTAssertEqual(
            try WebSocketAddress(parsingHTTP: "HTTPS://H/x"), try WebSocketAddress(parsing: "wss://h/x"))
        XCTAssertEqual(try WebSocketAddress(parsingHTTP: "http://h"), try WebSocketAddress(parsing: "ws://h"))
        XCTAssertThrowsError(try WebSocketAddress(parsingHTTP: "wss://h")) {
            XCTAssertEqual($0 as? WebSocketAddress.ParseError, .badWebScheme)
        }
    }
}

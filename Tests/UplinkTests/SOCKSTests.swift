import Basics
import EventLoop
import XCTest

@testable import Uplink

final class SOCKSTests: XCTestCase {
    /// A stream through a proxy that the test plays.
    private final class Dial {
        let loop = EmbeddedLoop()
        let proxy = ScriptedStream()
        let stream: SOCKSStream
        let log: StreamLog
        var outcomes: [ProxyOutcome] = []

        init(
            host: String = "relay.damus.io",
            isolation: StreamIsolation = StreamIsolation(user: "bitchat-relay", password: "wss://relay.damus.io")
        ) {
            stream = SOCKSStream(loop: loop, proxy: proxy, host: host, port: 443, isolation: isolation)
            log = StreamLog(stream)
            stream.onOutcome = { [weak self] in self?.outcomes.append($0) }
            stream.open()
            loop.settle()
        }

        func connect() {
            proxy.delegate?.streamOpened()
            proxy.pump(loop)
        }

        func answer(_ bytes: [UInt8]) {
            proxy.incoming += bytes
            proxy.pump(loop)
        }

        func takeWritten() -> String {
            defer { proxy.written = [] }
            return Hex.encode(proxy.written)
        }
    }

    private static let accepted: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

    /// Chapter 05 §17.10.
    func testExchangeIsTheOneOfTheWorkedExample() {
        let dial = Dial()
        dial.connect()
        XCTAssertEqual(dial.takeWritten(), "050102")
        dial.answer([5, 2])
        XCTAssertEqual(
            dial.takeWritten(), "010d626974636861742d72656c6179147773733a2f2f72656c61792e64616d75732e696f")
        dial.answer([1, 0])
        XCTAssertEqual(dial.takeWritten(), "050100030e72656c61792e64616d75732e696f01bb")
        XCTAssertEqual(dial.log.events, [])
        dial.answer(SOCKSTests.accepted)
        XCTAssertEqual(dial.log.events, [.opened])
        XCTAssertEqual(dial.outcomes, [.connected])
        XCTAssertTrue(dial.loop.isIdle)
    }

    /// Whatever kind of address it names, and however it is cut: not one byte of the server's is lost or taken early.
    func testReplyIsTakenWholeAndNoByteMore() {
        let replies: [[UInt8]] = [
            SOCKSTests.accepted, [5, 0, 0, 3, 0, 0, 0], [5, 0, 0, 3, 3] + Array("abc".utf8) + [0, 80],
            [5, 0, 0, 3, 255] + [UInt8](repeating: 7, count: 257), [5, 0, 0, 4] + [UInt8](repeating: 9, count: 18),
        ]
        for reply in replies {
            for grain in [1, 2, 3, 300] {
                let dial = Dial()
                dial.proxy.readGrain = grain
                dial.connect()
                dial.answer([5, 2])
                dial.answer([1, 0])
                dial.log.toSend = Array("hello".utf8)
                dial.answer(reply.dropLast())
                XCTAssertEqual(dial.log.events, [])
                _ = dial.takeWritten()
                dial.answer(reply.suffix(1) + Array("server first".utf8))
                XCTAssertEqual(dial.log.events, [.opened])
                XCTAssertEqual(dial.log.received, Array("server first".utf8))
                XCTAssertEqual(dial.takeWritten(), Hex.encode(Array("hello".utf8)))
            }
        }
    }

    func testProxyThatTakesAByteAtATimeGetsEveryByte() {
        let dial = Dial()
        var written = ""
        dial.proxy.room = 0
        dial.connect()
        dial.proxy.incoming = [5, 2, 1, 0]
        for _ in 0..<80 {
            dial.proxy.room = 1
            dial.proxy.pump(dial.loop)
            written += dial.takeWritten()
        }
        XCTAssertEqual(
            written,
            "050102010d626974636861742d72656c6179147773733a2f2f72656c61792e64616d75732e696f"
                + "050100030e72656c61792e64616d75732e696f01bb")
    }

    func testEveryReplyCodeHasItsClass() {
        let nameless: Set<UInt8> = [0x04, 0xf1, 0xf6]
        for code in UInt8(1)...255 {
            let dial = Dial()
            dial.connect()
            dial.answer([5, 2, 1, 0])
            // Some proxies end after the code; the failure must not wait for more.
            dial.answer([5, code])
            guard case .failed(let failure)? = dial.log.events.first else { return XCTFail("code \(code)") }
            XCTAssertEqual(dial.log.events.count, 1)
            XCTAssertEqual(failure.isPermanent, nameless.contains(code), "\(failure)")
            XCTAssertTrue(failure.description.contains("0x" + Hex.encode([code])), "\(failure)")
            XCTAssertEqual(dial.outcomes, [.serverUnreachable(failure)])
            XCTAssertTrue(dial.proxy.isClosed)
            XCTAssertTrue(dial.loop.isIdle)
        }
        for (code, isExpected) in [
            (0x05, { if case .refused = $0 { true } else { false } }),
            (0x06, { if case .timedOut = $0 { true } else { false } }),
            (0x01, { if case .failed = $0 { true } else { false } }),
        ] as [(UInt8, (StreamFailure?) -> Bool)] {
            XCTAssertTrue(isExpected(SOCKSReply(rawValue: code)?.failure), "\(code)")
        }
    }

    func testWhatIsNoUsableProxyMakesTheRouteUnavailable() {
        let answers: [[UInt8]] = [
            [4, 2], [5, 0], [5, 0xff], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [5, 2, 1, 1], [5, 2, 5, 0],
            [5, 2, 1, 0, 4, 0], [5, 2, 1, 0, 5, 0, 0, 2, 0, 0], [5, 2, 1, 0, 5, 0, 0, 0, 0],
        ]
        for answer in answers {
            let dial = Dial()
            dial.connect()
            dial.answer(answer)
            guard case .failed(.routeUnavailable(let text))? = dial.log.events.first else {
                return XCTFail("\(answer): \(dial.log.events)")
            }
            XCTAssertEqual(dial.outcomes, [.unavailable(.routeUnavailable(text))])
            XCTAssertTrue(dial.proxy.isClosed)
        }
    }

    func testProxyThatHangsUpAtAnyPointMakesTheRouteUnavailable() {
        let whole: [UInt8] = [5, 2, 1, 0] + SOCKSTests.accepted
        for length in 0..<whole.count {
            let dial = Dial()
            dial.connect()
            dial.answer(Array(whole.prefix(length)))
            dial.proxy.hangsUp = true
            dial.proxy.pump(dial.loop)
            XCTAssertEqual(dial.log.events, [.failed(.routeUnavailable("the proxy hung up"))])
            XCTAssertTrue(dial.proxy.isClosed)
            XCTAssertTrue(dial.loop.isIdle)
        }
    }

    func testProxyThatIsDownMakesTheRouteUnavailable() {
        let dial = Dial()
        dial.proxy.delegate?.streamFailed(.refused("127.0.0.1:9050: connect: Connection refused"))
        let failure = StreamFailure.routeUnavailable("the proxy: 127.0.0.1:9050: connect: Connection refused")
        XCTAssertEqual(dial.log.events, [.failed(failure)])
        XCTAssertEqual(dial.outcomes, [.unavailable(failure)])
    }

    /// 5 s to connect, 10 s for greeting and authentication, 90 s for CONNECT, 120 s to an onion service.
    func testEveryStepHasItsTimeLimit() {
        func limit(_ dial: Dial, _ answer: [UInt8]?) -> (Int, StreamLog.Event?) {
            if let answer {
                dial.connect()
                dial.answer(answer)
            }
            let start = dial.loop.elapsed
            while dial.log.events.isEmpty, dial.loop.elapsed < start + .seconds(500) {
                dial.loop.advance(by: .seconds(1))
            }
            XCTAssertTrue(dial.proxy.isClosed)
            XCTAssertTrue(dial.loop.isIdle)
            return (Int((dial.loop.elapsed - start).seconds), dial.log.events.first)
        }
        XCTAssertEqual(limit(Dial(), nil).0, 5)
        XCTAssertEqual(limit(Dial(), []).0, 10)
        XCTAssertEqual(limit(Dial(), [5, 2]).0, 10)
        let silent = Dial()
        let (seconds, event) = limit(silent, [5, 2, 1, 0])
        XCTAssertEqual(seconds, 90)
        XCTAssertEqual(event, .failed(.timedOut("the proxy made no connection within 90 s")))
        XCTAssertEqual(silent.outcomes, [.silent])
        XCTAssertEqual(limit(Dial(host: "abc.onion"), [5, 2, 1, 0, 5, 0]).0, 120)
    }

    func testAddressesGoToTheProxyAsTheyAreWritten() {
        for host in ["::1", "10.0.0.1", "abc.onion", String(repeating: "a", count: 255)] {
            let dial = Dial(host: host)
            dial.connect()
            dial.answer([5, 2, 1, 0])
            let request = [5, 1, 0, 3, UInt8(host.utf8.count)] + Array(host.utf8) + [1, 0xbb]
            XCTAssertTrue(dial.takeWritten().hasSuffix(Hex.encode(request)))
        }
    }

    func testWhatDoesNotFitTheProtocolIsRefusedBeforeAnythingIsSent() {
        for dial in [
            Dial(host: ""), Dial(host: String(repeating: "a", count: 256)),
            Dial(isolation: StreamIsolation(user: "", password: "x")),
        ] {
            guard case .failed(.unsupported)? = dial.log.events.first else { return XCTFail("\(dial.log.events)") }
            XCTAssertFalse(dial.proxy.wasOpened)
            XCTAssertEqual(dial.outcomes, [])
        }
    }

    func testProbeAsksForNoConnection() {
        let loop = EmbeddedLoop()
        let proxy = ScriptedStream()
        let probe = SOCKSStream(probing: proxy, loop: loop, isolation: .test)
        let log = StreamLog(probe)
        probe.open()
        proxy.delegate?.streamOpened()
        proxy.incoming = [5, 2, 1, 0]
        proxy.pump(loop)
        XCTAssertEqual(log.events, [.opened])
        XCTAssertEqual(Hex.encode(proxy.written), "050102" + "0105" + "72656c6179" + "06" + "736563726574")
        XCTAssertTrue(loop.isIdle)
    }

    func testReleasedStreamClosesWithoutAWord() {
        for answer in [nil, [], [5, 2], [5, 2, 1, 0], [5, 2, 1, 0] + SOCKSTests.accepted] as [[UInt8]?] {
            let loop = EmbeddedLoop()
            let proxy = ScriptedStream()
            var stream: SOCKSStream? = SOCKSStream(loop: loop, proxy: proxy, host: "h", port: 1, isolation: .test)
            let log = stream.map { StreamLog($0) }
            stream?.open()
            if let answer {
                proxy.delegate?.streamOpened()
                proxy.incoming = answer
                proxy.pump(loop)
            }
            let before = log?.events
            stream = nil
            loop.advance(by: .seconds(500))
            XCTAssertEqual(log?.events, before)
            XCTAssertTrue(proxy.isClosed)
            XCTAssertTrue(loop.isIdle)
        }
    }
}

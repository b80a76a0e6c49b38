import Basics
import EventLoop
import XCTest

@testable import Uplink

final class UpgradeTests: XCTestCase {
    func testAcceptValueOfTheStandardsExample() {
        // RFC 6455 §1.3
        XCTAssertEqual(
            UpgradeHandshake.accept(forKey: "dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    func testRequestSaysWhatItMustAndNothingElse() throws {
        let conversation = try Conversation()
        conversation.connect()
        var lines = conversation.takeRequest()
        let key = try XCTUnwrap(lines.first { $0.hasPrefix("Sec-WebSocket-Key: ") })
        XCTAssertEqual(key.count, 19 + 24)
        lines.removeAll { $0 == key }
        XCTAssertEqual(
            lines,
            [
                "GET /chat?x=1 HTTP/1.1", "Host: relay.example:7000", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Version: 13", "", "",
            ])
    }

    func testKeysAreFresh() throws {
        var keys: Set<String> = []
        for seed in 0..<20 {
            let conversation = try Conversation(seed: UInt64(seed))
            conversation.connect()
            keys.insert(conversation.acceptValue)
        }
        XCTAssertEqual(keys.count, 20)
    }

    func testRequestSurvivesASocketThatTakesItByteByByte() throws {
        let conversation = try Conversation()
        conversation.stream.room = 1
        conversation.connect()
        for _ in 0..<1_000 {
            conversation.stream.room = 1
            conversation.pump()
        }
        XCTAssertEqual(conversation.takeRequest().suffix(2), ["", ""])
    }

    func testAnswerIsReadByteByByteAndMayCarryFramesBehindIt() throws {
        for grain in [1, 2, 7, Int.max] {
            let conversation = try Conversation()
            conversation.connect()
            conversation.stream.readGrain = grain
            conversation.serve(Array(conversation.goodAnswer.utf8) + ServerFrame.text("early").bytes())
            XCTAssertEqual(
                conversation.log.events, [.opened, .message(.text(Array("early".utf8)))], "grain \(grain)")
        }
    }

    func testHeaderFieldsAreReadAsHTTPMeansThem() throws {
        let conversation = try Conversation()
        conversation.connect()
        conversation.serve(
            "HTTP/1.1 101\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nUPGRADE:  WebSocket \r\n"
                + "connection: keep-alive, upgrade\r\nsec-websocket-accept:\t\(conversation.acceptValue)\r\n\r\n")
        let epoch = ServerDate(date: WallTime(milliseconds: 0), asked: .zero, answered: .zero)
        XCTAssertEqual(conversation.log.events, [.date(epoch), .opened])
    }

    func testServersDateIsReportedWithTheTimeItTookAlsoWhenItRefuses() throws {
        let conversation = try Conversation()
        conversation.connect()
        conversation.advance(by: .seconds(3))
        conversation.serve("HTTP/1.1 503 Busy\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n")
        let date = ServerDate(
            date: WallTime(milliseconds: 784_111_777_000), asked: .zero, answered: .zero + .seconds(3))
        XCTAssertEqual(conversation.log.events, [.date(date), .closed(.upgradeRefused(status: 503))])
    }

    func testStatusOtherThan101IsPermanentAndRedirectsAreNotFollowed() throws {
        for (line, status) in [
            ("400 Bad Request", 400), ("301 Moved\r\nLocation: ws://elsewhere/", 301), ("200 OK", 200),
            ("503 Busy", 503),
            ("426 Upgrade Required", 426),
        ] {
            let conversation = try Conversation()
            conversation.connect()
            conversation.serve("HTTP/1.1 \(line)\r\nContent-Length: 2\r\n\r\nno")
            XCTAssertEqual(conversation.log.events, [.closed(.upgradeRefused(status: status))])
            XCTAssertEqual(conversation.log.closed?.isPermanent, true)
            XCTAssertTrue(conversation.stream.isClosed)
        }
    }

    func testUpgradeWithAWrongHeaderIsRefused() throws {
        let conversation = try Conversation()
        conversation.connect()
        let accept = "Sec-WebSocket-Accept: \(conversation.acceptValue)"
        let good = ["HTTP/1.1 101 S", "Upgrade: websocket", "Connection: Upgrade", accept]
        let cases: [(lines: [String], part: String)] = [
            (["HTTP/1.0 101 S"] + good.dropFirst(), "HTTP version"),
            (good.filter { $0 != "Upgrade: websocket" }, "Upgrade"),
            (good.map { $0 == "Upgrade: websocket" ? "Upgrade: h2c" : $0 }, "Upgrade"),
            (good.filter { $0 != "Connection: Upgrade" }, "Connection"),
            (good.filter { $0 != accept }, "Sec-WebSocket-Accept"),
            (
                good.map { $0 == accept ? "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" : $0 },
                "Sec-WebSocket-Accept"
            ),
            (good.map { $0 == accept ? accept.lowercased() : $0 }, "Sec-WebSocket-Accept"),
            (good + [accept], "Sec-WebSocket-Accept"),
            (good + ["Sec-WebSocket-Extensions: permessage-deflate"], "Sec-WebSocket-Extensions"),
            (good + ["Sec-WebSocket-Protocol: chat"], "Sec-WebSocket-Protocol"),
        ]
        for (lines, part) in cases {
            let other = try Conversation()
            other.connect()
            XCTAssertEqual(other.acceptValue, conversation.acceptValue, "same seed, same key")
            other.serve(lines.joined(separator: "\r\n") + "\r\n\r\n")
            XCTAssertEqual(other.log.events, [.closed(.upgradeInvalid(part))])
            XCTAssertEqual(other.log.closed?.isPermanent, true)
        }
    }

    func testAnswerThatIsNoHTTPIsTransient() throws {
        for text in [
            "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 1010 x\r\n\r\n",
            "HTTP/2 101 x\r\n\r\n", "\r\n\r\n", "HTTP/1.1 101 x\r\nno colon\r\n\r\n", "HTTP/1.1 101 x\r\n: v\r\n\r\n",
            "HTTP/1.1 101 x\r\na b: v\r\n\r\n", "HTTP/1.1 101 x\r\n folded\r\n\r\n", "HTTP/1.1 101 x\rA: b\r\n\r\n",
            "HTTP/1.1 101 x\r\nA: b\nB: c\r\n\r\n", "HTTP/1.1 101 x\r\nA: \0\r\n\r\n",
            "HTTP/1.1 101 x\r\n" + String(repeating: "A: b\r\n", count: 101) + "\r\n",
        ] {
            let conversation = try Conversation()
            conversation.connect()
            conversation.serve(text)
            XCTAssertEqual(conversation.log.events, [.closed(.invalidResponse("the answer is not HTTP/1.1"))], text)
            XCTAssertEqual(conversation.log.closed?.isPermanent, false)
        }
    }

    func testHeaderIsBoundedAt16KiB() throws {
        func answer(headerBytes: Int) throws -> [SocketLog.Event] {
            let conversation = try Conversation()
            conversation.connect()
            // Swift counts CR LF as one character.
            let good = conversation.goodAnswer.dropLast(1)
            let padding = headerBytes - good.utf8.count - 2 - "P: \r\n".utf8.count
            conversation.serve(good + "P: " + String(repeating: "x", count: padding) + "\r\n\r\n")
            return conversation.log.events
        }
        XCTAssertEqual(try answer(headerBytes: 16_384), [.opened])
        XCTAssertEqual(
            try answer(headerBytes: 16_385), [.closed(.invalidResponse("the header exceeds 16384 bytes"))])
    }

    func testServerThatHangsUpDuringTheUpgradeIsLost() throws {
        let conversation = try Conversation()
        conversation.connect()
        conversation.stream.hangsUp = true
        conversation.serve("HTTP/1.1 101 Switch")
        XCTAssertEqual(conversation.log.events, [.closed(.connectionLost("the server hung up"))])
    }

    func testSilentServerIsGivenUpAfter15Seconds() throws {
        let conversation = try Conversation()
        conversation.advance(by: .seconds(160))
        conversation.connect()
        conversation.serve("HTTP/1.1 101 Switch")
        conversation.advance(by: .milliseconds(14_900))
        XCTAssertEqual(conversation.log.events, [])
        conversation.advance(by: .milliseconds(100))
        XCTAssertEqual(
            conversation.log.events, [.closed(.openTimedOut("no answer to the upgrade request within 15 s"))])
        XCTAssertTrue(conversation.stream.isClosed)
        XCTAssertTrue(conversation.loop.isIdle)
    }

    func testStreamThatNeverConnectsIsGivenUp() throws {
        let conversation = try Conversation()
        conversation.advance(by: .milliseconds(169_900))
        XCTAssertEqual(conversation.log.events, [])
        conversation.advance(by: .milliseconds(100))
        XCTAssertEqual(conversation.log.events, [.closed(.openTimedOut("no connection within 170 s"))])
        XCTAssertTrue(conversation.stream.isClosed)
        XCTAssertTrue(conversation.loop.isIdle)
    }

    func testFailuresToConnectKeepTheirClass() throws {
        let cases: [(StreamFailure, WebSocketCloseReason, Bool)] = [
            (.failed("broken"), .connectFailed("broken"), false),
            (.refused("refused"), .connectFailed("refused"), false),
            (.routeUnavailable("no Tor"), .routeUnavailable("no Tor"), false),
            (.timedOut("slow"), .openTimedOut("slow"), false),
            (.tlsFailed(.selfSigned), .tlsFailed(.selfSigned), false),
            (.nameUnusable("no such name"), .nameUnusable("no such name"), true),
            (.unsupported("needs TLS"), .unsupported("needs TLS"), true),
        ]
        for (failure, reason, isPermanent) in cases {
            let conversation = try Conversation()
            conversation.stream.delegate?.streamFailed(failure)
            XCTAssertEqual(conversation.log.events, [.closed(reason)])
            XCTAssertEqual(reason.isPermanent, isPermanent)
            XCTAssertEqual(failure.isPermanent, isPermanent)
        }
    }

    func testDialerThatRefusesIsReportedFromTheLoop() throws {
        let loop = EmbeddedLoop()
        let dialer = ScriptedDialer()
        dialer.refusal = .unsupported("needs a proxy")
        let log = SocketLog()
        let client = WebSocketClient(
            loop: loop, address: try WebSocketAddress(parsing: "ws://h"), dialer: dialer, isolation: .test)
        client.delegate = log
        client.open()
        XCTAssertEqual(log.events, [])
        loop.settle()
        XCTAssertEqual(log.events, [.closed(.unsupported("needs a proxy"))])
        XCTAssertTrue(loop.isIdle)
        XCTAssertFalse(client.send(text: [1]))
    }

    func testClosingWhileConnectingGivesUpQuietly() throws {
        for upgradeFirst in [false, true] {
            let conversation = try Conversation()
            if upgradeFirst { conversation.connect() }
            conversation.client?.close()
            XCTAssertEqual(conversation.log.events, [])
            conversation.pump()
            XCTAssertEqual(conversation.log.events, [.closed(.closedByUs)])
            XCTAssertTrue(conversation.stream.isClosed)
            XCTAssertTrue(conversation.loop.isIdle)
        }
    }

    func testReleasedClientClosesWithoutAWord() throws {
        for stage in 0..<3 {
            let conversation = stage == 2 ? try Conversation.open() : try Conversation()
            if stage == 1 { conversation.connect() }
            let before = conversation.log.events
            conversation.forget()
            conversation.advance(by: .seconds(100))
            XCTAssertEqual(conversation.log.events, before)
            XCTAssertTrue(conversation.stream.isClosed)
            XCTAssertTrue(conversation.loop.isIdle)
        }
    }
}

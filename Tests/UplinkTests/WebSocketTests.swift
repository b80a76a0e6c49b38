import Basics
import EventLoop
import XCTest

@testable import Uplink

final class WebSocketTests: XCTestCase {
    func testMessagesGoOutMaskedWithFreshMasks() throws {
        let conversation = try Conversation.open()
        let client = try XCTUnwrap(conversation.client)
        XCTAssertTrue(client.send(text: Array("[\"REQ\"]".utf8)))
        XCTAssertTrue(client.send(text: []))
        XCTAssertTrue(client.send(text: [UInt8](repeating: 0x61, count: 70_000)))
        let frames = try XCTUnwrap(ServerFrame.parse(conversation.stream.written))
        XCTAssertEqual(
            frames.map(\.frame),
            [
                .text("[\"REQ\"]"), .text(""), .text(String(repeating: "a", count: 70_000)),
            ])
        XCTAssertEqual(Set(frames.map(\.mask)).count, 3)
    }

    func testFragmentsAreJoinedAroundControlFrames() throws {
        for grain in [1, 3, Int.max] {
            let conversation = try Conversation.open()
            conversation.stream.readGrain = grain
            conversation.serve(
                ServerFrame.text("one ", isFinal: false).bytes()
                    + ServerFrame(opcode: 9, payload: [1, 2]).bytes()
                    + ServerFrame(opcode: 0, payload: [], isFinal: false).bytes()
                    + ServerFrame(opcode: 0, payload: Array("two".utf8)).bytes()
                    + ServerFrame(opcode: 2, payload: [7]).bytes())
            XCTAssertEqual(conversation.log.messages, [.text(Array("one two".utf8)), .binary([7])])
            XCTAssertEqual(try conversation.takeFrames(), [ServerFrame(opcode: 10, payload: [1, 2])])
        }
    }

    func testMessageOf512KiBPassesAndOneByteMoreIsRefusedWith1009() throws {
        let limit = 524_288
        for fragments in [1, 4] {
            func frames(_ total: Int) -> [UInt8] {
                let size = total / fragments
                return (0..<fragments).flatMap { index in
                    let isLast = index == fragments - 1
                    return ServerFrame(
                        opcode: index == 0 ? 1 : 0,
                        payload: [UInt8](repeating: 0x61, count: isLast ? total - size * (fragments - 1) : size),
                        isFinal: isLast
                    ).bytes()
                }
            }
            let conversation = try Conversation.open()
            conversation.serve(frames(limit))
            XCTAssertEqual(conversation.log.messages, [.text([UInt8](repeating: 0x61, count: limit))])
            conversation.serve(frames(limit + 1))
            XCTAssertEqual(try conversation.takeFrames(), [.close(1_009)])
            XCTAssertTrue(conversation.stream.hasFinishedWriting)
            XCTAssertNil(conversation.log.closed, "the server has not hung up yet")
            conversation.serve(frames(limit))
            conversation.stream.hangsUp = true
            conversation.pump()
            XCTAssertEqual(conversation.log.closed, .messageTooLarge)
            XCTAssertEqual(conversation.log.messages.count, 1)
        }
    }

    func testDeclaredSizeAloneIsRefused() throws {
        let conversation = try Conversation.open()
        conversation.serve([0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00])
        XCTAssertEqual(try conversation.takeFrames(), [.close(1_009)])
    }

    func testBreachesOfTheProtocolCloseTheSocket() throws {
        let cases: [(name: String, bytes: [UInt8], code: UInt16?, reason: WebSocketCloseReason)] = [
            ("masked", ServerFrame.text("x").bytes(mask: [1, 2, 3, 4]), 1_002, .protocolError),
            ("reserved bit", [0xc1, 1, 0x61], 1_002, .protocolError),
            ("unknown opcode", [0x83, 0], 1_002, .protocolError),
            ("stray continuation", ServerFrame(opcode: 0, payload: [1]).bytes(), 1_002, .protocolError),
            (
                "text inside a message",
                ServerFrame.text("a", isFinal: false).bytes() + ServerFrame.text("b").bytes(), 1_002, .protocolError
            ),
            ("long ping", [0x89, 126, 0, 126] + [UInt8](repeating: 0, count: 126), nil, .protocolError),
            ("fragmented ping", [0x09, 0], nil, .protocolError),
            ("length not minimal", [0x81, 126, 0, 5], nil, .protocolError),
            ("not UTF-8", [0x81, 2, 0xc3, 0x28], 1_007, .invalidText),
        ]
        for (name, bytes, code, reason) in cases {
            let conversation = try Conversation.open()
            conversation.serve(ServerFrame.text("before").bytes() + bytes + ServerFrame.text("after").bytes())
            XCTAssertEqual(conversation.log.messages, [.text(Array("before".utf8))], name)
            let frames = try conversation.takeFrames()
            XCTAssertEqual(frames.map(\.opcode), [8], name)
            if let code { XCTAssertEqual(frames, [.close(code)], name) }
            conversation.advance(by: .milliseconds(4_900))
            XCTAssertNil(conversation.log.closed, name)
            conversation.advance(by: .milliseconds(100))
            XCTAssertEqual(conversation.log.closed, reason, name)
            XCTAssertFalse(reason.isPermanent)
            XCTAssertTrue(conversation.stream.isClosed)
        }
    }

    func testPingsAreAnsweredAndOursComeBackAsPongs() throws {
        let conversation = try Conversation.open()
        conversation.serve(ServerFrame(opcode: 9, payload: Array("are you there".utf8)))
        XCTAssertEqual(try conversation.takeFrames(), [ServerFrame(opcode: 10, payload: Array("are you there".utf8))])
        XCTAssertEqual(conversation.client?.ping([1, 2, 3]), true)
        XCTAssertEqual(conversation.client?.ping([UInt8](repeating: 0, count: 126)), false)
        XCTAssertEqual(try conversation.takeFrames(), [ServerFrame(opcode: 9, payload: [1, 2, 3])])
        conversation.serve(ServerFrame(opcode: 10, payload: [1, 2, 3]))
        XCTAssertEqual(conversation.log.events, [.opened, .pong([1, 2, 3])])
    }

    func testClosingHandshakeStartedByUs() throws {
        let conversation = try Conversation.open()
        conversation.client?.close(code: 1_001, text: "bye")
        XCTAssertEqual(conversation.client?.send(text: [0x61]), false)
        conversation.client?.close()
        conversation.pump()
        XCTAssertEqual(try conversation.takeFrames(), [.close(1_001, "bye")])
        conversation.serve(ServerFrame.text("too late").bytes() + ServerFrame.close(1_001).bytes())
        XCTAssertEqual(conversation.log.events, [.opened, .closed(.closedByUs)])
        XCTAssertTrue(conversation.stream.isClosed)
        XCTAssertTrue(conversation.loop.isIdle)
    }

    func testServerThatDoesNotAnswerACloseIsLeftAfterFiveSeconds() throws {
        let conversation = try Conversation.open()
        conversation.client?.close()
        conversation.advance(by: .milliseconds(4_900))
        XCTAssertNil(conversation.log.closed)
        conversation.advance(by: .milliseconds(100))
        XCTAssertEqual(conversation.log.closed, .closedByUs)
    }

    func testMessagesQueuedBeforeACloseAreSentBeforeIt() throws {
        let conversation = try Conversation.open()
        conversation.stream.room = 0
        conversation.client?.send(text: Array("last words".utf8))
        conversation.client?.close()
        conversation.pump()
        conversation.stream.room = Int.max
        conversation.pump()
        XCTAssertEqual(try conversation.takeFrames(), [.text("last words"), .close(1_000)])
    }

    func testClosingHandshakeStartedByTheServer() throws {
        let cases: [(ServerFrame, UInt16?, String)] = [
            (.close(1_000), 1_000, ""), (.close(1_008, "no"), 1_008, "no"), (.close(4_000), 4_000, ""),
            (ServerFrame(opcode: 8, payload: []), nil, ""),
        ]
        for (frame, code, text) in cases {
            let conversation = try Conversation.open()
            conversation.serve(ServerFrame.text("first").bytes() + frame.bytes())
            XCTAssertEqual(
                conversation.log.events,
                [.opened, .message(.text(Array("first".utf8))), .closed(.closedByServer(code: code, text: text))])
            XCTAssertEqual(try conversation.takeFrames().map(\.opcode), [8])
            XCTAssertEqual(conversation.log.closed?.isPermanent, false)
            XCTAssertTrue(conversation.loop.isIdle)
        }
    }

    func testConnectionThatBreaksIsReportedAfterEverythingReceived() throws {
        let conversation = try Conversation.open()
        conversation.stream.incoming = ServerFrame.text("a").bytes() + ServerFrame.text("b").bytes() + [0x81]
        conversation.stream.readFailure = .failed("reset")
        conversation.pump()
        XCTAssertEqual(
            conversation.log.events,
            [
                .opened, .message(.text(Array("a".utf8))), .message(.text(Array("b".utf8))),
                .closed(.connectionLost("reset")),
            ])
    }

    func testFailedWriteIsReportedFromTheLoopAfterWhatTheServerStillSaid() throws {
        let conversation = try Conversation.open()
        conversation.stream.incoming = ServerFrame.close(1_008, "spam").bytes()
        conversation.stream.writeFailure = .failed("broken pipe")
        conversation.client?.send(text: [0x61])
        XCTAssertEqual(conversation.log.events, [.opened])
        conversation.pump()
        XCTAssertEqual(conversation.log.closed, .closedByServer(code: 1_008, text: "spam"))
        let other = try Conversation.open()
        other.stream.writeFailure = .failed("broken pipe")
        other.client?.send(text: [0x61])
        other.pump()
        XCTAssertEqual(other.log.closed, .connectionLost("broken pipe"))
    }

    // MARK: Pressure

    func testPausedSocketDeliversNothingAndHoldsTheServerUp() throws {
        let conversation = try Conversation.open()
        let client = try XCTUnwrap(conversation.client)
        conversation.log.onEvent = { if case .message(.text([0x31])) = $0 { client.pauseReading() } }
        let flood = (0..<40_000).flatMap { _ in ServerFrame.text("2").bytes() }
        conversation.serve(ServerFrame.text("1").bytes() + flood)
        XCTAssertEqual(conversation.log.messages.count, 1)
        XCTAssertGreaterThan(conversation.stream.incoming.count, flood.count - 40_000, "the rest is not even read")
        XCTAssertFalse(conversation.stream.interest.contains(.read))
        client.resumeReading()
        XCTAssertEqual(conversation.log.messages.count, 1, "nothing is delivered from inside resumeReading")
        conversation.pump()
        XCTAssertEqual(conversation.log.messages.count, 40_001)
    }

    func testPauseHoldsTheCloseBackToo() throws {
        let conversation = try Conversation.open()
        conversation.client?.pauseReading()
        conversation.stream.hangsUp = true
        conversation.serve(ServerFrame.text("kept").bytes() + ServerFrame.close(1_000).bytes())
        XCTAssertEqual(conversation.log.events, [.opened])
        conversation.client?.resumeReading()
        conversation.pump()
        XCTAssertEqual(
            conversation.log.events.dropFirst(),
            [.message(.text(Array("kept".utf8))), .closed(.closedByServer(code: 1_000, text: ""))])
    }

    func testPausedSocketWithABrokenTransportWaitsWithoutSpinning() throws {
        let conversation = try Conversation.open()
        conversation.client?.pauseReading()
        conversation.stream.writeFailure = .failed("broken pipe")
        conversation.client?.send(text: [0x61])
        conversation.pump()
        XCTAssertTrue(conversation.loop.isIdle)
        conversation.client?.resumeReading()
        conversation.pump()
        XCTAssertEqual(conversation.log.closed, .connectionLost("broken pipe"))
    }

    func testSendQueueIsBoundedInBytesAndSaysWhenThereIsRoomAgain() throws {
        let conversation = try Conversation.open()
        let client = try XCTUnwrap(conversation.client)
        conversation.stream.room = 0
        let message = [UInt8](repeating: 0x61, count: 100_000)
        var accepted = 0
        while client.send(text: message) { accepted += 1 }
        XCTAssertEqual(accepted, 10)
        XCTAssertEqual(client.queuedBytes, 1_000_000)
        XCTAssertTrue(client.send(text: [0x62]), "a smaller one still fits")
        conversation.pump()
        XCTAssertEqual(conversation.log.events, [.opened])
        conversation.stream.room = 400_000
        conversation.pump()
        XCTAssertEqual(conversation.log.events, [.opened], "not before the queue is half empty")
        conversation.stream.room = Int.max
        conversation.pump()
        XCTAssertEqual(conversation.log.events, [.opened, .maySendAgain])
        XCTAssertEqual(try conversation.takeFrames().count, 11)
        XCTAssertFalse(client.send(text: [UInt8](repeating: 0, count: 1_048_577)), "never fits")
        conversation.pump()
        XCTAssertEqual(conversation.log.events, [.opened, .maySendAgain])
    }

    func testSendQueueIsBoundedInMessages() throws {
        let conversation = try Conversation.open()
        conversation.stream.room = 0
        var accepted = 0
        while conversation.client?.send(text: [0x61]) == true { accepted += 1 }
        XCTAssertTrue((512...513).contains(accepted), "one may be half way out")
    }

    func testServerThatPingsWithoutReadingAnswersIsNotReadFrom() throws {
        let conversation = try Conversation.open()
        conversation.stream.room = 0
        let pings = (0..<50_000).flatMap { _ in ServerFrame(opcode: 9, payload: []).bytes() }
        conversation.serve(pings)
        XCTAssertGreaterThan(conversation.stream.incoming.count, pings.count - 40_000)
        conversation.stream.room = Int.max
        conversation.pump()
        XCTAssertEqual(conversation.stream.incoming, [])
        XCTAssertEqual(try conversation.takeFrames().count, 50_000)
    }

    func testEndlessEmptyFragmentsDoNotHoldUpTheLoop() throws {
        let conversation = try Conversation.open()
        conversation.stream.incoming =
            ServerFrame.text("", isFinal: false).bytes()
            + (0..<400_000).flatMap { _ in ServerFrame(opcode: 0, payload: [], isFinal: false).bytes() }
        var turns = 0
        while !conversation.stream.incoming.isEmpty, turns < 1_000 {
            conversation.stream.delegate?.streamReady(.read)
            turns += 1
        }
        XCTAssertGreaterThanOrEqual(turns, 3)
    }

    // MARK: Keep-alive

    func testSilenceIsBrokenByAPingAndThenTheSocketIsDropped() throws {
        let conversation = try Conversation.open(keepAlive: WebSocketKeepAlive())
        conversation.advance(by: .milliseconds(44_900))
        XCTAssertEqual(try conversation.takeFrames(), [])
        conversation.advance(by: .milliseconds(100))
        XCTAssertEqual(try conversation.takeFrames(), [ServerFrame(opcode: 9, payload: [])])
        conversation.advance(by: .milliseconds(29_900))
        XCTAssertNil(conversation.log.closed)
        conversation.advance(by: .milliseconds(100))
        XCTAssertEqual(conversation.log.closed, .unresponsive)
        XCTAssertTrue(conversation.loop.isIdle)
    }

    func testAnySignOfLifeCounts() throws {
        let conversation = try Conversation.open(keepAlive: WebSocketKeepAlive())
        for sign in [ServerFrame(opcode: 10, payload: []).bytes(), ServerFrame.text("x").bytes(), [0x81]] {
            var asked: [ServerFrame] = []
            for _ in 0..<450 where asked.isEmpty {
                conversation.advance(by: .milliseconds(100))
                asked = try conversation.takeFrames()
            }
            XCTAssertEqual(asked.map(\.opcode), [9])
            conversation.advance(by: .milliseconds(29_900))
            conversation.serve(sign)
        }
        XCTAssertNil(conversation.log.closed)
    }

    func testPausedReadingProvesNothingAboutTheServer() throws {
        let conversation = try Conversation.open(keepAlive: WebSocketKeepAlive())
        conversation.client?.pauseReading()
        conversation.advance(by: .minutes(10))
        XCTAssertEqual(try conversation.takeFrames(), [])
        conversation.client?.resumeReading()
        conversation.advance(by: .seconds(45))
        XCTAssertNil(conversation.log.closed)
    }

    // MARK: Misuse and noise

    func testDelegateMayDoAnythingFromItsCalls() throws {
        let conversation = try Conversation()
        conversation.log.onEvent = { event in
            switch event {
            case .opened: conversation.client?.send(text: Array("hello".utf8))
            case .message(.text(let bytes)) where bytes == [0x31]:
                conversation.client?.pauseReading()
                conversation.client?.resumeReading()
            case .message(.text): conversation.client?.close()
            case .closed: conversation.forget()
            default: break
            }
        }
        conversation.connect()
        let answer = conversation.goodAnswer
        conversation.stream.written = []
        conversation.serve(
            Array(answer.utf8) + ["1", "2", "3"].flatMap { ServerFrame.text($0).bytes() }
                + ServerFrame.close(1_000).bytes())
        XCTAssertEqual(conversation.log.messages, [.text([0x31]), .text([0x32])])
        XCTAssertEqual(conversation.log.closed, .closedByUs)
        XCTAssertNil(conversation.client)
        XCTAssertTrue(conversation.loop.isIdle)
    }

    func testReleaseFromInsideADeliveryIsSafe() throws {
        let conversation = try Conversation.open()
        conversation.log.onEvent = { if case .message = $0 { conversation.forget() } }
        conversation.serve(["1", "2"].flatMap { ServerFrame.text($0).bytes() })
        conversation.loop.settle()
        XCTAssertTrue(conversation.stream.isClosed)
    }

    func testNoiseFromTheServerNeverCrashesAndAlwaysEnds() throws {
        for seed in 0..<400 {
            var random = SeededRandom(seed: UInt64(seed))
            let conversation =
                seed % 4 == 0 ? try Conversation(seed: UInt64(seed)) : try Conversation.open(seed: UInt64(seed))
            if seed % 4 == 0 { conversation.connect() }
            for _ in 0..<40 {
                var bytes = random.bytes(Int.random(in: 0...300, using: &random))
                if Bool.random(using: &random) {
                    let opcode = UInt8.random(in: 0...15, using: &random)
                    let payload = bytes.prefix(Int.random(in: 0...126, using: &random))
                    bytes = ServerFrame(
                        opcode: opcode, payload: Array(payload), isFinal: Int.random(in: 0..<4, using: &random) > 0
                    ).bytes()
                }
                conversation.stream.readGrain = Int.random(in: 1...64, using: &random)
                conversation.serve(bytes)
                if Int.random(in: 0..<8, using: &random) == 0 { conversation.client?.send(text: [0x61]) }
                if Int.random(in: 0..<30, using: &random) == 0 { conversation.client?.close() }
            }
            conversation.stream.hangsUp = true
            conversation.pump()
            XCTAssertNotNil(conversation.log.closed, "seed \(seed)")
            XCTAssertTrue(conversation.loop.isIdle, "seed \(seed)")
            XCTAssertEqual(conversation.log.events.filter { if case .closed = $0 { true } else { false } }.count, 1)
        }
    }
}

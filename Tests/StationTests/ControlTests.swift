import Basics
import EventLoop
import Foundation
import TestSupport
import XCTest

@testable import Station

final class ControlMessageTests: XCTestCase {
    private func refusal(_ line: String) -> ControlError? {
        do {
            _ = try ControlRequest(Array(line.utf8))
            return nil
        } catch { return error }
    }

    func testARequestIsReadWhateverElseItHolds() throws {
        for line in [#"{"v":1,"cmd":"ping"}"#, #" {"x":[1,{}],"cmd":"\u0070ing","v":1} "#] {
            XCTAssertEqual(try ControlRequest(Array(line.utf8)), ControlRequest(command: "ping"), line)
        }
        XCTAssertEqual(try ControlRequest(Array(#"{"v":1,"cmd":"x","confirm":"yes"}"#.utf8)).confirmation, "yes")
        XCTAssertEqual(ControlRequest(command: "ping").line, Array(#"{"cmd":"ping","v":1}"#.utf8) + [0x0a])
    }

    func testWhatIsNotJSONIsRefusedWithThePosition() {
        for (line, column) in [
            (#"{"v":1,"cmd":status}"#, 14), (#"{"v":1 "cmd":"status"}"#, 8), ("nope", 2), (#"{"v":01}"#, 7), ("{}}", 3),
            (#"{"v":1,}"#, 8), (#"{"a":"\x"}"#, 7), (#"["#, 2), (#""abc"#, 5), ("", 1), (#"{"v":1.}"#, 8), ("tru", 4),
            (String(repeating: "[", count: 40), 33),
        ] {
            XCTAssertEqual(refusal(line)?.code, "malformed", line)
            XCTAssertTrue(refusal(line)?.message.hasSuffix("column \(column)") == true, "\(line): \(refusal(line)!)")
        }
    }

    func testJSONThatIsNoRequestIsRefused() {
        for line in [
            "1", "[]", "{}", #"{"v":1}"#, #"{"cmd":"status"}"#, #"{"v":"1","cmd":"status"}"#, #"{"v":1,"cmd":5}"#,
        ] {
            XCTAssertEqual(refusal(line)?.code, "malformed", line)
        }
    }

    func testAnotherVersionIsRefused() {
        XCTAssertEqual(refusal(#"{"v":2,"cmd":"status"}"#)?.code, "version")
    }

    func testAnswersAreOneStableLine() {
        let done = ControlAnswer.done(["b": .text("a/\n"), "a": .count(1), "c": nil], name: "x")
        XCTAssertEqual(String(decoding: done.line, as: UTF8.self), #"{"ok":true,"v":1,"x":{"a":1,"b":"a/\n"}}"# + "\n")
        let refused = ControlAnswer.refused(ControlError(code: "c", message: "m"))
        XCTAssertEqual(
            String(decoding: refused.line, as: UTF8.self),
            #"{"error":{"code":"c","message":"m"},"ok":false,"v":1}"# + "\n")
        XCTAssertEqual(ControlAnswer(done.line, to: "x"), done)
        XCTAssertEqual(ControlAnswer(refused.line, to: "x"), refused)
        XCTAssertNil(ControlAnswer(done.line, to: "y"))
        for line in ["", "{}", #"{"ok":false}"#, #"{"ok":1}"#] {
            XCTAssertNil(ControlAnswer(Array(line.utf8), to: "x"), line)
        }
    }
}

final class ControlServerTests: XCTestCase {
    private var folder = ""
    private var path: String { folder + "/control" }
    private var loop: (any EventLoop)!

    override func setUpWithError() throws {
        folder = try makeFolder()
        loop = try LibeventLoop()
    }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func server(idle: Interval? = nil) throws -> ControlServer {
        let server = try ControlServer(
            path: path, loop: loop,
            commands: [
                ControlCommand("ping") { ["pong": UInt64(1)] },
                ControlCommand("big") { String(repeating: "x", count: 100_000) },
                ControlCommand("long") { String(repeating: "x", count: 900_000) },
                ControlCommand("overlong") { String(repeating: "x", count: 1_048_577) },
            ], idle: idle)
        server.start()
        return server
    }

    private func connect() throws -> FileDescriptor { try UnixSocket.connect(.stream, to: path) }

    private func send(_ text: String, on connection: FileDescriptor) {
        XCTAssertEqual(Array(text.utf8).withUnsafeBytes { connection.send($0) }, .bytes(text.utf8.count))
    }

    /// Runs the loop until `connection` has delivered `count` lines or ended; the text so far.
    private func read(_ connection: FileDescriptor, lines count: Int) -> String {
        var bytes: [UInt8] = []
        let patience = loop.schedule(after: .seconds(10)) { [loop = loop!] in
            XCTFail("no answer")
            loop.stop()
        }
        let watch = loop.watch(connection.raw, .read) { [loop = loop!] _ in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            switch chunk.withUnsafeMutableBytes({ connection.read(into: $0) }) {
            case .bytes(let size): bytes += chunk.prefix(size)
            case .wouldBlock: return
            case .end, .failed: return loop.stop()
            }
            if bytes.count(where: { $0 == 0x0a }) >= count { loop.stop() }
        }
        loop.run()
        watch.cancel()
        patience.cancel()
        return String(decoding: bytes, as: UTF8.self)
    }

    func testEveryLineGetsItsAnswerInOrder() throws {
        let server = try server()
        let client = try connect()
        send(#"{"v":1,"cmd":"ping"}"# + "\nnope\n" + #"{"v":1,"cmd":"no"}"# + "\n", on: client)
        let known = "big, long, overlong, ping"
        XCTAssertEqual(
            read(client, lines: 3),
            """
            {"ok":true,"ping":{"pong":1},"v":1}
            {"error":{"code":"malformed","message":"not JSON: unexpected byte at column 2"},"ok":false,"v":1}
            {"error":{"code":"unknown_command","message":"there is no such command; known: \(known)"},"ok":false,"v":1}

            """)
        XCTAssertEqual(server.tally[.request], 3)
        XCTAssertEqual(server.tally[.malformedRequest], 1)
        XCTAssertEqual(server.tally[.unknownCommand], 1)
        server.stop()
    }

    func testARequestMayArriveInPieces() throws {
        let server = try server()
        let client = try connect()
        send(#"{"v":1,"#, on: client)
        loop.schedule(after: .milliseconds(20)) { self.send(#""cmd":"ping"}"# + "\n", on: client) }
        XCTAssertEqual(read(client, lines: 1), #"{"ok":true,"ping":{"pong":1},"v":1}"# + "\n")
        server.stop()
    }

    func testALongRequestIsAnsweredAndEndsTheConnection() throws {
        let server = try server()
        let client = try connect()
        send(String(repeating: " ", count: ControlLimits.requestSize + 1), on: client)
        XCTAssertTrue(read(client, lines: 2).contains("too_long"))
        XCTAssertEqual(server.tally[.overlongRequest], 1)
        server.stop()
    }

    func testARequestOfExactlyTheLimitIsAnswered() throws {
        let server = try server()
        let client = try connect()
        let request = #"{"v":1,"cmd":"ping"}"#
        send(request + String(repeating: " ", count: ControlLimits.requestSize - request.utf8.count) + "\n", on: client)
        XCTAssertTrue(read(client, lines: 1).contains("pong"))
        server.stop()
    }

    func testTheNinthClientIsTurnedAway() throws {
        let server = try server()
        let clients = try (0..<ControlLimits.clients).map { _ in try connect() }
        let extra = try connect()
        XCTAssertTrue(read(extra, lines: 2).contains(#""code":"busy""#))
        XCTAssertEqual(server.tally[.clientRefused], 1)
        clients[0].close()
        loop.schedule(after: .milliseconds(20)) { [loop = loop!] in loop.stop() }
        loop.run()
        let next = try connect()
        send(#"{"v":1,"cmd":"ping"}"# + "\n", on: next)
        XCTAssertTrue(read(next, lines: 1).contains("pong"))
        server.stop()
    }

    func testAClientThatDoesNotReadIsDroppedAtItsBound() throws {
        let server = try server()
        let client = try connect()
        send(String(repeating: #"{"v":1,"cmd":"big"}"# + "\n", count: 4), on: client)
        loop.schedule(after: .milliseconds(50)) { [loop = loop!] in loop.stop() }
        loop.run()
        XCTAssertEqual(server.tally[.clientNotReading], 1)
        server.stop()
    }

    func testAClientThatReadsGetsALongAnswerAndForOneTooLongTheReason() throws {
        let server = try server()
        let client = try connect()
        send(#"{"v":1,"cmd":"long"}"# + "\n", on: client)
        XCTAssertGreaterThan(read(client, lines: 1).utf8.count, 900_000)
        send(#"{"v":1,"cmd":"overlong"}"# + "\n", on: client)
        XCTAssertTrue(read(client, lines: 1).contains(#""code":"too_much""#))
        XCTAssertEqual(server.tally[.clientNotReading], 0)
        server.stop()
    }

    /// Eight such clients would shut the operator out.
    func testAClientThatNeverFinishesItsRequestIsDroppedHoweverBusyItLooks() throws {
        let server = try server(idle: .milliseconds(100))
        let client = try connect()
        func trickle() {
            loop.schedule(after: .milliseconds(20)) {
                if case .bytes = [UInt8(ascii: " ")].withUnsafeBytes({ client.send($0) }) { trickle() }
            }
        }
        trickle()
        XCTAssertEqual(read(client, lines: 1), "")
        XCTAssertEqual(server.tally[.clientIdle], 1)
        server.stop()
    }

    func testTheSocketIsForTheGroupAndGoesWithTheServer() throws {
        let server = try server()
        XCTAssertEqual(mode(path), 0o660)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["control"])
        server.stop()
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [])
    }

    func testAStaleSocketIsReplacedAndALiveOneIsNot() throws {
        do { _ = try UnixSocket.listen(.stream, at: path) }
        let server = try server()
        XCTAssertThrowsError(try self.server()) {
            XCTAssertEqual(($0 as? StationFault)?.exitStatus, ExitStatus.tryLater)
        }
        server.stop()
    }

    func testAFileThatIsNoSocketIsLeftAlone() throws {
        _ = FileManager.default.createFile(atPath: path, contents: Data([1]))
        XCTAssertThrowsError(try server())
        XCTAssertEqual(FileManager.default.contents(atPath: path), Data([1]))
    }

    func testAServerLeavesASuccessorsSocketAlone() throws {
        let first = try server()
        unlink(path)
        let second = try server()
        first.stop()
        XCTAssertEqual(mode(path), 0o660)
        second.stop()
    }
}

import Basics
import XCTest

@testable import Uplink

final class TorControlParserTests: XCTestCase {
    private func replies(_ text: String, grain: Int = .max) throws -> [TorReply] {
        var parser = TorControlParser()
        var out: [TorReply] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            var piece = rest.prefix(grain)
            rest = rest.dropFirst(piece.count)
            while let reply = try parser.next(&piece) { out.append(reply) }
            XCTAssertTrue(piece.isEmpty)
        }
        return out
    }

    func testEveryCutOfARealConversationGivesTheSameReplies() throws {
        let text = """
            250-PROTOCOLINFO 1\r
            250-AUTH METHODS=COOKIE,SAFECOOKIE COOKIEFILE="/run/tor/control.authcookie"\r
            250-VERSION Tor="0.4.9.11"\r
            250 OK\r
            650 STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done"\r
            250+circuit-status=\r
            1 BUILT $AA~a\r
            ..hidden\r
            .\r
            250 OK\r
            514 Authentication required.\r

            """
        let whole = try replies(text)
        XCTAssertEqual(whole.map(\.status), [250, 650, 250, 514])
        XCTAssertEqual(
            whole[0].content,
            [
                "PROTOCOLINFO 1", #"AUTH METHODS=COOKIE,SAFECOOKIE COOKIEFILE="/run/tor/control.authcookie""#,
                #"VERSION Tor="0.4.9.11""#,
            ])
        XCTAssertEqual(whole[2].content, ["circuit-status=\n1 BUILT $AA~a\n.hidden"])
        XCTAssertEqual(whole[3].content, ["Authentication required."])
        for grain in 1...40 { XCTAssertEqual(try replies(text, grain: grain), whole, "\(grain)") }
    }

    func testWhatIsNoReplyIsRefused() {
        for (text, fault) in [
            ("HTTP/1.1 400\r\n", TorControlSyntax.malformedLine), ("25\r\n", .malformedLine),
            ("250OK\r\n", .malformedLine), ("٢٥٠ OK\r\n", .malformedLine), ("\r\n", .malformedLine),
            ("250-a\r\n251 b\r\n", .statusChanged),
        ] {
            XCTAssertThrowsError(try replies(text), text) { XCTAssertEqual($0 as? TorControlSyntax, fault, text) }
        }
    }

    func testNothingIsHeldBeyondItsBounds() {
        func assertThrows(_ text: String, _ fault: TorControlSyntax, line: UInt = #line) {
            for grain in [1, 1_000, Int.max] {
                XCTAssertThrowsError(try replies(text, grain: grain), line: line) {
                    XCTAssertEqual($0 as? TorControlSyntax, fault, line: line)
                }
            }
        }
        assertThrows("250 " + String(repeating: "x", count: TorLimits.lineBytes), .lineTooLong)
        assertThrows(String(repeating: "x", count: TorLimits.lineBytes + 1), .lineTooLong)
        assertThrows(String(repeating: "250-x\r\n", count: TorLimits.replyLines + 1), .replyTooLong)
        assertThrows("250+x=\r\n" + String(repeating: "data\r\n", count: TorLimits.replyBytes / 6), .replyTooLong)
        assertThrows("250+x=\r\n" + String(repeating: "\n", count: TorLimits.replyBytes), .replyTooLong)
    }

    func testHostileBytesNeverTrap() {
        var random = SeededRandom(seed: 7)
        let alphabet = Array("250-650+ .\r\n\"\\=A0\u{fffd}".utf8) + [0, 0xff]
        for _ in 0..<3_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            var parser = TorControlParser()
            var rest = bytes[...]
            while let reply = try? parser.next(&rest) { _ = TorObservation(status: reply.lines[0]) }
            _ = TorKeywords(String(decoding: bytes, as: UTF8.self))
        }
    }
}

final class TorKeywordsTests: XCTestCase {
    func testWordsPairsAndQuotedTextAreToldApart() {
        let line = TorKeywords(
            #"NOTICE BOOTSTRAP PROGRESS=5 TAG=conn SUMMARY="Connecting to \"a\" relay\n\101" EMPTY= "alone" Z"#)
        XCTAssertEqual(line.words, ["NOTICE", "BOOTSTRAP", "Z"])
        XCTAssertEqual(line.integer("PROGRESS"), 5)
        XCTAssertEqual(line["SUMMARY"], "Connecting to \"a\" relay\nA")
        XCTAssertEqual(line["EMPTY"], "")
        XCTAssertNil(line["NONE"])
    }

    func testUnfinishedAndEndlessLinesEnd() {
        XCTAssertEqual(TorKeywords(#"A="unfinished \"#)["A"], "unfinished \\")
        XCTAssertEqual(TorKeywords(#"A="\7777""#)["A"].map { Array($0.utf8).last }, UInt8(ascii: "7"))
        XCTAssertEqual(TorKeywords(String(repeating: "w ", count: 500)).words.count, TorLimits.keywords)
    }

    func testBootstrapTroubleIsReadWithoutTheAddressOfABridge() throws {
        let text =
            #"STATUS_CLIENT WARN BOOTSTRAP PROGRESS=5 TAG=conn SUMMARY="Connecting to a relay""#
            + #" WARNING="Connection refused" REASON=CONNECTREFUSED "#
            + #"COUNT=10 RECOMMENDATION=warn HOSTID="AA" HOSTADDR="192.0.2.7:9001""#
        guard case .bootstrap(let bootstrap)? = TorObservation(status: text) else { return XCTFail() }
        XCTAssertEqual(
            bootstrap,
            TorBootstrap(
                progress: 5, tag: "conn", summary: "Connecting to a relay", warning: "Connection refused",
                reason: "CONNECTREFUSED", isSerious: true))
        XCTAssertFalse("\(bootstrap)".contains("192.0.2.7"))
    }

    func testEventsThatMatterAreKnownAndOthersAreNot() {
        XCTAssertEqual(
            TorObservation(status: "STATUS_CLIENT NOTICE CIRCUIT_ESTABLISHED"), .circuits(isEstablished: true))
        XCTAssertEqual(
            TorObservation(status: "STATUS_CLIENT NOTICE CIRCUIT_NOT_ESTABLISHED REASON=CLOCK_JUMPED"),
            .circuits(isEstablished: false))
        XCTAssertEqual(
            TorObservation(status: #"STATUS_GENERAL WARN CLOCK_SKEW SKEW=-7200 SOURCE="CONSENSUS""#),
            .clockSkew(seconds: -7_200))
        XCTAssertEqual(TorObservation(status: "STATUS_GENERAL NOTICE CLOCK_JUMPED TIME=400"), .clockJumped)
        XCTAssertEqual(TorObservation(status: "NETWORK_LIVENESS DOWN"), .network(isUp: false))
        XCTAssertNil(TorObservation(status: "STATUS_CLIENT WARN DANGEROUS_SOCKS PROTOCOL=SOCKS5"))
        XCTAssertNil(TorObservation(status: "CIRC 4 BUILT UP"))
        XCTAssertNil(TorObservation(status: ""))
    }

    func testProgressOutsideItsRangeIsBroughtIntoIt() {
        XCTAssertEqual(TorBootstrap(progress: 900, tag: "", summary: "").progress, 100)
        XCTAssertEqual(TorBootstrap(progress: -1, tag: "", summary: "").progress, 0)
        XCTAssertEqual(
            TorBootstrap(progress: 1, tag: "", summary: String(repeating: "é", count: 500)).summary.utf8.count, 200)
    }
}
